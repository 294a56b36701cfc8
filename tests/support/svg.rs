//! A screen as a picture: what the terminal emulator has in its cells, as SVG, in the colours that the program asked for.

use std::fmt::Write;

/// Columns and rows of a cell in the picture's units.
const CELL: (f64, f64) = (8.4, 18.0);
/// Around the screen.
const MARGIN: f64 = 10.0;

/// The sixteen colours of the terminal that the pictures show, the ground and the text.
const PALETTE: [&str; 16] = [
    "#1c1f26", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae2", "#6b7183", "#f08a8a",
    "#b5d99c", "#f0d9a0", "#8fc7ff", "#dda0f0", "#8fd8e0", "#ffffff",
];
const GROUND: &str = "#16181f";
const TEXT: &str = "#d7dae2";

/// What cells of one look share.
#[derive(Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "a cell's own switches")]
struct Look {
    fg: String,
    bg: Option<String>,
    bold: bool,
    italic: bool,
    underline: bool,
    dim: bool,
}

fn color(color: vt100::Color) -> Option<String> {
    match color {
        vt100::Color::Default => None,
        vt100::Color::Idx(n) => Some(PALETTE[usize::from(n) % 16].to_owned()),
        vt100::Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
    }
}

fn look(cell: &vt100::Cell) -> Look {
    let (fg, bg) = (color(cell.fgcolor()), color(cell.bgcolor()));
    let (fg, bg) = if cell.inverse() {
        (
            Some(bg.unwrap_or_else(|| GROUND.to_owned())),
            Some(fg.unwrap_or_else(|| TEXT.to_owned())),
        )
    } else {
        (fg, bg)
    };
    Look {
        fg: fg.unwrap_or_else(|| TEXT.to_owned()),
        bg,
        bold: cell.bold(),
        italic: cell.italic(),
        underline: cell.underline(),
        dim: cell.dim(),
    }
}

/// The screen as SVG: for each run of cells of one look its ground and its text.
pub(crate) fn svg(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let width = f64::from(columns.get()) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(rows.get()) * CELL.1 + 2.0 * MARGIN;
    let ground = screen.cell(0, 0).and_then(|cell| color(cell.bgcolor()));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, Menlo, Consolas, \
         'DejaVu Sans Mono', monospace\" font-size=\"14\"><rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        ground.as_deref().unwrap_or(GROUND)
    );
    for row in 0..rows.get() {
        let mut column = 0;
        while column < columns.get() {
            let begin = column;
            let Some(first) = screen.cell(row, column).map(look) else {
                break;
            };
            let mut text = String::new();
            while let Some(cell) = screen.cell(row, column).filter(|cell| look(cell) == first) {
                let blank = if cell.is_wide_continuation() { "" } else { " " };
                text.push_str(if cell.has_contents() { cell.contents() } else { blank });
                column += 1;
            }
            run(&mut out, &first, &text, (row, begin, column));
        }
    }
    out + "</svg>\n"
}

fn run(out: &mut String, look: &Look, text: &str, (row, begin, end): (u16, u16, u16)) {
    let x = f64::from(begin) * CELL.0 + MARGIN;
    let y = f64::from(row) * CELL.1 + MARGIN;
    let width = f64::from(end - begin) * CELL.0;
    if let Some(bg) = &look.bg {
        let height = CELL.1 + 0.5;
        writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{bg}\"/>"
        )
        .unwrap();
    }
    if text.trim().is_empty() {
        return;
    }
    let mut more = String::new();
    for (on, attribute) in [
        (look.bold, " font-weight=\"bold\""),
        (look.italic, " font-style=\"italic\""),
        (look.underline, " text-decoration=\"underline\""),
        (look.dim, " opacity=\"0.6\""),
    ] {
        if on {
            more.push_str(attribute);
        }
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (fg, base) = (&look.fg, y + 14.0);
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{base:.1}\" fill=\"{fg}\"{more} textLength=\"{width:.1}\" xml:space=\"preserve\">{text}</text>"
    )
    .unwrap();
}
