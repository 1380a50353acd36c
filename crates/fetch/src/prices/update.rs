//! Price lists fetched from where the providers publish them: paged, resumed, bounded.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::path::Path;

use crate::{Download, Header, Limits};
use cost::{CatalogEntry, Reason};
use model::Currency;
use serde::Deserialize;

use crate::FetchError;
use crate::prices::collect::from_json;
use crate::prices::file::{Given, read_files};
use crate::prices::source::{Addresses, Source};
use crate::prices::work::{Work, encoded};
use crate::prices::{About, PriceList, aws_offer, azure, gcp};

/// An answer of one page; the largest seen have some megabytes.
const LARGEST_PAGE_BYTES: u64 = 256 << 20;
/// EC2's offer of one region has some hundred megabytes.
const LARGEST_OFFER_BYTES: u64 = 4 << 30;
/// More are not a list but a circle.
const MOST_PAGES: u32 = 2000;
/// A page that came whole and cannot be read is asked for so often.
const PAGE_TRIES: u32 = 3;
/// Compute Engine's name in Google's billing catalog.
const COMPUTE_ENGINE: &str = "6F81-5844-456A";

/// What happens meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Of a list in pages; 1 for a file.
    pub page: u32,
    pub received_bytes: u64,
    pub total_bytes: Option<u64>,
}

pub struct Fetching<'f> {
    /// Bancada's cache folder; what is begun lies below it and is gone on with.
    pub home: &'f Path,
    pub addresses: &'f Addresses,
    pub limits: Limits,
    /// The date of prices whose list has none.
    pub today: &'f str,
    /// What to ask for where a provider converts.
    pub currency: Currency,
    /// Of a `vms.csv`.
    pub provider: Option<&'f str>,
    pub tell: &'f mut dyn FnMut(Progress),
}

impl Fetching<'_> {
    pub fn fetch(&mut self, source: &Source) -> Result<PriceList, FetchError> {
        let work = Work::open(self.home, source, self.today, self.currency)?;
        let list = match source {
            Source::Azure { region } => self.azure(region, &work)?,
            Source::Aws { offer, region } => self.aws(offer, region, &work)?,
            Source::Google { key, regions } => self.google(key, regions, &work)?,
            Source::Url(url) => self.url(url, &work)?,
        };
        work.done();
        Ok(list)
    }

    fn azure(&mut self, region: &str, work: &Work) -> Result<PriceList, FetchError> {
        let mut reader = azure::Reader::new(self.about(azure::SOURCE));
        let filter = format!(
            "serviceName eq 'Virtual Machines' and armRegionName eq '{region}' and priceType eq 'Consumption'"
        );
        let first = format!(
            "api-version=2023-01-01-preview&currencyCode={}&$filter={}",
            encoded(&format!("'{}'", self.currency)),
            encoded(&filter)
        );
        let base = self.addresses.azure.clone();
        let read = &mut |label: &str, text: &str| {
            let next = reader.page(label, text)?;
            // The link names the provider's own host; a mirror has the same pages elsewhere.
            let query = |link: String| link.split_once('?').map(|(_, query)| query.to_owned());
            Ok(next.and_then(query))
        };
        let pages = Pages {
            label: format!("azure {region}"),
            address: &|query: &str| format!("{base}?{query}"),
            headers: &[],
        };
        self.pages(&pages, first, work, read)?;
        Ok(reader.finish())
    }

    fn google(
        &mut self,
        key: &str,
        regions: &[String],
        work: &Work,
    ) -> Result<PriceList, FetchError> {
        let mut reader = gcp::Reader::new(self.about(gcp::SOURCE));
        let (base, currency) = (self.addresses.google.clone(), self.currency);
        let address = |token: &str| {
            let token = match token {
                "" => String::new(),
                token => format!("&pageToken={}", encoded(token)),
            };
            format!(
                "{base}/v1/services/{COMPUTE_ENGINE}/skus?currencyCode={currency}&pageSize=5000{token}"
            )
        };
        let pages = Pages {
            label: "google".to_owned(),
            address: &address,
            headers: &[Header {
                name: "X-Goog-Api-Key",
                value: key,
            }],
        };
        let read = &mut |label: &str, text: &str| reader.page(label, text);
        self.pages(&pages, String::new(), work, read)?;
        let mut list = reader.finish();
        if !regions.is_empty() {
            keep_regions(&mut list, regions);
        }
        Ok(list)
    }

    /// Page after page. Each is kept as a file until all are there, so that what was interrupted goes on.
    fn pages(
        &mut self,
        pages: &Pages<'_>,
        first: String,
        work: &Work,
        read: &mut ReadPage<'_>,
    ) -> Result<(), FetchError> {
        let mut next = first;
        let mut seen = HashSet::new();
        for page in 1..=MOST_PAGES {
            let url = (pages.address)(&next);
            let label = format!("{}, page {page}", pages.label);
            let file = work.folder.join(format!("page-{page:04}.json"));
            let mut tries = 0;
            let following = loop {
                self.download(&url, &file, pages.headers, (page, LARGEST_PAGE_BYTES))?;
                let text = fs::read_to_string(&file).map_err(FetchError::io(&file))?;
                tries += 1;
                match read(&label, &text) {
                    Ok(following) => break following,
                    Err(error) => {
                        // Cut off on the way without anyone noticing, or a proxy's own page.
                        fs::remove_file(&file).map_err(FetchError::io(&file))?;
                        if tries == PAGE_TRIES {
                            return Err(error);
                        }
                    }
                }
            };
            match following {
                Some(following) => next = following,
                None => return Ok(()),
            }
            if !seen.insert(next.clone()) {
                return Err(endless(page));
            }
        }
        Err(endless(MOST_PAGES))
    }

    fn aws(
        &mut self,
        offer: &'static str,
        region: &str,
        work: &Work,
    ) -> Result<PriceList, FetchError> {
        let base = self.addresses.aws.clone();
        let index = work.folder.join("region_index.json");
        let url = format!("{base}/offers/v1.0/aws/{offer}/current/region_index.json");
        self.download(&url, &index, &[], (1, LARGEST_PAGE_BYTES))?;
        let text = fs::read_to_string(&index).map_err(FetchError::io(&index))?;
        let expected = "a region index of the AWS Price List";
        let RegionIndex { regions } =
            from_json(&url, expected, &text).inspect_err(|_| _ = fs::remove_file(&index))?;
        let Some(found) = regions.get(region) else {
            let known: Vec<String> = regions.into_keys().collect();
            return Err(FetchError::new(format!(
                "has no region `{region}`; its regions are {}",
                known.join(", ")
            )));
        };
        // The address has the version of the list in it, so a part on the disk is of the same.
        let path = &found.current_version_url;
        let url = format!("{base}{path}");
        let file = work.folder.join(format!("{}.json", encoded(path)));
        self.download(&url, &file, &[], (1, LARGEST_OFFER_BYTES))?;
        let opened = File::open(&file).map_err(FetchError::io(&file))?;
        let source = format!("{}, {offer}", aws_offer::SOURCE);
        let about = self.about(&source);
        // A bad one will not become better by being kept.
        aws_offer::read(&url, opened, &about).inspect_err(|_| _ = fs::remove_file(&file))
    }

    fn url(&mut self, url: &str, work: &Work) -> Result<PriceList, FetchError> {
        let name = url.split(['?', '#']).next().unwrap_or(url);
        let name = name.rsplit('/').next().filter(|name| !name.is_empty());
        let file = work.folder.join(encoded(name.unwrap_or("list")));
        // What is at the address may be another today.
        _ = fs::remove_file(&file);
        self.download(url, &file, &[], (1, LARGEST_PAGE_BYTES))?;
        let given = Given {
            provider: self.provider,
            date: Some(self.today),
        };
        let mut read = read_files(&[file], &given);
        read.pop()
            .map_or_else(|| Ok(PriceList::default()), |read| read.list)
    }

    fn download(
        &mut self,
        url: &str,
        to: &Path,
        headers: &[Header<'_>],
        (page, most_bytes): (u32, u64),
    ) -> Result<(), FetchError> {
        let download = Download {
            url,
            to,
            most_bytes,
            limits: self.limits,
            headers,
        };
        let tell = &mut self.tell;
        let told = &mut |progress: crate::Progress| {
            tell(Progress {
                page,
                received_bytes: progress.received_bytes,
                total_bytes: progress.total_bytes,
            });
        };
        download.run(told).map_err(FetchError::new)
    }

    fn about(&self, source: &str) -> About {
        About {
            source: source.to_owned(),
            date: self.today.to_owned(),
        }
    }
}

/// Reads a page, called so, and says which is the next.
type ReadPage<'r> = dyn FnMut(&str, &str) -> Result<Option<String>, FetchError> + 'r;

/// A list in pages: what it is called, and where the page of a token lies.
struct Pages<'p> {
    label: String,
    address: &'p dyn Fn(&str) -> String,
    headers: &'p [Header<'p>],
}

fn endless(pages: u32) -> FetchError {
    FetchError::new(format!(
        "{pages} pages without an end: the list is circular"
    ))
}

#[derive(Deserialize)]
struct RegionIndex {
    regions: BTreeMap<String, RegionOffer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegionOffer {
    current_version_url: String,
}

fn keep_regions(list: &mut PriceList, regions: &[String]) {
    let is_other = |entry: &mut CatalogEntry| !regions.contains(&entry.region);
    for entry in list.catalog.entries.extract_if(.., is_other) {
        list.left_out.count(Reason::OtherRegion, || entry.name());
    }
}
