//! What kind of list a file is, by its beginning.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Azure,
    AwsOffer,
    AwsProducts,
    Gcp,
    SkyPilot,
    /// Bancada's own format.
    Catalog,
}

/// So much of a file tells what it is.
pub const HEAD_BYTES: usize = 1 << 16;

pub fn kind_of(head: &[u8]) -> Option<Kind> {
    let head = head.get(..HEAD_BYTES).unwrap_or(head);
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let has = |word: &str| text.contains(word);
    if text.starts_with(['{', '[', '"']) {
        let offer = has("\"offerCode\"") || has("\"formatVersion\"");
        return match () {
            () if has("\"armSkuName\"") || has("\"NextPageLink\"") => Some(Kind::Azure),
            () if has("\"skus\"") => Some(Kind::Gcp),
            () if has("\"PriceList\"") => Some(Kind::AwsProducts),
            () if offer => Some(Kind::AwsOffer),
            () if has("\"product\"") || has("\\\"product\\\"") => Some(Kind::AwsProducts),
            () => None,
        };
    }
    let first = text.lines().find(|line| !line.starts_with('#'))?;
    match () {
        () if first.starts_with("provider,machine,region,") => Some(Kind::Catalog),
        () if first.split(',').any(|cell| cell.trim() == "InstanceType") => Some(Kind::SkyPilot),
        () => None,
    }
}
