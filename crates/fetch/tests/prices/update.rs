//! Lists as they come over the network.

use std::path::Path;

use fetch::FetchError;
use fetch::prices::{Addresses, Fetching, PriceList, Source, keep, load};
use model::Currency;

use crate::server::{Asked, LIMITS, Reply, Server};
use crate::support::shown;
use crate::{aws, azure, gcp};

fn fetch(home: &Path, url: &str, source: &Source) -> Result<PriceList, FetchError> {
    let addresses = Addresses::from_variables(|name| match name {
        "BANCADA_AZURE_PRICES" => Some(format!("{url}/api/retail/prices/")),
        _ => Some(url.to_owned()),
    });
    let mut fetching = Fetching {
        home,
        addresses: &addresses,
        limits: LIMITS,
        today: "2026-11-16",
        currency: Currency::USD,
        provider: None,
        tell: &mut |_| {},
    };
    fetching.fetch(source)
}

fn eastus() -> Source {
    Source::Azure {
        region: "eastus".to_owned(),
    }
}

/// Two pages; the link of the first names the provider's own host, as real ones do.
fn azure_pages(asked: &Asked) -> String {
    match asked.path.contains("skip") {
        false => azure::page(
            &[azure::item("Standard_A", "0.1", &[])],
            Some("https://prices.azure.com:443/api/retail/prices?currencyCode='USD'&$skip=1000"),
        ),
        true => azure::page(&[azure::item("Standard_B", "0.2", &[])], None),
    }
}

const BOTH: [&str; 2] = [
    "azure/Standard_A@eastus 0.1 USD",
    "azure/Standard_B@eastus 0.2 USD",
];

#[test]
fn pages_follow_each_other_on_the_mirror() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|asked| Reply::whole(azure_pages(asked)));
    let list = fetch(home.path(), &server.url, &eastus()).unwrap();
    assert_eq!(shown(&list.catalog), BOTH);
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert!(
        asked[0].path.starts_with("/api/retail/prices?api-version="),
        "{asked:?}"
    );
    assert!(
        asked[0].path.contains("currencyCode=%27USD%27"),
        "{asked:?}"
    );
    assert!(
        asked[0].path.contains("armRegionName%20eq%20%27eastus%27"),
        "{asked:?}"
    );
    assert_eq!(
        asked[1].path,
        "/api/retail/prices?currencyCode='USD'&$skip=1000"
    );
    let quote = list.catalog.entries[0].on_demand.clone().unwrap();
    assert_eq!(
        (quote.source.as_str(), quote.date.as_str()),
        ("Azure Retail Prices API", "2026-11-16")
    );
    // Nothing is left of the way.
    assert_eq!(
        std::fs::read_dir(home.path().join("prices/work"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn what_broke_off_goes_on_with_the_page_it_had_come_to() {
    let home = tempfile::tempdir().unwrap();
    let broken = Server::start(|asked| match asked.path.contains("skip") {
        false => Reply::whole(azure_pages(asked)),
        true => Reply::status(500),
    });
    let error = fetch(home.path(), &broken.url, &eastus()).unwrap_err();
    assert!(error.to_string().contains("500"), "{error}");
    let server = Server::start(|asked| Reply::whole(azure_pages(asked)));
    let list = fetch(home.path(), &server.url, &eastus()).unwrap();
    assert_eq!(shown(&list.catalog), BOTH);
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_server_that_wants_a_pause_gets_it() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|asked| match asked.number {
        0 => Reply::status(429).header("Retry-After: 0"),
        _ => Reply::whole(azure_pages(asked)),
    });
    let list = fetch(home.path(), &server.url, &eastus()).unwrap();
    assert_eq!(shown(&list.catalog), BOTH);
    // But not a whole day.
    let busy = Server::start(|_| Reply::status(429).header("Retry-After: 86400"));
    let error = fetch(home.path(), &busy.url, &eastus()).unwrap_err();
    assert!(error.to_string().contains("retry in 86400 s"), "{error}");
    assert_eq!(busy.asked().len(), 1);
}

#[test]
fn an_answer_that_is_cut_is_asked_for_again() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|asked| {
        let page = azure_pages(asked);
        match asked.number {
            // A connection that ends early, then an answer that is whole by its length alone.
            0 => Reply::whole(&page).cut(100),
            1 => Reply::whole(&page[..page.len() / 2]),
            _ => Reply::whole(&page),
        }
    });
    let list = fetch(home.path(), &server.url, &eastus()).unwrap();
    assert_eq!(shown(&list.catalog), BOTH);
    let other = Server::start(|_| Reply::whole("<html>sign in first</html>"));
    let error = fetch(home.path(), &other.url, &eastus()).unwrap_err();
    assert!(
        error.to_string().contains("not a response of the Azure"),
        "{error}"
    );
}

#[test]
fn pages_in_a_circle_end() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Reply::whole(azure::page(&[], Some("https://h/p?again"))));
    let error = fetch(home.path(), &server.url, &eastus()).unwrap_err();
    assert!(error.to_string().contains("without an end"), "{error}");
}

fn virginia() -> Source {
    Source::Aws {
        offer: "AmazonEC2",
        region: "us-east-1".to_owned(),
    }
}

const INDEX: &str = "{\"formatVersion\":\"v1.0\",\"publicationDate\":\"2026-11-01T00:00:00Z\",\"regions\":{\
    \"us-east-1\":{\"regionCode\":\"us-east-1\",\"currentVersionUrl\":\"/offers/v1.0/aws/AmazonEC2/20261101/us-east-1/index.json\"},\
    \"sa-east-1\":{\"regionCode\":\"sa-east-1\",\"currentVersionUrl\":\"/offers/v1.0/aws/AmazonEC2/20261101/sa-east-1/index.json\"}}}";

fn ec2() -> String {
    aws::offer(
        &[aws::product("A", "m5.xlarge", &[])],
        &[("A", "\"USD\":\"0.192\"".to_owned())],
    )
}

#[test]
fn an_offer_file_is_found_and_gone_on_with() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|asked| match asked.path.as_str() {
        "/offers/v1.0/aws/AmazonEC2/current/region_index.json" => Reply::whole(INDEX),
        "/offers/v1.0/aws/AmazonEC2/20261101/us-east-1/index.json" => match asked.begin {
            None => Reply::whole(ec2()).cut(200),
            Some(_) => Reply::ranged(asked, ec2()),
        },
        _ => Reply::status(404),
    });
    let list = fetch(home.path(), &server.url, &virginia()).unwrap();
    assert_eq!(shown(&list.catalog), ["aws/m5.xlarge@us-east-1 0.192 USD"]);
    let begins: Vec<Option<usize>> = server.asked().iter().map(|asked| asked.begin).collect();
    assert_eq!(begins, [None, None, Some(200)]);
}

/// The program may end meanwhile: the next one goes on where this one was.
#[test]
fn an_offer_file_is_gone_on_with_by_the_next_program() {
    let home = tempfile::tempdir().unwrap();
    let serve = |fails: bool| {
        move |asked: &Asked| match (asked.path.contains("region_index"), asked.begin) {
            (true, _) => Reply::whole(INDEX),
            (false, None) => Reply::whole(ec2()).cut(300),
            (false, Some(_)) if fails => Reply::status(503),
            (false, Some(_)) => Reply::ranged(asked, ec2()),
        }
    };
    let first = Server::start(serve(true));
    assert!(fetch(home.path(), &first.url, &virginia()).is_err());
    let second = Server::start(serve(false));
    let list = fetch(home.path(), &second.url, &virginia()).unwrap();
    assert_eq!(list.catalog.entries.len(), 1);
    let begins: Vec<Option<usize>> = second.asked().iter().map(|asked| asked.begin).collect();
    assert_eq!(begins, [None, Some(300)]);
}

#[test]
fn a_region_that_is_none_is_said_with_those_there_are() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Reply::whole(INDEX));
    let mars = Source::Aws {
        offer: "AmazonEC2",
        region: "mars-1".to_owned(),
    };
    let error = fetch(home.path(), &server.url, &mars).unwrap_err();
    assert_eq!(
        error.to_string(),
        "has no region `mars-1`; its regions are sa-east-1, us-east-1"
    );
}

#[test]
fn googles_key_is_in_a_header_and_in_no_message() {
    let home = tempfile::tempdir().unwrap();
    let google = |regions: &[&str]| Source::Google {
        key: "a-secret".to_owned(),
        regions: regions.iter().map(|r| (*r).to_owned()).collect(),
    };
    let both = "\"us-central1\",\"us-east1\"";
    let server = Server::start(move |asked| {
        let core = gcp::Sku {
            regions: both,
            ..gcp::sku("E2 Instance Core running in Americas", 20_000_000)
        };
        let ram = gcp::Sku {
            regions: both,
            ..gcp::sku("E2 Instance Ram running in Americas", 3_000_000)
        };
        match asked.path.contains("pageToken=m%2Fore") {
            false => Reply::whole(gcp::page(&[core], "m/ore")),
            true => Reply::whole(gcp::page(&[ram], "")),
        }
    });
    let list = fetch(home.path(), &server.url, &google(&["us-east1"])).unwrap();
    let lines = shown(&list.catalog);
    assert!(
        lines.contains(&"gcp/e2-standard-4@us-east1 0.128 USD".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.iter().all(|line| line.contains("@us-east1")),
        "{lines:?}"
    );
    for asked in server.asked() {
        assert_eq!(asked.key.as_deref(), Some("a-secret"));
        assert!(!asked.path.contains("secret"), "{asked:?}");
    }
    let refusing = Server::start(|_| Reply::status(403));
    let source = google(&[]);
    let error = fetch(home.path(), &refusing.url, &source).unwrap_err();
    assert!(error.to_string().contains("403"), "{error}");
    assert!(!format!("{error} {error:?} {source} {source:?}").contains("secret"));
}

#[test]
fn the_key_is_not_carried_to_another_host() {
    let home = tempfile::tempdir().unwrap();
    let other = Server::start(|_| Reply::whole(gcp::page(&[], "")));
    let location = format!("{}/elsewhere", other.url);
    let server = Server::start(move |_| Reply::redirect(&location));
    let source = Source::Google {
        key: "a-secret".to_owned(),
        regions: Vec::new(),
    };
    let error = fetch(home.path(), &server.url, &source).unwrap_err();
    assert!(error.to_string().contains("302"), "{error}");
    assert_eq!(other.asked(), []);
}

#[test]
fn a_list_at_any_address_is_read() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|_| {
        Reply::whole("InstanceType,Price,SpotPrice,Region\nm5.large,0.096,0.04,us-east-1\n")
    });
    let source = Source::Url(format!("{}/catalogs/aws/vms.csv?raw=1", server.url));
    let list = fetch(home.path(), &server.url, &source).unwrap();
    assert_eq!(
        shown(&list.catalog),
        ["aws/m5.large@us-east-1 0.096 USD, spot 0.04"]
    );
}

#[test]
fn a_host_that_cannot_be_reached_leaves_what_there_is() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(|asked| Reply::whole(azure_pages(asked)));
    let list = fetch(home.path(), &server.url, &eastus()).unwrap();
    keep(home.path(), list.catalog).unwrap();
    // A port that nobody listens at.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let error = fetch(home.path(), &url, &eastus()).unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    let loaded = load(home.path());
    let kept = loaded.kept.unwrap();
    assert_eq!((kept.entries, kept.newest.as_str()), (2, "2026-11-16"));
    assert!(loaded.catalog.find("azure/Standard_B@eastus").is_ok());
    assert!(loaded.catalog.find("azure/Standard_F4s_v2@eastus").is_ok());
}
