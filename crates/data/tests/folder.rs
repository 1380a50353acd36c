//! Folders of pictures by class.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use data::{DataRequest, Dataset, describe, load};
use png::{BitDepth, ColorType};
use proptest::prelude::*;

const RED_BLUE: &[u8] = include_bytes!("pictures/red-blue.jpg");
const PROGRESSIVE: &[u8] = include_bytes!("pictures/progressive.jpg");
const CMYK: &[u8] = include_bytes!("pictures/cmyk.jpg");
const GREY: &[u8] = include_bytes!("pictures/grey.jpg");
const NOISE: &[u8] = include_bytes!("pictures/noise.jpg");

fn request(folder: &Path, image: u32) -> DataRequest {
    DataRequest {
        dataset: "folder".to_owned(),
        data_dir: Some(folder.to_owned()),
        image,
        images: None,
        held_out: None,
        seed: 1,
    }
}

fn read(folder: &Path, image: u32) -> Dataset {
    load(&request(folder, image)).unwrap()
}

/// A PNG whose pixels are given.
struct Png<'p> {
    width: u32,
    colour: ColorType,
    depth: BitDepth,
    palette: Option<&'p [u8]>,
    pixels: &'p [u8],
}

impl Png<'_> {
    fn write(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let samples = self.pixels.len() as u32 * 8 / self.depth as u32;
        let height = samples / self.colour.samples() as u32 / self.width;
        let file = File::create(path).unwrap();
        let mut encoder = png::Encoder::new(file, self.width, height);
        encoder.set_color(self.colour);
        encoder.set_depth(self.depth);
        if let Some(palette) = self.palette {
            encoder.set_palette(palette.to_vec());
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(self.pixels).unwrap();
    }
}

fn grey(path: &Path, width: u32, pixels: &[u8]) {
    Png {
        width,
        colour: ColorType::Grayscale,
        depth: BitDepth::Eight,
        palette: None,
        pixels,
    }
    .write(path);
}

fn colour(path: &Path, width: u32, pixels: &[[u8; 3]]) {
    Png {
        width,
        colour: ColorType::Rgb,
        depth: BitDepth::Eight,
        palette: None,
        pixels: pixels.as_flattened(),
    }
    .write(path);
}

/// One grey pixel a picture, whose value says which it is.
fn write_classes(folder: &Path, classes: &[(&str, u8)]) {
    let mut value = 0;
    for &(class, count) in classes {
        for index in 0..count {
            grey(
                &folder.join(class).join(format!("{index:03}.png")),
                1,
                &[value],
            );
            value += 1;
        }
    }
}

#[test]
fn two_parts_are_read_in_turns() {
    for held_out in ["test", "val", "validation"] {
        let folder = tempfile::tempdir().unwrap();
        write_classes(
            &folder.path().join("train"),
            &[("cat", 2), ("ant", 3), ("bee", 1)],
        );
        write_classes(&folder.path().join(held_out), &[("ant", 1), ("cat", 1)]);
        fs::write(folder.path().join("train/cat/notes.txt"), "not a picture").unwrap();
        fs::write(
            folder.path().join("train/cat/.hidden.png"),
            "not one either",
        )
        .unwrap();
        let dataset = read(folder.path(), 1);
        // ant, bee, cat by name; the first of each, then the second of each.
        assert_eq!(dataset.train.labels, [0, 1, 2, 0, 2, 0]);
        assert_eq!(dataset.train.pixels, [2, 5, 0, 3, 1, 4]);
        assert_eq!(dataset.held_out.labels, [0, 2]);
        assert_eq!(dataset.classes, 3);
    }
}

#[test]
fn the_first_images_hold_every_class() {
    let folder = tempfile::tempdir().unwrap();
    write_classes(folder.path(), &[("a", 20), ("b", 20), ("c", 20)]);
    let few = DataRequest {
        images: Some(6),
        held_out: Some(3),
        ..request(folder.path(), 1)
    };
    let dataset = load(&few).unwrap();
    assert_eq!(dataset.train.labels, [0, 1, 2, 0, 1, 2]);
    assert_eq!(dataset.held_out.labels, [0, 1, 2]);
    let many = DataRequest {
        images: Some(49),
        ..request(folder.path(), 1)
    };
    let error = load(&many).unwrap_err().to_string();
    assert!(error.contains("`folder` has 48"), "{error}");
}

#[test]
fn classes_are_counted_by_name() {
    let folder = tempfile::tempdir().unwrap();
    write_classes(&folder.path().join("train"), &[("b", 4), ("a", 2)]);
    write_classes(&folder.path().join("test"), &[("b", 1)]);
    let counts = data::count(&request(folder.path(), 1), Path::new("")).unwrap();
    assert_eq!(counts.class_names, ["a", "b"]);
    assert_eq!(counts.train, [2, 4]);
    assert_eq!(counts.held_out, [0, 1]);
}

#[test]
fn a_class_may_be_called_train_and_have_folders_below() {
    let folder = tempfile::tempdir().unwrap();
    write_classes(folder.path(), &[("train", 5), ("tram", 5)]);
    write_classes(&folder.path().join("tram"), &[("old", 5)]);
    let dataset = read(folder.path(), 1);
    assert_eq!(dataset.classes, 2);
    assert_eq!(dataset.train.len() + dataset.held_out.len(), 15);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_fifth_is_held_out_by_the_seed(seed: u64, a in 1u8..20, b in 1u8..20) {
        let folder = tempfile::tempdir().unwrap();
        write_classes(folder.path(), &[("a", a), ("b", b)]);
        let split = |seed| load(&DataRequest { seed, ..request(folder.path(), 1) }).unwrap();
        let dataset = split(seed);
        let train: BTreeSet<u8> = dataset.train.pixels.iter().copied().collect();
        let held_out: BTreeSet<u8> = dataset.held_out.pixels.iter().copied().collect();
        prop_assert!(train.is_disjoint(&held_out));
        prop_assert_eq!(train.len() + held_out.len(), usize::from(a + b));
        let fifth = |count: u8| if count == 1 { 0 } else { usize::from(count / 5).max(1) };
        prop_assert_eq!(held_out.len(), fifth(a) + fifth(b));
        prop_assert_eq!(split(seed), dataset);
        // Every picture has its class's label, whichever part it is in.
        for images in [&split(seed).train, &split(seed).held_out] {
            for (&pixel, &label) in images.pixels.iter().zip(&images.labels) {
                prop_assert_eq!(label, u16::from(pixel >= a));
            }
        }
    }
}

#[test]
fn seeds_hold_other_pictures_out() {
    let folder = tempfile::tempdir().unwrap();
    write_classes(folder.path(), &[("a", 100), ("b", 100)]);
    let held_out = |seed| {
        let request = DataRequest {
            seed,
            ..request(folder.path(), 1)
        };
        load(&request).unwrap().held_out.pixels
    };
    assert_ne!(held_out(1), held_out(2));
    let info = describe("folder", Some(folder.path())).unwrap();
    assert_eq!((info.images, info.held_out), (160, 40));
}

#[test]
fn the_middle_square_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (red, green, blue) = ([255, 0, 0], [0, 255, 0], [0, 0, 255]);
    // Lying, standing, and both of them twice the size asked for.
    colour(&folder.path().join("train/a/1.png"), 3, &[red, green, blue]);
    colour(&folder.path().join("train/b/1.png"), 1, &[red, green, blue]);
    fs::create_dir(folder.path().join("test")).unwrap();
    write_classes(&folder.path().join("test"), &[("a", 1)]);
    let dataset = read(folder.path(), 2);
    let all_green = [[0; 4], [255; 4], [0; 4]].concat();
    assert_eq!(dataset.train.image(0), all_green);
    assert_eq!(dataset.train.image(1), all_green);
    // A grey picture among coloured ones.
    assert_eq!(dataset.held_out.image(0), [0; 12]);
}

#[test]
fn every_kind_of_png_becomes_bytes() {
    let check = |png: Png<'_>, expected: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        png.write(&folder.path().join("train/a/1.png"));
        png.write(&folder.path().join("train/b/1.PNG"));
        write_classes(&folder.path().join("test"), &[("a/deeper", 1)]);
        assert_eq!(read(folder.path(), 1).train.image(1), expected);
    };
    let png = |colour, depth, pixels| Png {
        width: 1,
        colour,
        depth,
        palette: None,
        pixels,
    };
    check(
        png(ColorType::GrayscaleAlpha, BitDepth::Eight, &[9, 128]),
        &[9],
    );
    check(
        png(ColorType::Grayscale, BitDepth::Sixteen, &[200, 1]),
        &[200],
    );
    check(
        png(ColorType::Rgba, BitDepth::Eight, &[1, 2, 3, 0]),
        &[1, 2, 3],
    );
    check(
        png(ColorType::Rgb, BitDepth::Sixteen, &[1, 0, 2, 0, 3, 0]),
        &[1, 2, 3],
    );
    let palette = Png {
        palette: Some(&[0, 0, 0, 7, 8, 9]),
        ..png(ColorType::Indexed, BitDepth::Eight, &[1])
    };
    check(palette, &[7, 8, 9]);
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn jpegs_are_read() {
    for picture in [RED_BLUE, PROGRESSIVE, CMYK] {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("train/a/1.jpg"), picture);
        write(&folder.path().join("train/b/1.JPEG"), picture);
        write(&folder.path().join("test/a/1.jpeg"), picture);
        let train = read(folder.path(), 16).train;
        let at = |x: usize| [0, 1, 2].map(|channel| train.image(1)[(16 * channel + 5) * 16 + x]);
        for (found, expected) in [(at(2), [255, 0, 0]), (at(13), [0, 0, 255])] {
            let near = found.iter().zip(expected).all(|(f, e)| f.abs_diff(e) <= 4);
            assert!(near, "{found:?} is not {expected:?}");
        }
    }
}

#[test]
fn one_channel_if_all_are_grey() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("train/a/1.jpg"), GREY);
    write(&folder.path().join("train/b/1.jpg"), GREY);
    grey(&folder.path().join("test/a/1.png"), 24, &[7; 24 * 16]);
    let info = describe("folder", Some(folder.path())).unwrap();
    assert_eq!((info.channels, info.side, info.classes), (1, 16, 2));
    let row = &read(folder.path(), 16).train.image(0)[..16].to_vec();
    for (column, &pixel) in row.iter().enumerate() {
        let near = (column as u8 + 4) * 10;
        assert!(pixel.abs_diff(near) <= 4, "{row:?}");
    }
    write(&folder.path().join("test/b/1.jpg"), RED_BLUE);
    let info = describe("folder", Some(folder.path())).unwrap();
    assert_eq!((info.channels, info.held_out), (3, 2));
    assert_eq!(read(folder.path(), 16).train.channels, 3);
}

#[test]
fn pictures_of_many_sizes_have_a_usual_side() {
    let check = |sides: &[u32], expected: u32| {
        let folder = tempfile::tempdir().unwrap();
        for (index, &side) in sides.iter().enumerate() {
            let path = folder.path().join(format!("{}/{index}.png", index % 2));
            grey(&path, side, &vec![0; (side * side) as usize]);
        }
        let info = describe("folder", Some(folder.path())).unwrap();
        assert_eq!(info.side, expected);
    };
    check(&[300, 300, 300], 300);
    check(&[300, 300, 301], 224);
    check(&[10, 20, 30, 31], 30);
}

fn check_error(folder: &Path, expected: &[&str]) {
    let error = load(&request(folder, 8)).unwrap_err().to_string();
    for expected in expected {
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_picture_that_is_none_is_named() {
    let check = |bytes: &[u8], name: &str, expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        write_classes(folder.path(), &[("a", 5), ("b", 5)]);
        let path = folder.path().join("b").join(name);
        write(&path, bytes);
        check_error(folder.path(), &[expected, path.to_str().unwrap()]);
    };
    check(b"", "9.png", "neither PNG nor JPEG");
    check(b"GIF89a", "9.jpg", "neither PNG nor JPEG");
    check(b"\x89PNG\r\n\x1a\n", "9.png", "cannot be used");
    check(&NOISE[..NOISE.len() / 2], "9.jpg", "cannot be used");
    check(&NOISE[..20], "9.jpg", "cannot be used");
    check(
        &PROGRESSIVE[..PROGRESSIVE.len() - 40],
        "9.jpg",
        "cannot be used",
    );
    check(b"BM", "9.bmp", "convert it");
    // A picture of 65535 × 65535 pixels, or so its header says.
    let frame = NOISE.windows(2).position(|w| w == [0xFF, 0xC0]).unwrap();
    let mut enormous = NOISE.to_vec();
    enormous[frame + 5..frame + 9].fill(0xFF);
    check(&enormous, "9.jpg", "cannot be used");
}

#[test]
fn a_folder_that_is_laid_out_otherwise_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    check_error(path, &["has 0 classes", "train/CLASS"]);
    check_error(&path.join("nowhere"), &["cannot read", "nowhere"]);
    write_classes(path, &[("a", 1)]);
    check_error(path, &["has 1 classes"]);
    write_classes(&path.join("train"), &[("a", 1), ("b", 1)]);
    write_classes(&path.join("test"), &[("c", 1)]);
    check_error(path, &["held-out pictures of `c`"]);
    let without = DataRequest {
        data_dir: None,
        ..request(path, 8)
    };
    let error = load(&without).unwrap_err().to_string();
    assert!(error.contains("set their folder as `data_dir`"), "{error}");
    std::os::unix::fs::symlink(path.join("train"), path.join("train/a/again")).unwrap();
    check_error(path, &["endlessly nested"]);
}
