//! PNG and JPEG files, decoded.

use std::io::{BufRead, Cursor, Seek};

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZByteReaderTrait;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::error::DataError;
use crate::resample::{resample_interleaved, resample_planes};

/// Larger ones are refused: their header may be all there is of them.
const LARGEST_SIDE: usize = 16_384;

const PNG_MAGIC: &[u8] = b"\x89PNG";
const JPEG_MAGIC: &[u8] = &[0xFF, 0xD8, 0xFF];

/// A decoded picture: bytes row after row, the channels (1 grey, 3 red, green, blue) side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub channels: u32,
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Of another size and with 1 or 3 channels, channel after channel: grey is repeated, colours
    /// become their brightness (ITU-R BT.601).
    pub fn planes(self, channels: u32, height: u32, width: u32) -> Vec<u8> {
        let (from, to) = ((self.height, self.width), (height, width));
        match (self.channels, channels) {
            (1, 1) => resample_planes(self.pixels, from, to),
            (1, _) => resample_planes(self.pixels, from, to).repeat(channels as usize),
            (_, 1) => {
                let (colours, _) = self.pixels.as_chunks::<3>();
                resample_planes(colours.iter().map(brightness).collect(), from, to)
            }
            _ if from == to => {
                let (colours, _) = self.pixels.as_chunks::<3>();
                let plane = |channel: usize| colours.iter().map(move |colour| colour[channel]);
                (0..3).flat_map(plane).collect()
            }
            _ => resample_interleaved::<3>(&self.pixels, from, to),
        }
    }
}

fn brightness(colour: &[u8; 3]) -> u8 {
    let [red, green, blue] = colour.map(u32::from);
    ((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8
}

/// What a picture's header tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureHeader {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) grey: bool,
}

/// As [`decode`], but a picture of more pixels is refused by its header, before memory is requested.
pub fn decode_within(bytes: &[u8], most_pixels: u64) -> Result<Picture, DataError> {
    let PictureHeader { width, height, .. } = header(Cursor::new(bytes))?;
    match u64::from(width) * u64::from(height) <= most_pixels {
        true => decode(bytes),
        false => Err(DataError::new(format!(
            "it has {width}×{height} pixels, but at most {most_pixels} are decoded"
        ))),
    }
}

/// Palettes are looked up, 16 bits become 8, transparency is left away.
pub fn decode(bytes: &[u8]) -> Result<Picture, DataError> {
    if bytes.starts_with(PNG_MAGIC) {
        decode_png(bytes)
    } else if bytes.starts_with(JPEG_MAGIC) {
        decode_jpeg(bytes)
    } else {
        Err(unknown())
    }
}

/// As PNG.
pub fn encode(picture: &Picture) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width, picture.height);
    encoder.set_color(match picture.channels {
        1 => png::ColorType::Grayscale,
        3 => png::ColorType::Rgb,
        _ => return Err(DataError::new("it has neither 1 nor 3 channels")),
    });
    let mut writer = encoder.write_header().map_err(DataError::new)?;
    writer
        .write_image_data(&picture.pixels)
        .map_err(DataError::new)?;
    writer.finish().map_err(DataError::new)?;
    Ok(bytes)
}

/// Reads no more of the file than its header.
pub(crate) fn header(mut file: impl BufRead + Seek) -> Result<PictureHeader, DataError> {
    let beginning = file.fill_buf().map_err(DataError::new)?;
    if beginning.starts_with(PNG_MAGIC) {
        let mut decoder = png::Decoder::new(file);
        let info = decoder.read_header_info().map_err(DataError::new)?;
        let grey = matches!(
            info.color_type,
            png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha
        );
        sized(info.width as usize, info.height as usize, grey)
    } else if beginning.starts_with(JPEG_MAGIC) {
        let mut decoder = JpegDecoder::new_with_options(file, jpeg_options());
        decoder.decode_headers().map_err(DataError::new)?;
        jpeg_header(&decoder)
    } else {
        Err(unknown())
    }
}

fn decode_png(bytes: &[u8]) -> Result<Picture, DataError> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    // Colour profiles and texts are not used, and may unpack to gigabytes.
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_ignore_text_chunk(true);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let info = decoder.read_header_info().map_err(DataError::new)?;
    sized(info.width as usize, info.height as usize, false)?;
    let mut reader = decoder.read_info().map_err(DataError::new)?;
    let bytes = reader.output_buffer_size().ok_or_else(too_large)?;
    let mut pixels = vec![0; bytes];
    let frame = reader.next_frame(&mut pixels).map_err(DataError::new)?;
    pixels.truncate(frame.buffer_size());
    let (kept, of) = match frame.color_type {
        png::ColorType::Grayscale => (1, 1),
        png::ColorType::GrayscaleAlpha => (1, 2),
        png::ColorType::Rgb => (3, 3),
        png::ColorType::Rgba => (3, 4),
        png::ColorType::Indexed => return Err(DataError::new("its palette is not used")),
    };
    if kept < of {
        let seen = pixels.chunks_exact(of).flat_map(|pixel| &pixel[..kept]);
        pixels = seen.copied().collect();
    }
    Ok(Picture {
        width: frame.width,
        height: frame.height,
        channels: kept as u32,
        pixels,
    })
}

fn decode_jpeg(bytes: &[u8]) -> Result<Picture, DataError> {
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(bytes), jpeg_options());
    decoder.decode_headers().map_err(DataError::new)?;
    let PictureHeader {
        width,
        height,
        grey,
    } = jpeg_header(&decoder)?;
    let (channels, space) = match grey {
        true => (1, ColorSpace::Luma),
        false => (3, ColorSpace::RGB),
    };
    decoder.set_options(jpeg_options().jpeg_set_out_colorspace(space));
    let pixels = decoder.decode().map_err(DataError::new)?;
    if pixels.len() != width as usize * height as usize * channels as usize {
        return Err(DataError::new("its colours cannot be converted to RGB"));
    }
    Ok(Picture {
        width,
        height,
        channels,
        pixels,
    })
}

fn jpeg_header(decoder: &JpegDecoder<impl ZByteReaderTrait>) -> Result<PictureHeader, DataError> {
    let info = decoder
        .info()
        .ok_or_else(|| DataError::new("its header is missing"))?;
    sized(info.width.into(), info.height.into(), info.components == 1)
}

/// Strict: a truncated file must not become a picture that is grey below.
fn jpeg_options() -> DecoderOptions {
    DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(LARGEST_SIDE)
        .set_max_height(LARGEST_SIDE)
}

fn sized(width: usize, height: usize, grey: bool) -> Result<PictureHeader, DataError> {
    match (1..=LARGEST_SIDE).contains(&width) && (1..=LARGEST_SIDE).contains(&height) {
        true => Ok(PictureHeader {
            width: width as u32,
            height: height as u32,
            grey,
        }),
        false => Err(too_large()),
    }
}

fn too_large() -> DataError {
    DataError::new(format!("its sides must be 1 to {LARGEST_SIDE} pixels"))
}

fn unknown() -> DataError {
    DataError::new("it is neither PNG nor JPEG by its first bytes")
}
