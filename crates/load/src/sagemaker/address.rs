//! Where the services are: AWS's hosts by region, or what variables and the profile say instead.

use ureq::http::Uri;

use crate::sagemaker::credentials::Profile;
use crate::sagemaker::{AwsError, Variables};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Models and endpoints made, described and deleted.
    SageMaker,
    /// Endpoints asked.
    Runtime,
    CloudWatch,
}

/// What differs between the services.
pub(crate) struct ServiceNames {
    /// The name that signatures know it by.
    pub(crate) signing: &'static str,
    host_prefix: &'static str,
    /// Names another address.
    variable: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) target_prefix: &'static str,
}

impl Service {
    pub(crate) fn names(self) -> ServiceNames {
        match self {
            Service::SageMaker => ServiceNames {
                signing: "sagemaker",
                host_prefix: "api.sagemaker",
                variable: "AWS_ENDPOINT_URL_SAGEMAKER",
                content_type: "application/x-amz-json-1.1",
                target_prefix: "SageMaker",
            },
            Service::Runtime => ServiceNames {
                host_prefix: "runtime.sagemaker",
                variable: "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME",
                ..Service::SageMaker.names()
            },
            Service::CloudWatch => ServiceNames {
                signing: "monitoring",
                host_prefix: "monitoring",
                variable: "AWS_ENDPOINT_URL_CLOUDWATCH",
                content_type: "application/x-amz-json-1.0",
                target_prefix: "GraniteServiceVersion20100801",
            },
        }
    }
}

/// A service's address, taken apart as signatures need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Without a slash at its end.
    pub(crate) base: String,
    /// The `Host` header's value.
    pub(crate) host: String,
    /// What precedes the service's own paths; mostly nothing.
    pub(crate) path: String,
}

impl Address {
    pub(crate) fn of(
        service: Service,
        region: &str,
        variables: &Variables,
        profile: &Profile,
    ) -> Result<Address, AwsError> {
        let names = service.names();
        let usual = || format!("https://{}.{region}.{}", names.host_prefix, domain(region));
        let ignored = variables.is_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
        let instead = variables
            .get(names.variable)
            .or_else(|| variables.get("AWS_ENDPOINT_URL"))
            .or_else(|| profile.get("endpoint_url"))
            .filter(|_| !ignored);
        Address::parse(&instead.map_or_else(usual, str::to_owned))
    }

    fn parse(url: &str) -> Result<Address, AwsError> {
        let wrong = || {
            AwsError::other(format!(
                "`{url}` is not a valid address; write http://host:port or https://host"
            ))
        };
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let scheme = uri.scheme_str().unwrap_or_default();
        let authority = uri.authority().map(|authority| authority.as_str());
        let good = |authority: &&str| !authority.is_empty() && !authority.contains('@');
        let (Some(authority), true) = (authority.filter(good), ["http", "https"].contains(&scheme))
        else {
            return Err(wrong());
        };
        if uri.query().is_some() {
            return Err(wrong());
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        let host = host_header(scheme, authority);
        Ok(Address {
            base: format!("{scheme}://{host}{path}"),
            host,
            path,
        })
    }
}

/// A port that the scheme implies is not always sent, so it must not be signed.
fn host_header(scheme: &str, authority: &str) -> String {
    let implied = if scheme == "https" { ":443" } else { ":80" };
    let host = authority.strip_suffix(implied).unwrap_or(authority);
    host.to_ascii_lowercase()
}

/// The domain of a region's partition.
fn domain(region: &str) -> &'static str {
    const PARTITIONS: [(&str, &str); 6] = [
        ("cn-", "amazonaws.com.cn"),
        ("eusc-", "amazonaws.eu"),
        ("us-iso-", "c2s.ic.gov"),
        ("us-isob-", "sc2s.sgov.gov"),
        ("eu-isoe-", "cloud.adc-e.uk"),
        ("us-isof-", "csp.hci.ic.gov"),
    ];
    let partition = PARTITIONS
        .iter()
        .find(|(prefix, _)| region.starts_with(prefix));
    // The commercial regions and GovCloud (us-gov-) alike.
    partition.map_or("amazonaws.com", |(_, domain)| domain)
}

pub(crate) fn region(
    given: Option<&str>,
    variables: &Variables,
    profile: &Profile,
) -> Result<String, AwsError> {
    let region = given
        .or_else(|| variables.get("AWS_REGION"))
        .or_else(|| variables.get("AWS_DEFAULT_REGION"))
        .or_else(|| profile.get("region"))
        .ok_or_else(|| {
            AwsError::other(
                "the AWS region is not set; set AWS_REGION, or `region` in the AWS profile",
            )
        })?;
    // It becomes part of a host's name.
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match !region.is_empty() && region.bytes().all(plain) {
        true => Ok(region.to_owned()),
        false => Err(AwsError::other(format!(
            "`{region}` is not an AWS region such as us-east-1"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        Profile::read(&Variables::default()).unwrap()
    }

    fn base(service: Service, region: &str, variables: &Variables) -> String {
        let address = Address::of(service, region, variables, &profile());
        address.unwrap().base
    }

    #[test]
    fn hosts_follow_the_region() {
        let check = |service, region, expected: &str| {
            assert_eq!(base(service, region, &Variables::default()), expected);
        };
        check(
            Service::SageMaker,
            "us-east-1",
            "https://api.sagemaker.us-east-1.amazonaws.com",
        );
        check(
            Service::Runtime,
            "cn-north-1",
            "https://runtime.sagemaker.cn-north-1.amazonaws.com.cn",
        );
        check(
            Service::CloudWatch,
            "us-gov-west-1",
            "https://monitoring.us-gov-west-1.amazonaws.com",
        );
        check(
            Service::CloudWatch,
            "us-iso-east-1",
            "https://monitoring.us-iso-east-1.c2s.ic.gov",
        );
    }

    #[test]
    fn variables_name_other_places() {
        let both = Variables::from([
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:5000/"),
            ("AWS_ENDPOINT_URL_SAGEMAKER", "http://LOCALHOST:80/sm/"),
        ]);
        assert_eq!(base(Service::Runtime, "x", &both), "http://127.0.0.1:5000");
        let own = Address::of(Service::SageMaker, "x", &both, &profile()).unwrap();
        assert_eq!((own.host.as_str(), own.path.as_str()), ("localhost", "/sm"));
        let ignored = Variables::from([
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:5000"),
            ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
        ]);
        assert!(base(Service::Runtime, "x", &ignored).starts_with("https://runtime"));
        for url in [
            "127.0.0.1:5000",
            "ftp://a/",
            "http://a@b/",
            "http://a/?b",
            "http://",
        ] {
            let variables = Variables::from([("AWS_ENDPOINT_URL", url)]);
            let problem = Address::of(Service::Runtime, "x", &variables, &profile());
            let problem = problem.unwrap_err().to_string();
            assert!(problem.contains("is not a valid address"), "{problem}");
        }
    }

    #[test]
    fn regions_are_found() {
        let variables = Variables::from([("AWS_DEFAULT_REGION", "b-1"), ("AWS_REGION", "a-1")]);
        assert_eq!(region(None, &variables, &profile()).unwrap(), "a-1");
        assert_eq!(region(Some("c-1"), &variables, &profile()).unwrap(), "c-1");
        let none = region(None, &Variables::default(), &profile());
        assert!(none.unwrap_err().to_string().contains("region is not set"));
        let bad = region(Some("a.example.com/"), &variables, &profile());
        assert!(bad.unwrap_err().to_string().contains("not an AWS region"));
    }
}
