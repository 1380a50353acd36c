//! Where requests are answered, of an environment for serving.

use std::collections::BTreeMap;

use diagnostics::{Diagnostic, Located, Problems, Table};
use model::Service;
use model::serving::{DEFAULT_IDLE_SECONDS, RealTime, SageMaker, Serverless, UrlService};

use super::take;
use crate::values;

/// Of workers on demand: sizes that the service has (study B of docs/studies.md).
const MEMORY_STEP_MB: i64 = 1024;
const MOST_MEMORY_MB: i64 = 6144;
const DEFAULT_CONCURRENCY: u32 = 5;
/// CloudWatch shows a minute's figures some minutes later.
const DEFAULT_FIGURES_SECONDS: f64 = 300.0;

pub(super) fn read(table: &Table<'_>) -> Option<Located<Service>> {
    let sagemaker = read_sagemaker(table);
    let mut found: Vec<Located<Service>> = Vec::new();
    if let Some(serverless) = table.table("serverless") {
        let value = read_serverless(&serverless, sagemaker.clone());
        found.extend(value.map(|value| Located {
            value: Service::Serverless(value),
            span: take::key_span(table, "serverless"),
        }));
        serverless.finish();
    }
    let headers = read_headers(table);
    if let Some(url) = table.text("url") {
        check_url(&url, table.problems);
        found.push(Located::new(
            Service::Url(UrlService {
                url: url.value,
                headers,
            }),
            url.span,
        ));
    } else if let Some(span) = table.key_span("headers") {
        let alone = Diagnostic::at(span, "`headers` needs a `url`");
        table.complain(alone.label("add url = \"https://…/invocations\", or remove them"));
    }
    if let Some(instance) = table.text("instance") {
        match sagemaker {
            Some(sagemaker) => found.push(Located::new(
                Service::RealTime(RealTime {
                    instance: instance.value,
                    sagemaker,
                }),
                instance.span,
            )),
            None => table.complain(
                instance
                    .wrong("`instance` needs `sagemaker`")
                    .label("add sagemaker = { region = \"…\", image = \"…\", role = \"…\" }"),
            ),
        }
    } else if sagemaker.is_some() && found.is_empty() {
        let span = take::key_span(table, "sagemaker");
        table.complain(
            Diagnostic::at(span, "`sagemaker` needs `serverless` or `instance`")
                .label("such as instance = \"ml.m5.xlarge\""),
        );
    }
    if let [_, second, ..] = found.as_slice() {
        let message = "an environment can have only one of serverless, url and instance";
        table.complain(second.wrong(message));
    }
    found.into_iter().next()
}

fn read_serverless(table: &Table<'_>, sagemaker: Option<SageMaker>) -> Option<Serverless> {
    let memory = match table.key_span("memory") {
        Some(_) => take::whole(table, "memory", 1..=i64::from(u32::MAX)),
        None => table.required("memory").and(None),
    };
    if let Some(memory) = memory
        .as_ref()
        .filter(|memory| nearest_size_mb(memory.value) != memory.value)
    {
        let message = format!(
            "`memory` must be a multiple of {MEMORY_STEP_MB}, from {MEMORY_STEP_MB} to {MOST_MEMORY_MB} (MB)"
        );
        let nearest = format!("the nearest is {}", nearest_size_mb(memory.value));
        table.complain(memory.wrong(message).label(nearest));
    }
    let idle = take::parsed(table, "idle", values::duration_seconds);
    let concurrency = take::whole(table, "concurrency", 1..=200);
    Some(Serverless {
        memory_mb: u32::try_from(memory?.value).ok()?,
        idle_seconds: idle.map_or(DEFAULT_IDLE_SECONDS, |idle| idle.value),
        concurrency: concurrency
            .and_then(|workers| u32::try_from(workers.value).ok())
            .unwrap_or(DEFAULT_CONCURRENCY),
        sagemaker,
    })
}

/// Of the sizes that the service has.
fn nearest_size_mb(memory_mb: i64) -> i64 {
    let steps = (memory_mb + MEMORY_STEP_MB / 2) / MEMORY_STEP_MB;
    (steps * MEMORY_STEP_MB).clamp(MEMORY_STEP_MB, MOST_MEMORY_MB)
}

fn read_sagemaker(parent: &Table<'_>) -> Option<SageMaker> {
    let table = parent.table("sagemaker")?;
    let required = |key: &str| Some(table.required_text(key)?.value);
    let (region, image, role) = (required("region"), required("image"), required("role"));
    let model_data = table.text("model_data").map(|text| text.value);
    let figures = take::parsed(&table, "figures", values::duration_seconds);
    table.finish();
    Some(SageMaker {
        region: region?,
        image: image?,
        role: role?,
        model_data,
        figures_seconds: figures.map_or(DEFAULT_FIGURES_SECONDS, |figures| figures.value),
    })
}

fn read_headers(table: &Table<'_>) -> BTreeMap<String, String> {
    let Some(headers) = table.table("headers") else {
        return BTreeMap::new();
    };
    let mut read = BTreeMap::new();
    for (name, value) in headers.entries() {
        if let Some(text) = value.text(name.value) {
            check_header(name.value, &text, table.problems);
            read.insert(name.value.to_owned(), text.value);
        }
    }
    read
}

/// Headers that hold nothing but secrets.
const SECRET_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
];

/// A study is copied into its results and shared: a secret is named there, not written.
fn check_header(name: &str, value: &Located<String>, problems: &Problems) {
    let is_secret = SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str());
    let names_variable = value.value.contains('{') && value.value.contains('}');
    if is_secret && !names_variable {
        let message = format!("the header `{name}` contains a secret");
        problems.push(
            value
                .wrong(message)
                .label("write \"{TOKEN}\" to read it from the environment variable TOKEN"),
        );
    }
}

fn check_url(url: &Located<String>, problems: &Problems) {
    let has_scheme = ["http://", "https://"]
        .iter()
        .any(|scheme| url.value.starts_with(scheme));
    if !has_scheme {
        let wrong = url.wrong("`url` must begin with http:// or https://");
        problems.push(wrong.label("such as \"https://example.org/invocations\""));
    }
}
