//! Many small images in one picture, for people to look at.

use crate::images::Images;
use crate::picture::Picture;

/// Pixels between the images.
const GAP: usize = 2;
const GAP_COLOUR: u8 = 128;

/// The images in rows of `columns`, as large as they are.
pub fn sheet(images: &Images, columns: usize) -> Picture {
    let columns = columns.clamp(1, images.len().max(1));
    let rows = images.len().div_ceil(columns).max(1);
    let (cell_width, cell_height) = (images.width as usize + GAP, images.height as usize + GAP);
    let (width, height) = (columns * cell_width + GAP, rows * cell_height + GAP);
    let channels = images.channels as usize;
    let mut pixels = vec![GAP_COLOUR; width * height * channels];
    for index in 0..images.len() {
        let left = GAP + index % columns * cell_width;
        let top = GAP + index / columns * cell_height;
        let plane = images.width as usize * images.height as usize;
        for (place, &value) in images.image(index).iter().enumerate() {
            let (channel, place) = (place / plane, place % plane);
            let x = left + place % images.width as usize;
            let y = top + place / images.width as usize;
            pixels[(y * width + x) * channels + channel] = value;
        }
    }
    Picture {
        width: width as u32,
        height: height as u32,
        channels: images.channels,
        pixels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{decode, encode};

    #[test]
    fn images_stand_in_rows() {
        let images = Images {
            channels: 1,
            height: 1,
            width: 1,
            pixels: vec![1, 2, 3],
            labels: vec![0; 3],
        };
        let picture = sheet(&images, 2);
        assert_eq!((picture.width, picture.height), (8, 8));
        let at = |x: usize, y: usize| picture.pixels[y * 8 + x];
        assert_eq!((at(2, 2), at(5, 2), at(2, 5), at(5, 5)), (1, 2, 3, 128));
        assert_eq!(decode(&encode(&picture).unwrap()).unwrap(), picture);
    }

    #[test]
    fn colours_stand_side_by_side() {
        let images = Images {
            channels: 3,
            height: 1,
            width: 2,
            pixels: vec![1, 2, 3, 4, 5, 6],
            labels: vec![0],
        };
        let picture = sheet(&images, 10);
        let begin = (2 * picture.width as usize + 2) * 3;
        assert_eq!(picture.pixels[begin..begin + 6], [1, 3, 5, 2, 4, 6]);
        assert_eq!(decode(&encode(&picture).unwrap()).unwrap(), picture);
    }

    #[test]
    fn no_images_are_a_picture_too() {
        assert!(encode(&sheet(&Images::default(), 0)).is_err());
        let none = Images {
            channels: 1,
            height: 2,
            width: 2,
            ..Images::default()
        };
        assert!(encode(&sheet(&none, 3)).is_ok());
    }
}
