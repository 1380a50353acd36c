use proptest::prelude::*;

use super::*;

const ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

fn credentials(token: Option<&str>) -> Credentials {
    Credentials {
        access_key_id: ID.to_owned(),
        secret_access_key: Secret::new(SECRET),
        session_token: token.map(Secret::new),
        expires: None,
        source: "a test",
    }
}

fn scope<'a>(region: &'a str, service: &'a str) -> Scope<'a> {
    Scope {
        now: "2015-08-30T12:36:00Z".parse().unwrap(),
        region,
        service,
    }
}

/// The signature at the end of the `authorization` header.
fn signature_of(headers: &[Header]) -> String {
    let value = &headers.last().unwrap().value;
    value.rsplit('=').next().unwrap().to_owned()
}

/// AWS's documented example: IAM's ListUsers.
#[test]
fn the_documented_example() {
    let headers = [
        Header::new(
            "Content-Type",
            "application/x-www-form-urlencoded; charset=utf-8",
        ),
        Header::new("Host", "iam.amazonaws.com"),
        Header::new("X-Amz-Date", "20150830T123600Z"),
    ];
    let request = Unsigned {
        method: "GET",
        path: "/",
        query: &[("Version", "2010-05-08"), ("Action", "ListUsers")],
        headers: &headers,
        body: b"",
    };
    let scope = scope("us-east-1", "iam");
    let canonical = canonical_request(&request);
    assert_eq!(
        Digest::of(&canonical).to_string(),
        "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59"
    );
    let key = signing_key(&Secret::new(SECRET), &scope);
    assert_eq!(
        hex(&key),
        "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
    );
    assert_eq!(
        authorization(&request, &scope, &credentials(None)),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date, \
         Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    );
}

/// From AWS's test suite of signatures: `get-vanilla`, `post-vanilla`, `get-vanilla-query-order-key-case`.
#[test]
fn the_published_test_suite() {
    let check = |method, query: &[(&str, &str)], expected: &str| {
        let request = Unsigned {
            method,
            path: "/",
            query,
            headers: &[Header::new("Host", "example.amazonaws.com")],
            body: b"",
        };
        let signed = sign(&request, &scope("us-east-1", "service"), &credentials(None));
        assert_eq!(signature_of(&signed), expected, "{method} {query:?}");
    };
    check(
        "GET",
        &[],
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    );
    check(
        "POST",
        &[],
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    );
    check(
        "GET",
        &[("Param2", "value2"), ("Param1", "value1")],
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    );
}

#[test]
fn paths_are_encoded_once_more_and_blanks_are_single() {
    assert_eq!(canonical_path("/a%20b/c"), "/a%2520b/c");
    assert_eq!(canonical_path(""), "/");
    assert_eq!(
        canonical_query(&[("b", ""), ("a", "x y"), ("a", "%")]),
        "a=%25&a=x%20y&b="
    );
    let headers = [
        Header::new("My-Header", " a   b\tc "),
        Header::new("my-header", "d"),
    ];
    let canonical = canonical_headers(&headers);
    assert_eq!(canonical.len(), 1);
    assert_eq!(canonical[0].value, "a b c,d");
}

#[test]
fn the_token_is_sent_and_signed_but_not_shown() {
    let request = Unsigned {
        method: "POST",
        path: "/",
        query: &[],
        headers: &[Header::new("Host", "example.amazonaws.com")],
        body: b"",
    };
    let scope = scope("us-east-1", "service");
    let with = sign(&request, &scope, &credentials(Some("hidden")));
    let without = sign(&request, &scope, &credentials(None));
    assert_ne!(signature_of(&with), signature_of(&without));
    assert!(with.contains(&Header::new("x-amz-security-token", "hidden")));
    assert!(
        with.last()
            .unwrap()
            .value
            .contains("x-amz-date;x-amz-security-token,")
    );
    let shown = format!("{with:?}");
    assert!(
        !shown.contains("hidden") && !shown.contains("Signature"),
        "{shown}"
    );
}

fn signed(headers: &[Header], body: &[u8]) -> String {
    let request = Unsigned {
        method: "POST",
        path: "/endpoints/a/invocations",
        query: &[],
        headers,
        body,
    };
    let signed = sign(
        &request,
        &scope("sa-east-1", "sagemaker"),
        &credentials(None),
    );
    signature_of(&signed)
}

fn headers() -> impl Strategy<Value = Vec<Header>> {
    let names = proptest::collection::btree_set("[a-z][a-z-]{0,12}", 1..6);
    (names, proptest::collection::vec("[ -~]{0,20}", 6)).prop_map(|(names, values)| {
        let pairs = names.into_iter().zip(values);
        pairs.map(|(name, value)| Header { name, value }).collect()
    })
}

proptest! {
    #[test]
    fn the_order_of_headers_does_not_matter(given in headers(), turn in 0_usize..6) {
        let mut other = given.clone();
        let turn = turn % other.len();
        other.rotate_left(turn);
        prop_assert_eq!(signed(&given, b"x"), signed(&other, b"x"));
        other.reverse();
        prop_assert_eq!(signed(&given, b"x"), signed(&other, b"x"));
    }

    #[test]
    fn any_byte_of_the_body_matters(
        body in proptest::collection::vec(any::<u8>(), 1..300),
        place in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let mut other = body.clone();
        let place = place.index(other.len());
        other[place] ^= change;
        prop_assert_ne!(signed(&[], &body), signed(&[], &other));
        other.truncate(place);
        prop_assert_ne!(signed(&[], &body), signed(&[], &other));
    }
}
