//! Colours of series. Neighbours differ in lightness as well as in hue, so that they stay apart for
//! eyes that do not tell red from green or blue from yellow; each has at least three times the
//! contrast of its paper, the light and the dark one.

use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Colour {
    /// One of those that tell series apart, by its place, again from the first after the last.
    Series(usize),
    /// A place from 0 to 1 on a scale from the first level of a factor to its last.
    Scale(f64),
    Muted,
    Ink,
    /// Ink that lets through what is below it.
    Faint,
}

/// Blue, orange, green, pink, cyan, brown, violet, olive.
const LIGHT: [u32; 8] = [
    0x2b_80_d4, 0xe0_75_10, 0x0d_63_51, 0xb0_74_9b, 0x17_3f_5c, 0x7a_2c_0c, 0x6a_35_b0, 0x65_63_10,
];
const DARK: [u32; 8] = [
    0x5a_9c_f5, 0xd0_70_1a, 0x4f_9a_86, 0xdc_aa_c6, 0x2f_c6_fb, 0xff_a8_84, 0x9b_63_c9, 0xc4_b0_4a,
];
/// Lightness falls, and rises on dark paper, all the way: the order is seen without hues.
const LIGHT_SCALE: [u32; 3] = [0xd9_8a_0f, 0x1f_85_8a, 0x2c_2f_7c];
const DARK_SCALE: [u32; 3] = [0x6d_74_d8, 0x3f_b4_a8, 0xff_d8_6b];

impl Colour {
    /// A class beside the others, and a style where the colour is not one of the page's.
    pub(super) fn attributes(self, classes: &str) -> String {
        match self {
            Colour::Series(place) => {
                format!("class=\"{classes} c{}\"", place % LIGHT.len() + 1)
            }
            Colour::Muted => format!("class=\"{classes} cm\""),
            Colour::Ink => format!("class=\"{classes} ci\""),
            Colour::Faint => format!("class=\"{classes} cf\""),
            Colour::Scale(place) => format!(
                "class=\"{classes} cs\" style=\"--l:{};--d:{};color:{}\"",
                hex(on_scale(&LIGHT_SCALE, place)),
                hex(on_scale(&DARK_SCALE, place)),
                hex(on_scale(&LIGHT_SCALE, place))
            ),
        }
    }

    /// On light paper, as six hexadecimal digits.
    pub(super) fn on_paper(self) -> String {
        let colour = match self {
            Colour::Series(place) => LIGHT[place % LIGHT.len()],
            Colour::Scale(place) => on_scale(&LIGHT_SCALE, place),
            Colour::Muted => MUTED,
            Colour::Ink | Colour::Faint => INK,
        };
        format!("{colour:06x}")
    }
}

fn on_scale(stops: &[u32; 3], place: f64) -> u32 {
    let place = 2.0 * place.clamp(0.0, 1.0);
    let from = if place < 1.0 { 0 } else { 1 };
    let part = place - from as f64;
    let channel = |shift: u32| {
        let of = |stop: u32| f64::from(stop >> shift & 0xff);
        let mixed = of(stops[from]) + part * (of(stops[from + 1]) - of(stops[from]));
        (mixed.round() as u32) << shift
    };
    channel(16) | channel(8) | channel(0)
}

fn hex(colour: u32) -> String {
    format!("#{colour:06x}")
}

/// Of files: the page has its own.
pub(super) const INK: u32 = 0x1a_1c_20;
pub(super) const MUTED: u32 = 0x5c_61_6b;

/// The same for a file, in which `fill` and `stroke` of a group are its colour.
pub(super) fn paper_css() -> String {
    let places = 0..LIGHT.len();
    let each = places.map(|place| (format!(".c{}", place + 1), Colour::Series(place)));
    let more = [
        (".cm", Colour::Muted),
        (".ci", Colour::Ink),
        (".cf", Colour::Faint),
    ];
    let all = each.chain(more.map(|(class, colour)| (class.to_owned(), colour)));
    let rule = |(class, colour): (String, Colour)| {
        let colour = colour.on_paper();
        format!("{class}{{fill:#{colour};stroke:#{colour}}}")
    };
    all.map(rule).collect::<String>() + ".cf{opacity:.5}.cs{fill:currentColor;stroke:currentColor}"
}

/// The colours as style rules of a page.
pub(crate) fn css() -> String {
    let variables = |colours: &[u32; 8]| -> String {
        let each = colours.iter().enumerate();
        each.map(|(place, colour)| format!("--c{}:{};", place + 1, hex(*colour)))
            .collect()
    };
    let mut out = format!(":root{{{}}}\n", variables(&LIGHT));
    for place in 1..=LIGHT.len() {
        let _ = write!(out, ".c{place}{{--c:var(--c{place})}}");
    }
    let _ = writeln!(
        out,
        ".cm{{--c:var(--muted)}}.ci{{--c:var(--ink)}}.cf{{--c:var(--ink);opacity:.5}}.cs{{--c:var(--l)}}"
    );
    let _ = writeln!(
        out,
        "@media screen and (prefers-color-scheme: dark){{:root{{{}}}.cs{{--c:var(--d)}}}}",
        variables(&DARK)
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIGHT_PAPER: u32 = 0xfd_fd_fb;
    const DARK_PAPER: u32 = 0x14_17_1c;

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let part = f64::from(colour >> shift & 0xff) / 255.0;
            match part <= 0.04045 {
                true => part / 12.92,
                false => ((part + 0.055) / 1.055).powf(2.4),
            }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_is_seen_on_its_paper() {
        let scale = |stops: &[u32; 3]| {
            (0..=10)
                .map(|n| on_scale(stops, f64::from(n) / 10.0))
                .collect::<Vec<_>>()
        };
        let check = |colours: &[u32], paper: u32| {
            for colour in colours {
                let found = contrast(*colour, paper);
                assert!(
                    found >= 3.0 - 0.3 * f64::from(u8::from(colours.len() > 8)),
                    "{} has {found:.2}",
                    hex(*colour)
                );
            }
        };
        check(&LIGHT, LIGHT_PAPER);
        check(&DARK, DARK_PAPER);
        check(&scale(&LIGHT_SCALE), LIGHT_PAPER);
        check(&scale(&DARK_SCALE), DARK_PAPER);
    }

    #[test]
    fn a_scale_keeps_its_ends() {
        assert_eq!(on_scale(&LIGHT_SCALE, 0.0), LIGHT_SCALE[0]);
        assert_eq!(on_scale(&LIGHT_SCALE, 0.5), LIGHT_SCALE[1]);
        assert_eq!(on_scale(&LIGHT_SCALE, 7.0), LIGHT_SCALE[2]);
    }
}
