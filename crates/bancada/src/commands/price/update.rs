use std::path::{Path, PathBuf};

use fetch::prices::{Addresses, Fetching, Given, PriceList, Progress, Source};
use frameworks::Home;
use indicatif::ProgressBar;
use report::format;
use serde_json::{Value, json};

use crate::args::PriceUpdateArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::{Printer, shown};
use crate::table::Table;

const KEY_VARIABLE: &str = "GOOGLE_API_KEY";
/// Where most of the machines are, and their lists are fetched unless others are requested.
const AZURE_HOME: &str = "eastus";
const AWS_HOME: &str = "us-east-1";

/// One list that fails does not keep the others from being used; what came is kept at once.
pub(super) fn update(args: &PriceUpdateArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    let asked = Asked::new(args, printer)?;
    let mut update = Update {
        args,
        home: home.path(),
        printer,
        today: workbench::today(),
        failed: 0,
        told: Vec::new(),
    };
    for source in &asked.sources {
        update.fetch(source);
    }
    update.files(&asked.files);
    if args.json {
        printer.data(&format!("{:#}", Value::from(update.told.clone())));
    }
    update.tell_what_there_is();
    match update.failed {
        0 => Ok(Exit::Ok),
        _ => Ok(Exit::Trouble),
    }
}

/// The arguments, distinguished.
struct Asked {
    sources: Vec<Source>,
    files: Vec<PathBuf>,
}

impl Asked {
    fn new(args: &PriceUpdateArgs, printer: &Printer) -> Result<Self, Failure> {
        let mut asked = Asked {
            sources: Vec::new(),
            files: Vec::new(),
        };
        let key = google_key(args)?;
        let usual: [String; 3] = ["azure", "aws", "google"].map(str::to_owned);
        let words = match args.sources.as_slice() {
            [] => usual.as_slice(),
            given => given,
        };
        for word in words {
            match word.as_str() {
                "azure" => asked.azure(args),
                "aws" | "amazon" => asked.aws(args),
                "google" | "gcp" => match &key {
                    Some(key) => asked.sources.push(Source::Google {
                        key: key.clone(),
                        regions: args.region.clone(),
                    }),
                    None if args.sources.is_empty() => printer.talk(&format!(
                        "google is skipped: its list needs an API key, in {KEY_VARIABLE} or --key-file"
                    )),
                    None => {
                        let message = format!("google needs an API key, in {KEY_VARIABLE} or --key-file");
                        return Err(Failure::trouble(message));
                    }
                },
                url if url.starts_with("http://") || url.starts_with("https://") => {
                    asked.sources.push(Source::Url(url.to_owned()));
                }
                file => asked.files.push(PathBuf::from(file)),
            }
        }
        Ok(asked)
    }

    fn azure(&mut self, args: &PriceUpdateArgs) {
        let regions = regions(args, AZURE_HOME);
        self.sources
            .extend(regions.into_iter().map(|region| Source::Azure { region }));
    }

    fn aws(&mut self, args: &PriceUpdateArgs) {
        for region in regions(args, AWS_HOME) {
            for offer in ["AmazonEC2", "AmazonSageMaker"] {
                let region = region.clone();
                self.sources.push(Source::Aws { offer, region });
            }
        }
    }
}

fn regions(args: &PriceUpdateArgs, home: &str) -> Vec<String> {
    match args.region.is_empty() {
        true => vec![home.to_owned()],
        false => args.region.clone(),
    }
}

fn google_key(args: &PriceUpdateArgs) -> Result<Option<String>, Failure> {
    let key = match &args.key_file {
        Some(path) => diagnostics::read_text(path).map_err(|error| {
            Failure::trouble(format!(
                "cannot read the key in {}: {error}",
                path.display()
            ))
        })?,
        None => std::env::var(KEY_VARIABLE).unwrap_or_default(),
    };
    let key = key.trim();
    Ok((!key.is_empty()).then(|| key.to_owned()))
}

struct Update<'u> {
    args: &'u PriceUpdateArgs,
    home: &'u Path,
    printer: &'u Printer,
    today: String,
    failed: usize,
    /// What came of each list, for `--json`.
    told: Vec<Value>,
}

impl Update<'_> {
    fn fetch(&mut self, source: &Source) {
        let addresses = Addresses::from_variables(|name| std::env::var(name).ok());
        let bar = self.printer.talk_is_terminal.then(ProgressBar::new_spinner);
        let mut tell = |progress: Progress| {
            if let Some(bar) = &bar {
                bar.set_message(moving(source, progress));
                bar.tick();
            }
        };
        let mut fetching = Fetching {
            home: self.home,
            addresses: &addresses,
            limits: fetch::Limits::default(),
            today: &self.today,
            currency: self.args.currency,
            provider: self.args.provider.as_deref(),
            tell: &mut tell,
        };
        let list = fetching.fetch(source).map_err(|error| error.to_string());
        if let Some(bar) = &bar {
            bar.finish_and_clear();
        }
        self.came(&source.to_string(), list);
    }

    fn files(&mut self, files: &[PathBuf]) {
        let given = Given {
            provider: self.args.provider.as_deref(),
            date: self.args.date.as_deref(),
        };
        for read in fetch::prices::read_files(files, &given) {
            let names: Vec<String> = read.paths.iter().map(|p| p.display().to_string()).collect();
            let list = read.list.map_err(|error| error.to_string());
            self.came(&names.join(", "), list);
        }
    }

    fn came(&mut self, name: &str, list: Result<PriceList, String>) {
        let kept = list.and_then(|mut list| {
            list.leave_out_after(&self.today);
            let kept = fetch::prices::keep(self.home, list.catalog.clone());
            match kept {
                Ok(_) => Ok(list),
                Err(error) => Err(format!("the prices cannot be stored: {error}")),
            }
        });
        match kept {
            Ok(list) => {
                self.told.push(as_json(name, &list));
                if !self.args.json {
                    self.printer.data(&summary(name, &list));
                }
            }
            Err(why) => {
                self.failed += 1;
                self.told.push(json!({ "list": name, "error": why }));
                // The reader of a file names it itself.
                let why = match why.starts_with(name) {
                    true => why,
                    false => format!("{name}: {why}"),
                };
                self.printer.complain(&format!("error: {}", shown(&why)));
            }
        }
    }

    /// Whatever came, there are prices, and they have an age.
    fn tell_what_there_is(&self) {
        let loaded = fetch::prices::load(self.home);
        workbench::tell_left_out(&loaded, &self.printer.teller());
        let known = format::count(loaded.catalog.entries.len());
        let age = match &loaded.kept {
            Some(kept) => format!(
                "{} of them updated, the newest {} ({})",
                format::count(kept.entries),
                fetch::prices::age(&kept.newest, &self.today),
                kept.newest
            ),
            None => "none of them updated: these come with bancada".to_owned(),
        };
        self.printer
            .talk(&format!("{known} prices are known, {age}."));
    }
}

fn moving(source: &Source, progress: Progress) -> String {
    let received = format::bytes(progress.received_bytes as f64);
    let of = progress.total_bytes.map_or(String::new(), |total| {
        format!(" of {}", format::bytes(total as f64))
    });
    match source {
        Source::Aws { .. } | Source::Url(_) => format!("{source}: {received}{of}"),
        _ => format!("{source}: page {}, {received}{of}", progress.page),
    }
}

/// What came, then every row that was left out, by its reason.
fn summary(name: &str, list: &PriceList) -> String {
    let count = |number: u64| format::count(usize::try_from(number).unwrap_or(usize::MAX));
    let (kept, left_out) = (list.kept(), list.left_out.total());
    let repeated = match list.repeated {
        0 => String::new(),
        repeated => format!(", {} duplicates", count(repeated)),
    };
    let head = format!(
        "{name}: {} rows read; {} prices: {} kept{repeated}, {} skipped\n",
        count(list.rows),
        count(kept + list.repeated + left_out),
        count(kept),
        count(left_out),
    );
    if list.left_out.is_empty() {
        return head;
    }
    let mut table = Table::default()
        .number("skipped")
        .text("because")
        .text("such as");
    for (reason, left_out) in list.left_out.iter() {
        let mark = if reason.is_trouble() { "! " } else { "" };
        let examples = match reason.is_trouble() {
            true => left_out.examples.join("; "),
            false => left_out.examples.first().cloned().unwrap_or_default(),
        };
        table.row(vec![
            format::count(left_out.count as usize),
            format!("{mark}{reason}"),
            examples,
        ]);
    }
    format!("{head}{}", table.rendered())
}

fn as_json(name: &str, list: &PriceList) -> Value {
    let left_out = list.left_out.iter().map(|(reason, left_out)| {
        json!({
            "because": reason,
            "rows": left_out.count,
            "is_trouble": reason.is_trouble(),
            "examples": left_out.examples,
        })
    });
    json!({
        "list": name,
        "rows": list.rows,
        "machine_prices": list.catalog.entries.len(),
        "prices_kept": list.kept(),
        "prices_repeated": list.repeated,
        "prices_left_out": list.left_out.total(),
        "left_out": left_out.collect::<Vec<Value>>(),
    })
}
