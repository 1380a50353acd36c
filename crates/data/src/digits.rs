//! Drawn digits: images that a network can learn, made from a seed alone.
//!
//! Only additions, multiplications, divisions and square roots of `f32` are used, which IEEE 754
//! fixes to the last bit, so that every machine draws the same images.

use std::ops::Range;

use crate::images::Images;
use crate::random::Random;
use crate::raster::Cover;
use crate::strokes::{self, Point, Stroke};

/// Which images; part of every image's place in the random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// White pen on black, some noise: 28 × 28.
    Grey,
    /// Any two colours, other lines in the way: 32 × 32.
    Colour,
}

impl Style {
    pub(crate) fn side(self) -> u32 {
        match self {
            Style::Grey => 28,
            Style::Colour => 32,
        }
    }

    pub(crate) fn channels(self) -> u32 {
        match self {
            Style::Grey => 1,
            Style::Colour => 3,
        }
    }
}

/// A row of images without end; the first ones do not depend on how many are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    pub(crate) style: Style,
    pub(crate) seed: u64,
    /// Training and held-out images are different series.
    pub(crate) held_out: bool,
}

impl Series {
    pub(crate) fn draw(self, rows: Range<usize>) -> Images {
        let mut images = Images {
            channels: self.style.channels(),
            height: self.style.side(),
            width: self.style.side(),
            ..Images::default()
        };
        for index in rows {
            let label = self.label(index);
            images.labels.push(label.into());
            self.image(index, label, &mut images.pixels);
        }
        images
    }

    /// Every ten images hold each digit once, in an order of their own.
    pub(crate) fn label(self, index: usize) -> u8 {
        let mut labels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        self.random(LABELS, index / 10).shuffle(&mut labels);
        labels[index % 10]
    }

    fn image(self, index: usize, label: u8, pixels: &mut Vec<u8>) {
        let mut random = self.random(PIXELS, index);
        let side = self.style.side() as f32;
        let digit = pen_way(label, side, &mut random);
        match self.style {
            Style::Grey => grey(&digit, side as usize, &mut random, pixels),
            Style::Colour => colour(&digit, side as usize, &mut random, pixels),
        }
    }

    fn random(self, purpose: u64, index: usize) -> Random {
        Random::at(&[
            self.seed,
            purpose,
            u64::from(self.held_out),
            u64::from(self.style.channels()),
            index as u64,
        ])
    }
}

const LABELS: u64 = 1;
const PIXELS: u64 = 2;

/// One digit as it is to be drawn, in pixels.
struct PenWay {
    strokes: Vec<Vec<Point>>,
    radius: f32,
}

fn pen_way(label: u8, side: f32, random: &mut Random) -> PenWay {
    let height = side * random.between(0.58, 0.72);
    let width = height * random.between(0.6, 0.8);
    let slant = random.between(-0.12, 0.18);
    let turn = half_angle_turn(random.between(-0.07, 0.07));
    let centre = Point {
        x: side * random.between(0.44, 0.56),
        y: side * random.between(0.44, 0.56),
    };
    let radius = side * random.between(0.036, 0.06);
    let mut place = |&(x, y): &(f32, f32)| {
        let jitter = 0.04;
        let y = (y - 0.5 + random.between(-jitter, jitter)) * height;
        let x = (x - 0.5 + random.between(-jitter, jitter)) * width - slant * y;
        Point {
            x: centre.x + turn.cosine * x - turn.sine * y,
            y: centre.y + turn.sine * x + turn.cosine * y,
        }
    };
    let mut trace = |stroke: &Stroke| {
        let points: Vec<Point> = stroke.points().iter().map(&mut place).collect();
        strokes::trace(*stroke, &points)
    };
    PenWay {
        strokes: strokes::of(label).iter().map(&mut trace).collect(),
        radius,
    }
}

struct Turn {
    cosine: f32,
    sine: f32,
}

/// The turn whose half angle has this tangent: no trigonometric function, whose last bits differ
/// between machines, is needed.
fn half_angle_turn(tangent: f32) -> Turn {
    let squared = tangent * tangent;
    Turn {
        cosine: (1.0 - squared) / (1.0 + squared),
        sine: 2.0 * tangent / (1.0 + squared),
    }
}

fn grey(digit: &PenWay, side: usize, random: &mut Random, pixels: &mut Vec<u8>) {
    let cover = cover(digit, side);
    let ink = random.between(0.65, 1.0);
    let paper = random.between(0.0, 0.12);
    let noise = random.between(0.02, 0.16);
    pixels.extend(
        cover
            .values
            .iter()
            .map(|covered| to_byte(paper + covered * (ink - paper) + noise * spread(random))),
    );
}

fn colour(digit: &PenWay, side: usize, random: &mut Random, pixels: &mut Vec<u8>) {
    let paper = any_colour(random);
    let ink = contrasting(paper, random);
    let mut clutter = Cover::new(side);
    for _ in 0..random.below(4) {
        let limit = side as f32;
        let mut end = || Point {
            x: random.between(0.0, limit),
            y: random.between(0.0, limit),
        };
        let way = [end(), end()];
        clutter.draw(&way, digit.radius * 0.5);
    }
    let scratch = any_colour(random);
    let strength = random.between(0.15, 0.45);
    let noise = random.between(0.02, 0.1);
    let cover = cover(digit, side);
    // Light falls from one side: the paper's brightness changes across the image.
    let slope = Point {
        x: random.between(-0.15, 0.15),
        y: random.between(-0.15, 0.15),
    };
    for channel in 0..3 {
        for (index, (covered, cluttered)) in cover.values.iter().zip(&clutter.values).enumerate() {
            let (x, y) = (
                (index % side) as f32 / side as f32 - 0.5,
                (index / side) as f32 / side as f32 - 0.5,
            );
            let back = paper[channel] + slope.x * x + slope.y * y;
            let back = back + cluttered * strength * (scratch[channel] - back);
            pixels.push(to_byte(
                back + covered * (ink[channel] - back) + noise * spread(random),
            ));
        }
    }
}

fn cover(digit: &PenWay, side: usize) -> Cover {
    let mut cover = Cover::new(side);
    for stroke in &digit.strokes {
        cover.draw(stroke, digit.radius);
    }
    cover
}

type Colour = [f32; 3];

fn any_colour(random: &mut Random) -> Colour {
    [random.unit(), random.unit(), random.unit()]
}

/// A colour whose brightness is far from that of the other: drawn anew until it is, and pure
/// black or white when that takes too long.
fn contrasting(other: Colour, random: &mut Random) -> Colour {
    for _ in 0..16 {
        let colour = any_colour(random);
        if (brightness(colour) - brightness(other)).abs() > 0.35 {
            return colour;
        }
    }
    if brightness(other) > 0.5 {
        [0.0; 3]
    } else {
        [1.0; 3]
    }
}

/// Luma of ITU-R BT.601.
fn brightness([red, green, blue]: Colour) -> f32 {
    0.299 * red + 0.587 * green + 0.114 * blue
}

/// From −1 to 1, mostly near 0: the sum of two even ones.
fn spread(random: &mut Random) -> f32 {
    let bits = random.next_u64();
    let half = |bits: u64| (bits as u32 >> 8) as f32 / (1u32 << 24) as f32;
    half(bits >> 32) + half(bits) - 1.0
}

fn to_byte(value: f32) -> u8 {
    (value * 255.0).round().clamp(0.0, 255.0) as u8
}
