use super::tools::Looked;
use super::wish::{Layout, Size, picture_size};
use super::*;

fn wish<'a>(model: &'a Path, description: Option<&'a str>) -> QuantiseWish<'a> {
    QuantiseWish {
        model,
        description,
        pictures: None,
        dynamic: false,
        trained: false,
    }
}

#[test]
fn without_tools_it_is_said_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = quantise(&Home::at(folder.path()), &wish(Path::new("a.onnx"), None));
    assert_eq!(
        error.unwrap_err().to_string(),
        "onnx-tools is not set up: bancada setup onnx-tools"
    );
}

#[test]
fn the_input_is_the_descriptions_or_the_models() {
    let check = |description: Option<&str>, input: &[Option<u32>], expected: &str| {
        let looked = Looked {
            input: input.to_vec(),
        };
        let said = match wish(Path::new("a.onnx"), description).input(&looked) {
            Ok(size) => format!("{} {} {:?}", size.channels, size.height, size.layout),
            Err(error) => error.to_string(),
        };
        assert!(said.starts_with(expected), "{said}");
    };
    check(None, &[None, Some(3), Some(32), Some(32)], "3 32 Nchw");
    check(None, &[Some(1), Some(28), Some(28), Some(1)], "1 28 Nhwc");
    check(None, &[None, Some(3), None, None], "the model's input is");
    check(
        None,
        &[None, Some(10)],
        "the model's input is not a picture",
    );
    check(
        None,
        &[None, Some(3), Some(32), Some(48)],
        "the model needs images of 32×48",
    );
    let told = r#"{"input": {"channels": 1, "height": 8, "width": 8}, "name": "a"}"#;
    check(Some(told), &[None, None, None, None], "1 8 Nchw");
    check(Some("3"), &[], "the model's description cannot be used");
    let size = picture_size(&[None, Some(3), Some(8), Some(1)]).unwrap();
    assert_eq!(
        size,
        Size {
            channels: 3,
            height: 8,
            width: 1,
            layout: Layout::Nchw
        }
    );
}

#[test]
fn what_the_script_told_is_found_between_other_lines() {
    let said = b"warning\nbancada-quantised {\"input\": [null, 3, 8, 8]}\nlate words\n";
    let found: Looked = tools::parse(said).unwrap();
    assert_eq!(found.input, [None, Some(3), Some(8), Some(8)]);
    assert!(tools::parse::<Looked>(b"nothing").is_none());
}

#[test]
fn untrained_weights_have_agreement_and_no_accuracy() {
    let compared = Compared {
        images: 200,
        full_right: 190,
        right: 188,
        agree: 197,
        classes: 10,
        named: 10,
    };
    let trained = comparison(&compared, "digits".to_owned(), true).unwrap();
    let accuracy = trained.accuracy.unwrap();
    assert_eq!((accuracy.full.count, accuracy.quantised.count), (190, 188));
    let interval = accuracy.full.estimate.interval.unwrap();
    assert!(interval.low < 0.95 && 0.95 < interval.high);
    let untrained = comparison(&compared, "digits".to_owned(), false).unwrap();
    assert_eq!(untrained.accuracy, None);
    assert_eq!(untrained.agreement.count, 197);
    let none = Compared {
        images: 0,
        ..compared
    };
    assert_eq!(comparison(&none, "digits".to_owned(), true), None);
}

#[test]
fn a_result_is_kept_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("to");
    let begun = || {
        let from = Unfinished::folder(&to).unwrap();
        fs::write(from.path().join(MODEL), "12345").unwrap();
        from
    };
    let quantised = Quantised {
        path: to.join(MODEL),
        bytes: 5,
        full_bytes: 20,
        weight_bits: 8,
        dynamic: false,
        calibration_images: Some(3),
        comparison: None,
        version: "1".to_owned(),
    };
    assert_eq!(read(&to), None);
    keep(quantised.clone(), begun(), &to).unwrap();
    assert_eq!(read(&to), Some(quantised.clone()));
    fs::write(to.join(MODEL), "123").unwrap();
    assert_eq!(read(&to), None, "it was damaged");
    keep(quantised.clone(), begun(), &to).unwrap();
    assert_eq!(read(&to), Some(quantised), "it was made again");
}

#[test]
fn the_output_that_scores_classes_is_the_descriptions() {
    let check = |description: &str, expected: Option<&str>| {
        let wish = wish(Path::new("a.onnx"), Some(description));
        assert_eq!(wish.scores().unwrap().as_deref(), expected);
    };
    check("{}", None);
    check(r#"{"output": {"boxes": "raw", "y": "logits"}}"#, Some("y"));
    check(r#"{"output": {"y": "raw"}}"#, None);
    check(r#"{"output": "logits"}"#, Some("logits"));
    check(r#"{"output": "raw"}"#, None);
}
