use super::*;
use crate::description::Description;

const LIMITS: Limits = Limits {
    body_bytes: 1 << 20,
    pixels: 1 << 20,
    receiving_bytes: 1 << 24,
    head: Duration::from_secs(1),
    receiving: Duration::from_secs(1),
    connections: 100,
};

fn signature(sizes: &[usize]) -> Signature {
    Signature {
        input: [None]
            .into_iter()
            .chain(sizes.iter().copied().map(Some))
            .collect(),
        classes: None,
        probabilities: true,
        runtime: String::new(),
    }
}

fn sent(kind: Kind, body: &[u8], sizes: &[usize], description: &str) -> Result<Tensor, Refusal> {
    let signature = signature(sizes);
    let described = Description::parse(description).unwrap();
    let preparation = described.preparation(&signature).unwrap();
    tensor(kind, body, preparation.as_ref(), &signature, &LIMITS)
}

fn png(width: u32, height: u32, channels: u32, pixels: Vec<u8>) -> Vec<u8> {
    let picture = Picture {
        width,
        height,
        channels,
        pixels,
    };
    picture::encode(&picture).unwrap()
}

#[test]
fn content_types() {
    let check = |text: Option<&str>, expected: Result<Kind, u16>| {
        assert_eq!(Kind::of(text).map_err(|refusal| refusal.status), expected);
    };
    check(None, Ok(Kind::Picture));
    check(Some("image/PNG"), Ok(Kind::Picture));
    check(Some("application/json; charset=utf-8"), Ok(Kind::Json));
    check(Some("application/x-npy"), Ok(Kind::Npy));
    check(Some("text/csv"), Err(415));
}

#[test]
fn pictures_are_normalised_channel_by_channel() {
    let body = png(2, 1, 3, vec![0, 10, 20, 100, 110, 120]);
    let means = r#"{"mean": [0, 10, 20], "std": [1, 2, 4]}"#;
    let found = sent(Kind::Picture, &body, &[3, 1, 2], means).unwrap();
    assert_eq!(found.shape(), [1, 3, 1, 2]);
    assert_eq!(found.values(), [0.0, 100.0, 0.0, 50.0, 0.0, 25.0]);
}

#[test]
fn channels_may_come_last() {
    let body = png(2, 1, 3, vec![1, 2, 3, 4, 5, 6]);
    let plain = r#"{"mean": [0], "std": [1], "input": {"channels": 3, "height": 1, "width": 2, "layout": "nhwc"}}"#;
    let found = sent(Kind::Picture, &body, &[1, 2, 3], plain).unwrap();
    assert_eq!(found.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn grey_and_coloured_pictures_fit_each_other() {
    let plain = r#"{"mean": [0], "std": [1]}"#;
    let grey = png(2, 1, 1, vec![7, 9]);
    assert_eq!(
        sent(Kind::Picture, &grey, &[3, 1, 2], plain)
            .unwrap()
            .values(),
        [7.0, 9.0, 7.0, 9.0, 7.0, 9.0]
    );
    let red = png(1, 1, 3, vec![255, 0, 0]);
    assert_eq!(
        sent(Kind::Picture, &red, &[1, 1, 1], plain)
            .unwrap()
            .values(),
        [76.0]
    );
}

#[test]
fn the_middle_is_kept() {
    let crop = r#"{"resize": "crop", "mean": [0], "std": [1]}"#;
    let wide = png(4, 2, 1, vec![1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        sent(Kind::Picture, &wide, &[1, 2, 2], crop)
            .unwrap()
            .values(),
        [2.0, 3.0, 6.0, 7.0]
    );
    let tall = png(1, 3, 1, vec![1, 2, 3]);
    assert_eq!(
        sent(Kind::Picture, &tall, &[1, 1, 1], crop)
            .unwrap()
            .values(),
        [2.0]
    );
}

#[test]
fn json_tensors() {
    let check = |body: &str, sizes: &[usize], expected: Result<&[usize], &str>| match (
        sent(Kind::Json, body.as_bytes(), sizes, "{}"),
        expected,
    ) {
        (Ok(tensor), Ok(shape)) => assert_eq!(tensor.shape(), shape),
        (Err(refusal), Err(words)) => {
            assert!(refusal.message.contains(words), "{}", refusal.message)
        }
        (found, expected) => panic!("{body}: {found:?}, not {expected:?}"),
    };
    check("[[1, 2.5], [3, -4]]", &[2], Ok(&[2, 2]));
    check("[1, 2]", &[2], Ok(&[1, 2]));
    check(
        r#"{"signature_name": "x", "instances": [[1, 2]]}"#,
        &[2],
        Ok(&[1, 2]),
    );
    check("[[1, 2], [3]]", &[2], Err("different lengths"));
    check("[[1], 2]", &[1], Err("a number stands where a list"));
    check("[1, [2]]", &[1], Err("a list stands where a number"));
    check(
        "[[[1]]]",
        &[1],
        Err("the shape [1, 1, 1], the model wants any×1"),
    );
    check(
        "[[\"a\"]]",
        &[1],
        Err("expected a number or a list of numbers"),
    );
    check("{}", &[1], Err("no numbers"));
    check("[", &[1], Err("no JSON tensor: EOF"));
    check("[[1]] 2", &[1], Err("trailing characters"));
    check(&"[".repeat(100_000), &[1], Err("nested too deeply"));
    check("[[1e999]]", &[1], Err("number out of range"));
}

#[test]
fn what_is_no_picture_is_refused_with_a_sentence() {
    let check = |body: &[u8], words: &str| {
        let refusal = sent(Kind::Picture, body, &[3, 2, 2], "{}").unwrap_err();
        assert_eq!(refusal.status, 400);
        assert!(refusal.message.contains(words), "{}", refusal.message);
    };
    check(b"", "neither PNG nor JPEG");
    check(b"hello", "neither PNG nor JPEG");
    let whole = png(9, 9, 3, vec![5; 243]);
    check(&whole[..whole.len() / 2], "no picture that can be used");
    // A header that promises 50,000 × 50,000 pixels.
    let mut bomb = whole.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 195, 80, 0, 0, 195, 80]);
    check(&bomb, "no picture that can be used");
    let large = png(2000, 1000, 1, vec![0; 2_000_000]);
    check(&large, "at most 1048576 are decoded here");
}
