//! Colours of a site's own, made readable: what stands on the accent is black or white, whichever can be read, and
//! an accent for the dark is lighter until it can be. WCAG 2.2, 1.4.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contrast that text needs.
const CONTRAST_MIN: f64 = 4.5;
/// What a page is drawn on, in light and in the dark, unless something else is said: as in `answer.css`.
const PAPERS: [Rgb; 2] = [Rgb(0xfb, 0xfa, 0xf7), Rgb(0x13, 0x17, 0x16)];
const BLACK: Rgb = Rgb(0x10, 0x14, 0x13);
const WHITE: Rgb = Rgb(0xff, 0xff, 0xff);

/// Colours as `#rrggbb` or `#rgb`. What is left out stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Palette {
    /// Links, buttons and what was matched.
    pub accent: Option<String>,
    /// Text.
    pub ink: Option<String>,
    /// What everything stands on.
    pub paper: Option<String>,
    /// Cards and boxes.
    pub card: Option<String>,
}

impl Palette {
    fn named(&self) -> [(&'static str, Option<&str>); 4] {
        [
            ("accent", self.accent.as_deref()),
            ("ink", self.ink.as_deref()),
            ("paper", self.paper.as_deref()),
            ("card", self.card.as_deref()),
        ]
    }

    /// The keys whose values are no colours, with these.
    pub(crate) fn wrong(&self) -> Vec<(&'static str, &str)> {
        let named = self.named().into_iter().filter_map(|(key, value)| Some((key, value?)));
        named.filter(|(_, value)| Rgb::parse(value).is_none()).collect()
    }

    fn colour(&self, key: &str) -> Option<Rgb> {
        self.named().into_iter().find(|(name, _)| *name == key).and_then(|(_, value)| Rgb::parse(value?))
    }
}

/// The colours of a site, in light and in the dark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Colours {
    /// Custom properties of CSS, for light.
    light: Vec<(&'static str, Rgb)>,
    dark: Vec<(&'static str, Rgb)>,
}

impl Colours {
    /// Colours for both. What the dark leaves out is taken from light where it can be read.
    pub(crate) fn new(light: &Palette, dark: &Palette) -> Self {
        let from_light = light.colour("accent").filter(|_| dark.accent.is_none());
        let [day, night] = PAPERS;
        let night = dark.colour("paper").unwrap_or(night);
        let lightened = from_light.map(|accent| accent.readable_on(night));
        Self {
            light: properties(light, light.colour("accent"), light.colour("paper").unwrap_or(day)),
            dark: properties(dark, dark.colour("accent").or(lightened), night),
        }
    }

    /// What goes behind the style of a page; empty where nothing is said.
    pub(crate) fn css(&self) -> String {
        let of = |properties: &[(&str, Rgb)]| -> String {
            properties.iter().map(|(name, colour)| format!("--{name}:{};", colour.written())).collect()
        };
        let (light, dark) = (of(&self.light), of(&self.dark));
        let mut css = String::new();
        if !light.is_empty() {
            css.push_str(&format!("\n:root{{{light}}}\n"));
        }
        if !light.is_empty() || !dark.is_empty() {
            // Light colours would hold in the dark too, where nothing else is said.
            let rest: String = self
                .light
                .iter()
                .filter(|(name, _)| !self.dark.iter().any(|(own, _)| own == name))
                .map(|(name, _)| usual_dark(name).map_or_else(String::new, |colour| format!("--{name}:{colour};")))
                .collect();
            css.push_str(&format!("@media (prefers-color-scheme: dark){{:root{{{rest}{dark}}}}}\n"));
        }
        css
    }

    /// The accent in light and in the dark, where the site has one, or `on-accent`, what stands on it.
    pub(crate) fn pair(&self, property: &str) -> Option<[String; 2]> {
        let of = |properties: &[(&str, Rgb)]| {
            properties.iter().find(|(name, _)| *name == property).map(|(_, colour)| colour.written())
        };
        Some([of(&self.light)?, of(&self.dark)?])
    }
}

/// What `answer.css` has in the dark.
fn usual_dark(name: &str) -> Option<&'static str> {
    match name {
        "ink" => Some("#e6eae8"),
        "paper" => Some("#131716"),
        "card" => Some("#1a1f1e"),
        _ => None,
    }
}

fn properties(palette: &Palette, accent: Option<Rgb>, paper: Rgb) -> Vec<(&'static str, Rgb)> {
    let mut all: Vec<(&'static str, Rgb)> =
        ["ink", "paper", "card"].into_iter().filter_map(|key| Some((key, palette.colour(key)?))).collect();
    if let Some(accent) = accent {
        all.push(("accent", accent.readable_on(paper)));
        all.push(("on-accent", accent.readable_on(paper).counterpart()));
    }
    all
}

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rgb(u8, u8, u8);

impl Rgb {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let two = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let one = |at: usize| u8::from_str_radix(&digits.get(at..=at)?.repeat(2), 16).ok();
        match digits.len() {
            3 => Some(Self(one(0)?, one(1)?, one(2)?)),
            6 => Some(Self(two(0)?, two(2)?, two(4)?)),
            _ => None,
        }
    }

    fn written(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Black or white, whichever is read better on it.
    fn counterpart(self) -> Self {
        if self.contrast(WHITE) >= self.contrast(BLACK) { WHITE } else { BLACK }
    }

    /// The same, nearer to the counterpart of `paper` until it can be read on it.
    fn readable_on(self, paper: Self) -> Self {
        let ink = paper.counterpart();
        let mixed = |share: u16| {
            let mix = |a: u8, b: u8| {
                let mixed = (u16::from(a) * (20 - share) + u16::from(b) * share) / 20;
                u8::try_from(mixed).unwrap_or(u8::MAX)
            };
            Self(mix(self.0, ink.0), mix(self.1, ink.1), mix(self.2, ink.2))
        };
        // In steps of a twentieth, so that the accent keeps as much of its hue as can be read.
        (0..=20).map(mixed).find(|colour| colour.contrast(paper) >= CONTRAST_MIN).unwrap_or(ink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn palette(accent: &str) -> Palette {
        Palette { accent: Some(accent.to_owned()), ..Palette::default() }
    }

    #[test]
    fn every_accent_can_be_read_on_its_paper_and_text_on_it() {
        for accent in ["#000", "#fff", "#ffff00", "#a8321e", "#1f6b58", "#808080", "#00f"] {
            let colours = Colours::new(&palette(accent), &Palette::default());
            for (properties, paper) in [(&colours.light, PAPERS[0]), (&colours.dark, PAPERS[1])] {
                let of = |key: &str| properties.iter().find(|(name, _)| *name == key).unwrap().1;
                assert!(of("accent").contrast(paper) >= CONTRAST_MIN, "{accent}");
                assert!(of("accent").contrast(of("on-accent")) >= CONTRAST_MIN, "{accent}");
            }
        }
    }

    #[test]
    fn only_colours_are_colours() {
        for text in ["red", "#12", "#12345g", "1f6b58", "#1f6b58;}", "#ééé", "", "#12345678"] {
            assert_eq!(palette(text).wrong(), [("accent", text)], "{text}");
        }
        assert!(palette("#1F6b58").wrong().is_empty() && palette("#abc").wrong().is_empty());
        assert_eq!(Rgb::parse("#abc").map(Rgb::written).as_deref(), Some("#aabbcc"));
    }

    #[test]
    fn light_colours_do_not_hold_in_the_dark() {
        let light = Palette { paper: Some("#ffffff".to_owned()), ..Palette::default() };
        let css = Colours::new(&light, &Palette::default()).css();
        assert!(css.contains("--paper:#ffffff;") && css.contains("dark){:root{--paper:#131716;}}"), "{css}");
        assert_eq!(Colours::default().css(), "");
    }
}
