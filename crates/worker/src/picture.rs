//! A picture to send where a study names none: drawn, with the detail of a photograph, so that
//! decoding it costs what decoding a photograph costs.

use std::fs;
use std::path::{Path, PathBuf};

use jpeg_encoder::{ColorType, Encoder, EncodingError};
use seeded::SplitMix64;

const FOLDER: &str = "pictures";
/// What cameras and libraries usually write.
const QUALITY: u8 = 90;
/// Larger pictures take longer to decode than any of the zoo's networks to compute.
const LARGEST_SIDE: u32 = 4096;

/// A JPEG of this size in the cache; drawn where it is not there yet.
pub(crate) fn drawn(side: u32, cache: &Path) -> Result<PathBuf, String> {
    let side = side.clamp(1, LARGEST_SIDE) as u16;
    let path = cache.join(FOLDER).join(format!("drawn-{side}.jpg"));
    if path.is_file() {
        return Ok(path);
    }
    let bytes = encode(side).map_err(|error| error.to_string())?;
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(cache.join(FOLDER)).map_err(failed)?;
    host::write_whole(&path, bytes).map_err(failed)?;
    Ok(path)
}

fn encode(side: u16) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let pixels = pixels(usize::from(side));
    Encoder::new(&mut bytes, QUALITY).encode(&pixels, side, side, ColorType::Rgb)?;
    Ok(bytes)
}

/// Blobs of light on a slope, and grain.
fn pixels(side: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(side as u64);
    let mut unit = || random.next_u64() as f32 / u64::MAX as f32;
    struct Blob {
        x: f32,
        y: f32,
        width: f32,
        colour: [f32; 3],
    }
    let blobs: Vec<Blob> = (0..24)
        .map(|_| Blob {
            x: unit(),
            y: unit(),
            width: 0.02 + 0.2 * unit() * unit(),
            colour: [unit(), unit(), unit()],
        })
        .collect();
    let mut pixels = Vec::with_capacity(3 * side * side);
    for row in 0..side {
        for column in 0..side {
            let (x, y) = (column as f32 / side as f32, row as f32 / side as f32);
            let mut colour = [60.0 + 80.0 * x, 90.0 + 40.0 * y, 120.0 - 50.0 * x];
            for blob in &blobs {
                let (dx, dy) = (x - blob.x, y - blob.y);
                let light = 1.0 / (1.0 + (dx * dx + dy * dy) / (blob.width * blob.width));
                for (place, part) in colour.iter_mut().zip(blob.colour) {
                    *place += 90.0 * light * (part - 0.4);
                }
            }
            let grain = 12.0 * (unit() - 0.5);
            pixels.extend(colour.map(|part| (part + grain).clamp(0.0, 255.0) as u8));
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_drawn_once_and_has_detail() {
        let cache = std::env::temp_dir().join(format!("bancada-picture-{}", std::process::id()));
        let path = drawn(224, &cache).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(&[0xFF, 0xD8, 0xFF]));
        // A plain surface of this size would have three kilobytes.
        assert!((8_000..150_000).contains(&bytes.len()), "{}", bytes.len());
        let first = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(drawn(224, &cache).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), first);
        fs::remove_dir_all(cache).unwrap();
    }
}
