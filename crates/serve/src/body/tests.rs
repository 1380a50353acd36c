use super::*;
use crate::description::Description;

fn port(name: &str, kind: Kind, sizes: &[Option<usize>]) -> Port {
    Port {
        name: name.to_owned(),
        kind,
        sizes: sizes.to_vec(),
    }
}

fn read(
    format: Format,
    body: &[u8],
    inputs: Vec<Port>,
    description: &str,
) -> Result<Vec<Tensor>, Refusal> {
    let signature = Signature {
        inputs,
        ..Signature::default()
    };
    let described = Description::parse(description).unwrap();
    let preparation = described.preparation(&signature).unwrap();
    let reader = Reader {
        signature: &signature,
        preparation: preparation.as_ref(),
        any_examples: true,
        pixels: 1 << 20,
    };
    reader.tensors(format, body)
}

/// To a model of one float32 input.
fn sent(
    format: Format,
    body: &[u8],
    sizes: &[usize],
    description: &str,
) -> Result<Tensor, Refusal> {
    let sizes = sizes.iter().copied().map(Some);
    let sizes: Vec<_> = [None].into_iter().chain(sizes).collect();
    let inputs = vec![port("input", Kind::Float32, &sizes)];
    read(format, body, inputs, description).map(|mut tensors| tensors.remove(0))
}

fn check_picture(body: &[u8], sizes: &[usize], description: &str, expected: &[f32]) {
    let found = sent(Format::Picture, body, sizes, description).unwrap();
    assert_eq!(found.shape()[1..], *sizes);
    assert_eq!(found.floats().unwrap(), expected, "{description}");
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
    let check = |text: Option<&str>, expected: Result<Format, u16>| {
        assert_eq!(Format::of(text).map_err(|refusal| refusal.status), expected);
    };
    check(None, Ok(Format::Unsaid));
    check(
        Some("application/x-www-form-urlencoded"),
        Ok(Format::Unsaid),
    );
    check(Some("image/PNG"), Ok(Format::Picture));
    check(Some("application/json; charset=utf-8"), Ok(Format::Json));
    check(Some("application/x-npy"), Ok(Format::Npy));
    check(Some("text/csv"), Err(415));
}

#[test]
fn pictures_become_the_models_input() {
    let plain = r#"{"mean": [0], "std": [1]}"#;
    // Normalised channel by channel.
    let body = png(2, 1, 3, vec![0, 10, 20, 100, 110, 120]);
    let means = r#"{"mean": [0, 10, 20], "std": [1, 2, 4]}"#;
    let expected = [0.0, 100.0, 0.0, 50.0, 0.0, 25.0];
    check_picture(&body, &[3, 1, 2], means, &expected);
    // Channels last.
    let body = png(2, 1, 3, vec![1, 2, 3, 4, 5, 6]);
    let last = r#"{"mean": [0], "std": [1], "input": {"channels": 3, "height": 1, "width": 2, "layout": "nhwc"}}"#;
    check_picture(&body, &[1, 2, 3], last, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    // Grey ones for a model of coloured ones, and the reverse.
    let grey = png(2, 1, 1, vec![7, 9]);
    check_picture(&grey, &[3, 1, 2], plain, &[7.0, 9.0, 7.0, 9.0, 7.0, 9.0]);
    let red = png(1, 1, 3, vec![255, 0, 0]);
    check_picture(&red, &[1, 1, 1], plain, &[76.0]);
    // The middle is kept.
    let crop = r#"{"resize": "crop", "mean": [0], "std": [1]}"#;
    let wide = png(4, 2, 1, vec![1, 2, 3, 4, 5, 6, 7, 8]);
    check_picture(&wide, &[1, 2, 2], crop, &[2.0, 3.0, 6.0, 7.0]);
    let tall = png(1, 3, 1, vec![1, 2, 3]);
    check_picture(&tall, &[1, 1, 1], crop, &[2.0]);
}

#[test]
fn json_tensors() {
    let check = |body: &str, sizes: &[usize], expected: Result<&[usize], &str>| match (
        sent(Format::Json, body.as_bytes(), sizes, "{}"),
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
    check("[[1], 2]", &[1], Err("found a number, expected a list"));
    check("[1, [2]]", &[1], Err("found a list, expected a number"));
    check(
        "[[[1]]]",
        &[1],
        Err("the shape [1, 1, 1], but the model needs any×1"),
    );
    check(
        "[[\"a\"]]",
        &[1],
        Err("expected a number or a list of numbers"),
    );
    check("{}", &[1], Err("no numbers"));
    check("[", &[1], Err("not a JSON tensor: EOF"));
    check("[[1]] 2", &[1], Err("trailing characters"));
    check(&"[".repeat(100_000), &[1], Err("nested too deeply"));
    check("[[1e999]]", &[1], Err("number out of range"));
    check(
        "[[1e39]]",
        &[1],
        Err("takes FP32 numbers, and 1e39 is not one"),
    );
}

#[test]
fn named_inputs() {
    let inputs = || {
        vec![
            port("ids", Kind::Int64, &[None, None]),
            port("scale", Kind::Float32, &[None, Some(2)]),
        ]
    };
    let check = |body: &str, expected: &str| {
        let found = match read(Format::Json, body.as_bytes(), inputs(), "{}") {
            Ok(tensors) => {
                let written = |tensor: &Tensor| {
                    let values = serde_json::to_string(tensor.values()).unwrap();
                    format!("{:?} {values}", tensor.shape())
                };
                tensors.iter().map(written).collect::<Vec<_>>().join(", ")
            }
            Err(refusal) => refusal.message,
        };
        assert!(found.contains(expected), "{found}");
    };
    check(
        r#"{"inputs": {"scale": [[1, 0.5]], "ids": [[9007199254740993]]}}"#,
        "[1, 1] [9007199254740993], [1, 2] [1.0,0.5]",
    );
    check(
        r#"{"inputs": {"scale": {"shape": [1, 2], "data": [1, 2]}, "ids": {"data": [[7, 8]]}}}"#,
        "[1, 2] [7,8], [1, 2] [1.0,2.0]",
    );
    check(
        r#"{"id": "4", "inputs": [{"name": "ids", "shape": [2, 1], "datatype": "INT64", "data": [1, 2]},
            {"name": "scale", "shape": [2, 2], "datatype": "FP32", "data": [[1, 2], [3, 4]]}]}"#,
        "[2, 1] [1,2], [2, 2] [1.0,2.0,3.0,4.0]",
    );
    check(
        r#"{"inputs": {"ids": [[1]]}}"#,
        "the input `scale` is missing: the model takes ids (INT64, any×any), scale (FP32, any×2)",
    );
    check(
        r#"{"inputs": {"ids": [[1]], "scale": [[1, 2]], "mask": [1]}}"#,
        "there is no input `mask`",
    );
    check(
        r#"{"inputs": {"ids": [[1.5]], "scale": [[1, 2]]}}"#,
        "`ids` takes INT64 numbers, and 1.5 is not one",
    );
    check(
        r#"{"inputs": {"ids": {"datatype": "FP32", "data": [[1]]}, "scale": [[1, 2]]}}"#,
        "`ids` has the type INT64, but the body says FP32",
    );
    check(
        r#"{"inputs": {"ids": {"datatype": "LONG", "data": [[1]]}, "scale": [[1, 2]]}}"#,
        "the type `LONG` of the input `ids` is not known",
    );
    check(
        r#"{"inputs": {"ids": [[1], [2]], "scale": [[1, 2]]}}"#,
        "different numbers of examples",
    );
    check(
        r#"{"inputs": {"ids": {"shape": [2], "data": [1]}, "scale": [[1, 2]]}}"#,
        "the shape [2] does not match 1 numbers",
    );
    check(
        r#"{"inputs": {"ids": [[1]], "ids": [[2]]}}"#,
        "`ids` is given twice",
    );
    check(r#"{"inputs": [{"data": [1]}]}"#, "missing field `name`");
    check(
        r#"{"inputs": [1, {"name": "ids"}]}"#,
        "an object is among numbers",
    );
    check("[[1]]", "the model has 2 inputs: send JSON");
}

#[test]
fn numpy_arrays_of_every_kind() {
    let file = |descr: &str, shape: &str, numbers: &[u8]| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
        let text = format!("{text:<117}\n");
        [
            b"\x93NUMPY\x01\x00",
            &(text.len() as u16).to_le_bytes()[..],
            text.as_bytes(),
            numbers,
        ]
        .concat()
    };
    let check = |body: &[u8], kind: Kind, expected: Result<Values, &str>| {
        let inputs = vec![port("input", kind, &[None, Some(2)])];
        match (read(Format::Unsaid, body, inputs, "{}"), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found[0].values(), expected),
            (Err(refusal), Err(words)) => {
                assert!(refusal.message.contains(words), "{}", refusal.message)
            }
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    };
    let bytes = [3, 200];
    let longs = [3_i64, 1 << 60].map(i64::to_le_bytes).concat();
    check(
        &file("|u1", "1, 2", &bytes),
        Kind::Float32,
        Ok(vec![3_f32, 200.0].into()),
    );
    check(
        &file("<i8", "2,", &longs),
        Kind::Int64,
        Ok(vec![3_i64, 1 << 60].into()),
    );
    check(
        &file("|b1", "1, 2", &[1, 0]),
        Kind::Bool,
        Ok(vec![true, false].into()),
    );
    check(&file("<i8", "1, 2", &longs), Kind::Int32, Err("is not one"));
    check(
        &file("<i8", "1, 2", &longs[1..]),
        Kind::Int64,
        Err("does not have the length in its header"),
    );
    check(
        &file("<c8", "1, 2", &longs),
        Kind::Int64,
        Err("the unsupported type `<c8`"),
    );
}

#[test]
fn formats_are_told_by_their_first_bytes() {
    let check = |body: &[u8], expected| assert_eq!(Format::by_first_bytes(body), expected);
    check(b" \n[1]", Format::Json);
    check(b"{", Format::Json);
    check(b"\x93NUMPY", Format::Npy);
    check(b"\xff\xd8", Format::Picture);
    check(b"", Format::Picture);
}

#[test]
fn pictures_as_bytes() {
    let inputs = vec![port(
        "image",
        Kind::Uint8,
        &[Some(1), Some(2), Some(1), Some(3)],
    )];
    let body = png(1, 2, 3, vec![0, 10, 20, 100, 110, 255]);
    let found = read(Format::Unsaid, &body, inputs, "{}").unwrap();
    assert_eq!(
        *found[0].values(),
        Values::Uint8(vec![0, 10, 20, 100, 110, 255])
    );
}

#[test]
fn what_is_no_picture_is_refused_with_a_sentence() {
    let check = |body: &[u8], words: &str| {
        let refusal = sent(Format::Picture, body, &[3, 2, 2], "{}").unwrap_err();
        assert_eq!(refusal.status, 400);
        assert!(refusal.message.contains(words), "{}", refusal.message);
    };
    check(b"", "neither PNG nor JPEG");
    check(b"hello", "neither PNG nor JPEG");
    let whole = png(9, 9, 3, vec![5; 243]);
    check(&whole[..whole.len() / 2], "not a usable picture");
    // A header that promises 50,000 × 50,000 pixels.
    let mut bomb = whole.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 195, 80, 0, 0, 195, 80]);
    check(&bomb, "not a usable picture");
    let large = png(2000, 1000, 1, vec![0; 2_000_000]);
    check(&large, "at most 1048576 are decoded");
}
