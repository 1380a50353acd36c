//! CIFAR-10 as large pictures → the binary batches that are published.

use data::picture::Picture;

const IMAGE_PIXELS: usize = 32 * 32;

/// Every row of the sheet is one image, its 32 × 32 pixels one after the other; a record of a batch
/// is the label, then all red, all green and all blue bytes.
pub(crate) fn batch(sheet: &Picture, labels: &[u8]) -> Result<Vec<u8>, String> {
    let (width, rows) = (sheet.width as usize, sheet.height as usize);
    if width != IMAGE_PIXELS || sheet.channels != 3 {
        return Err(format!(
            "is {width} pixels wide with {} channels, expected {IMAGE_PIXELS} with 3",
            sheet.channels
        ));
    }
    if rows != labels.len() {
        return Err(format!("has {rows} images and {} labels", labels.len()));
    }
    let mut records = Vec::with_capacity(rows * (1 + 3 * IMAGE_PIXELS));
    for (row, &label) in sheet.pixels.chunks_exact(3 * IMAGE_PIXELS).zip(labels) {
        records.push(label);
        for channel in 0..3 {
            records.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(rows: u32) -> Picture {
        let pixels = (0..rows as usize * IMAGE_PIXELS).flat_map(|p| [p as u8, 100, 200]);
        Picture {
            width: 1024,
            height: rows,
            channels: 3,
            pixels: pixels.collect(),
        }
    }

    #[test]
    fn colours_come_apart() {
        let records = batch(&sheet(2), &[4, 9]).unwrap();
        assert_eq!(records.len(), 2 * 3073);
        assert_eq!((records[0], records[3073]), (4, 9));
        assert_eq!(records[1..4], [0, 1, 2]);
        assert_eq!(records[1025..2049], [100; 1024]);
        assert_eq!(records[2049..3073], [200; 1024]);
        assert_eq!(records[3074..3076], [0, 1]);
    }

    #[test]
    fn other_pictures_are_refused() {
        let check = |sheet: Picture, labels: &[u8], expected: &str| {
            let problem = batch(&sheet, labels).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        };
        check(sheet(2), &[1], "2 images and 1 labels");
        check(
            Picture {
                width: 512,
                ..sheet(2)
            },
            &[1, 2],
            "512 pixels wide",
        );
        check(
            Picture {
                channels: 1,
                ..sheet(2)
            },
            &[1, 2],
            "with 1 channels",
        );
    }
}
