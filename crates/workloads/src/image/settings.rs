//! How the container is started: on top of what a base says, or of nothing.

use std::collections::BTreeMap;

use crate::image::architecture::Architecture;
use crate::image::build::Image;
use crate::image::contents::{PROGRAM, USER};
use crate::image::oci::{CREATED, History, ImageConfig, Nothing, RootFs, Settings};
use crate::image::report::LayerKind;

/// All addresses: a container is asked from outside. ONNX Runtime tells its makers of its use unless told not to.
const ENVIRONMENT: [(&str, &str); 2] =
    [("BANCADA_HOST", "0.0.0.0"), ("ORT_DISABLE_TELEMETRY", "1")];
const PORT: &str = "8080/tcp";
/// Lets the platform choose the port by its variable.
const BIND_LABEL: &str = "com.amazonaws.sagemaker.capabilities.accept-bind-to-port";

pub(crate) fn empty(architecture: Architecture) -> ImageConfig {
    ImageConfig {
        created: None,
        architecture: architecture.word().to_owned(),
        os: "linux".to_owned(),
        variant: architecture.variant().map(str::to_owned),
        config: Settings {
            working_dir: "/".to_owned(),
            ..Settings::default()
        },
        rootfs: RootFs {
            kind: "layers".to_owned(),
            diff_ids: Vec::new(),
        },
        history: Vec::new(),
        others: BTreeMap::new(),
    }
}

pub(crate) fn extend(config: &mut ImageConfig, image: &Image) {
    config.created = Some(CREATED.to_owned());
    let settings = &mut config.config;
    settings.user = USER.to_string();
    settings.entrypoint = vec![PROGRAM.to_owned()];
    settings.cmd = vec!["serve".to_owned()];
    settings.exposed_ports.insert(PORT.to_owned(), Nothing {});
    for (name, value) in ENVIRONMENT {
        let own = format!("{name}=");
        settings.env.retain(|said| !said.starts_with(&own));
        settings.env.push(format!("{own}{value}"));
    }
    for (label, value) in [
        ("org.opencontainers.image.title", image.title.as_str()),
        ("org.opencontainers.image.version", image.version.as_str()),
        ("org.opencontainers.image.created", CREATED),
        (BIND_LABEL, "true"),
    ] {
        settings.labels.insert(label.to_owned(), value.to_owned());
    }
}

/// One more layer, on top.
pub(crate) fn add_layer(config: &mut ImageConfig, diff_id: &str, kind: LayerKind) {
    config.rootfs.diff_ids.push(diff_id.to_owned());
    config.history.push(History {
        created: Some(CREATED.to_owned()),
        created_by: Some(format!("bancada image build: {}", kind.word())),
        others: BTreeMap::new(),
    });
}
