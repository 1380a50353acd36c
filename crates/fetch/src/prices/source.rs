//! The lists that can be fetched, and where they are.

use std::fmt;

/// Where the lists are; a mirror takes the place of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    pub azure: String,
    pub aws: String,
    pub google: String,
}

impl Addresses {
    /// `BANCADA_AZURE_PRICES`, `BANCADA_AWS_PRICES` and `BANCADA_GOOGLE_PRICES` name mirrors.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let address = |name: &str, usual: &str| {
            let set = variable(name).filter(|value| !value.is_empty());
            let address = set.unwrap_or_else(|| usual.to_owned());
            address.trim_end_matches('/').to_owned()
        };
        Addresses {
            azure: address(
                "BANCADA_AZURE_PRICES",
                "https://prices.azure.com/api/retail/prices",
            ),
            aws: address(
                "BANCADA_AWS_PRICES",
                "https://pricing.us-east-1.amazonaws.com",
            ),
            google: address(
                "BANCADA_GOOGLE_PRICES",
                "https://cloudbilling.googleapis.com",
            ),
        }
    }
}

/// One list that can be fetched.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    Azure {
        region: String,
    },
    /// `AmazonEC2` or `AmazonSageMaker`.
    Aws {
        offer: &'static str,
        region: String,
    },
    /// All regions come in one; only these are kept, or all.
    Google {
        key: String,
        regions: Vec<String>,
    },
    /// A `vms.csv` or any other file the parsers know.
    Url(String),
}

/// As a person would call it. The key is not part of it.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Azure { region } => write!(f, "azure {region}"),
            Source::Aws { offer, region } => write!(f, "aws {offer} {region}"),
            Source::Google { .. } => f.write_str("google"),
            Source::Url(url) => f.write_str(url),
        }
    }
}

/// Keys are not for logs.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
