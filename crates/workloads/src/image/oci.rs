//! Documents of the OCI image specification 1.1, as far as they are written or read here.
//!
//! Structs rather than free JSON: their order, and with it the digest, does not depend on how a library keeps maps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
pub(crate) const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
pub(crate) const LAYER_GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
pub(crate) const LAYER_ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";
pub(crate) const LAYOUT: &str = r#"{"imageLayoutVersion":"1.0.0"}"#;
/// `layer::TIME` as configurations write it.
pub(crate) const CREATED: &str = "1970-01-01T00:00:00Z";

/// Docker's names of the same documents, in bases that were saved by it.
pub(crate) const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
pub(crate) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_LAYER: &str = "application/vnd.docker.image.rootfs.diff.tar";
const DOCKER_LAYER_GZIP: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub media_type: String,
    pub digest: String,
    pub size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    pub(crate) fn new(media_type: &str, digest: &str, size: u64) -> Descriptor {
        Descriptor {
            media_type: media_type.to_owned(),
            digest: digest.to_owned(),
            size,
            platform: None,
            annotations: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Platform {
    pub architecture: String,
    pub os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Index {
    pub schema_version: u32,
    #[serde(default)]
    pub media_type: Option<String>,
    pub manifests: Vec<Descriptor>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub schema_version: u32,
    #[serde(default)]
    pub media_type: Option<String>,
    pub config: Descriptor,
    pub layers: Vec<Descriptor>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ImageConfig {
    #[serde(default)]
    pub created: Option<String>,
    pub architecture: String,
    pub os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    #[serde(default)]
    pub config: Settings,
    pub rootfs: RootFs,
    #[serde(default)]
    pub history: Vec<History>,
    /// A base's, kept as they are.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// How the container is started.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct Settings {
    pub user: String,
    #[serde(deserialize_with = "or_empty")]
    pub exposed_ports: BTreeMap<String, Nothing>,
    #[serde(deserialize_with = "or_empty")]
    pub env: Vec<String>,
    #[serde(deserialize_with = "or_empty")]
    pub entrypoint: Vec<String>,
    #[serde(deserialize_with = "or_empty")]
    pub cmd: Vec<String>,
    pub working_dir: String,
    #[serde(deserialize_with = "or_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Nothing {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RootFs {
    #[serde(rename = "type")]
    pub kind: String,
    pub diff_ids: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct History {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// The same layer by OCI's name; `None` for kinds that are not carried in the layout.
pub(crate) fn layer_type(media_type: &str) -> Option<&'static str> {
    match media_type {
        LAYER | DOCKER_LAYER => Some(LAYER),
        LAYER_GZIP | DOCKER_LAYER_GZIP => Some(LAYER_GZIP),
        LAYER_ZSTD => Some(LAYER_ZSTD),
        _ => None,
    }
}

/// Docker writes `null` where there is nothing.
fn or_empty<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}
