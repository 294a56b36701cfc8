//! Colours by name or number, and what a terminal can show of them.

use ratatui::style::Color;

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorDepth {
    /// None: bold, dim and underline only.
    None,
    /// The sixteen of its own palette.
    Ansi16,
    /// The 256 of xterm.
    Ansi256,
    /// 24 bits.
    TrueColor,
}

impl ColorDepth {
    /// What the variables `NO_COLOR`, `TERM` and `COLORTERM` say of the terminal.
    pub fn from_env(no_color: Option<&str>, term: Option<&str>, colorterm: Option<&str>) -> Self {
        let term = term.unwrap_or_default();
        if no_color.is_some_and(|value| !value.is_empty()) || term == "dumb" {
            Self::None
        } else if matches!(colorterm, Some("truecolor" | "24bit")) || term.ends_with("-direct") {
            Self::TrueColor
        } else if term.contains("256color") {
            Self::Ansi256
        } else {
            Self::Ansi16
        }
    }

    /// The nearest colour that is shown; `None` where none is.
    pub(super) fn show(self, color: Color) -> Option<Color> {
        match (self, color) {
            (Self::None, _) => None,
            (Self::Ansi256, Color::Rgb(r, g, b)) => Some(Color::Indexed(nearest_256(r, g, b))),
            (Self::Ansi16, Color::Rgb(r, g, b)) => Some(nearest_16(r, g, b)),
            (_, color) => Some(color),
        }
    }
}

/// The nearest entry of xterm's colour cube and grey ramp (16 to 255), whose values every terminal agrees on.
fn nearest_256(r: u8, g: u8, b: u8) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |c: u8| (0..6).min_by_key(|&i| STEPS[i].abs_diff(c)).unwrap_or(0);
    let (cr, cg, cb) = (step(r), step(g), step(b));
    let cube = (STEPS[cr], STEPS[cg], STEPS[cb]);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey_index = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = 8 + 10 * grey_index;
    if distance((r, g, b), (grey, grey, grey)) < distance((r, g, b), cube) {
        232 + grey_index
    } else {
        (16 + 36 * cr + 6 * cg + cb) as u8
    }
}

/// The sixteen colours as xterm draws them by default; terminals differ, but the hue stays.
const ANSI: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

fn nearest_16(r: u8, g: u8, b: u8) -> Color {
    ANSI.iter()
        .min_by_key(|(_, rgb)| distance((r, g, b), *rgb))
        .map_or(Color::Reset, |(color, _)| *color)
}

/// Squared distance in RGB: crude, and enough to choose among few.
fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let d = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    d(a.0, b.0) + d(a.1, b.1) + d(a.2, b.2)
}

/// Reads `#rrggbb`, or the name of one of the terminal's own sixteen colours, or `default`.
pub(super) fn parse(text: &str) -> Option<Color> {
    if let Some(hex) = text.strip_prefix('#') {
        // The number's own reader would take a sign for a digit.
        if hex.len() != 6 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(hex, 16).ok()?;
        let [_, r, g, b] = value.to_be_bytes();
        return Some(Color::Rgb(r, g, b));
    }
    let (_, color) = NAMES.iter().find(|(name, _)| *name == text)?;
    Some(*color)
}

/// The names that a theme may use for the terminal's own colours.
pub(super) const NAMES: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];
