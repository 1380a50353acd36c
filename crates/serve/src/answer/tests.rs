use super::*;
use crate::model::Port;
use crate::tensor::Kind;

fn port(name: &str) -> Port {
    Port {
        name: name.to_owned(),
        kind: Kind::Float32,
        sizes: Vec::new(),
    }
}

fn answered(description: &str, untrained: bool, outputs: &[Tensor]) -> Result<String, ModelError> {
    let description = Description::parse(description)?;
    let signature = Signature {
        outputs: ["y", "z"].map(port)[..outputs.len()].to_vec(),
        untrained,
        ..Signature::default()
    };
    let writer = Writer {
        model: "m",
        description: &description,
        signature: &signature,
        answered: &Answered::new(description.output.as_ref(), &signature)?,
        untrained,
        top: 2,
    };
    let answer = writer.answer(outputs, Duration::from_micros(1234))?;
    Ok(String::from_utf8(answer.json).unwrap())
}

fn tensor(shape: &[usize], values: impl Into<Values>) -> Tensor {
    Tensor::new(shape.to_vec(), values).unwrap()
}

#[test]
fn one_example_and_several() {
    let check = |description: &str, shape: &[usize], values: Vec<f32>, expected: &str| {
        let found = answered(description, false, &[tensor(shape, values)]).unwrap();
        assert_eq!(found, expected);
    };
    check(
        r#"{"classes": ["cat", "dog"], "output": "probabilities"}"#,
        &[1, 2],
        vec![0.25, 0.75],
        r#"{"model":"m","classes":[{"class":"dog","probability":0.75},{"class":"cat","probability":0.25}],"probabilities":[0.25,0.75],"prediction_ms":1.234}"#,
    );
    check(
        r#"{"output": "probabilities"}"#,
        &[2, 2],
        vec![0.25, 0.75, 1.0, 0.0],
        r#"{"model":"m","predictions":[{"classes":[{"class":"1","probability":0.75},{"class":"0","probability":0.25}],"probabilities":[0.25,0.75]},{"classes":[{"class":"0","probability":1.0},{"class":"1","probability":0.0}],"probabilities":[1.0,0.0]}],"prediction_ms":1.234}"#,
    );
    check(
        r#"{"output": "probabilities"}"#,
        &[1, 4, 1, 1],
        vec![0.125, 0.125, 0.25, 0.5],
        r#"{"model":"m","classes":[{"class":"3","probability":0.5},{"class":"2","probability":0.25}],"other_classes":{"count":2,"probability":0.25},"probabilities":[0.125,0.125,0.25,0.5],"prediction_ms":1.234}"#,
    );
}

#[test]
fn outputs_as_they_are() {
    let boxes = tensor(&[1, 2, 2], vec![1.5_f32, 2.0, 3.0, 1e30]);
    let count = tensor(&[], vec![2_i64]);
    assert_eq!(
        answered("{}", true, &[boxes, count]).unwrap(),
        r#"{"model":"m","weights":"untrained","outputs":[{"name":"y","datatype":"FP32","shape":[1,2,2],"data":[1.5,2.0,3.0,1e+30]},{"name":"z","datatype":"INT64","shape":[],"data":[2]}],"prediction_ms":1.234}"#
    );
    let scores = tensor(&[1, 2], vec![1000.0_f32, 1000.0]);
    let mask = tensor(&[2], vec![true, false]);
    assert_eq!(
        answered(
            r#"{"output": {"y": "logits", "z": "raw"}}"#,
            false,
            &[scores, mask]
        )
        .unwrap(),
        r#"{"model":"m","classes":[{"class":"0","probability":0.5},{"class":"1","probability":0.5}],"probabilities":[0.5,0.5],"outputs":[{"name":"z","datatype":"BOOL","shape":[2],"data":[true,false]}],"prediction_ms":1.234}"#
    );
}

#[test]
fn scores_that_cannot_be_used() {
    let check = |tensor: Tensor, expected: &str| {
        let problem = answered(r#"{"output": "logits"}"#, false, &[tensor]).unwrap_err();
        assert_eq!(problem.to_string(), expected);
    };
    check(
        tensor(&[1, 2], vec![0.0, f32::NAN]),
        "its scores are not finite",
    );
    check(
        tensor(&[1, 2, 3], vec![0.0_f32; 6]),
        "its scores have the shape [1, 2, 3], not one row per example",
    );
    check(tensor(&[1, 0], Vec::<f32>::new()), "it scores no classes");
}

/// Summed in 32 bits, as they were, they were off by 1.2e-4.
#[test]
fn probabilities_of_many_classes_sum_to_one() {
    let check = |meaning: &str, values: Vec<f32>| {
        let description = format!(r#"{{"output": "{meaning}"}}"#);
        let text = answered(&description, false, &[tensor(&[1, values.len()], values)]).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        let numbers = |value: &serde_json::Value| value.as_f64().unwrap();
        let all: f64 = answer["probabilities"]
            .as_array()
            .unwrap()
            .iter()
            .map(numbers)
            .sum();
        assert!((all - 1.0).abs() < 1e-6, "{all}");
        let shown = answer["classes"].as_array().unwrap().iter();
        let shown: f64 = shown.map(|class| numbers(&class["probability"])).sum();
        let sum = shown + numbers(&answer["other_classes"]["probability"]);
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!(answer["other_classes"]["count"], 8208);
    };
    let logits: Vec<f32> = (0..8210).map(|class| (class % 97) as f32 / 31.0).collect();
    let powers: Vec<f32> = logits.iter().map(|logit| logit.exp()).collect();
    let sum: f32 = powers.iter().sum();
    let rounded = powers.iter().map(|power| power / sum * 1.0001).collect();
    check("logits", logits);
    check("probabilities", rounded);
}

#[test]
fn independent_probabilities_stay_as_they_are() {
    let text = answered(
        r#"{"output": "probabilities"}"#,
        false,
        &[tensor(&[1, 3], vec![0.5_f32, 0.75, 0.25])],
    );
    assert!(text.unwrap().contains(r#""probabilities":[0.5,0.75,0.25]"#));
}
