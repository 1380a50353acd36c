//! The networks that come with the program.

use crate::description::{Description, parse};
use crate::error::NetworkError;

macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../zoo/", $name, ".toml")))),*]
    };
}

/// Name and text; the smaller ones first.
const ZOO: [(&str, &str); 14] = embed![
    "rede1",
    "rede2",
    "lenet5",
    "keras-mnist",
    "keras-cifar",
    "alexnet",
    "googlenet",
    "vgg16",
    "vgg19",
    "vgg19-retina",
    "mobilenet",
    "mobilenet-retina",
    "resnet18",
    "resnet50",
];

pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    ZOO.iter().map(|(name, _)| *name)
}
/// The text of a network file of the zoo.
pub fn find(name: &str) -> Option<&'static str> {
    ZOO.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// A network of the zoo.
pub fn load(name: &str) -> Result<Description, NetworkError> {
    let text = find(name).ok_or_else(|| NetworkError::Unknown {
        name: name.to_owned(),
        meant: diagnostics::closest(name, names()),
    })?;
    parse(text).map_err(|problems| NetworkError::Description {
        name: format!("{name}.toml"),
        text: text.to_owned(),
        problems,
    })
}
