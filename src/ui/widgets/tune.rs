//! The panel in which sampling is tuned: the settings with their sliders, a line on the selected one, and what they would make of the
//! newest token, candidate by candidate. The distribution is computed here, from what the engine left, and waits for nobody.

use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use crate::app::State;
use crate::app::click::Click;
use crate::app::tune::TunePanel;
use crate::domain::Sampling;
use crate::domain::outlook::{Outlook, Seen, outlook};
use crate::domain::prospect::Prospect;
use crate::domain::sampling::{PARAMETERS, Parameter};
use crate::text::sanitize_line;
use crate::ui::hits::Hits;
use crate::ui::markdown::wrap::{Piece, Prefix, columns, shorten, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::field;
use super::figures::gauge;
use super::overlay::boxed;
use super::token::visible;

/// Columns of the panel.
pub(in crate::ui) const WIDTH: u16 = 42;
/// Columns of a screen on which the conversation stands beside it; on narrower ones it lies over the conversation.
pub(in crate::ui) const BESIDE: u16 = 100;
/// Columns of a setting's name.
const NAME: usize = 18;
/// Columns of its value.
const VALUE: usize = 8;
/// Most lines about the selected setting.
const HELP: u16 = 3;
/// Candidates shown at most, and lines of the distribution besides them.
const CANDIDATES: usize = 12;
const AROUND: u16 = 3;
/// Lines of settings that are shown before any candidate is.
const SETTINGS: u16 = 6;
/// Columns of a candidate's text and of its number.
const TEXT: usize = 13;
const PERCENT: usize = 7;

/// What settings come to, until they or the token are others.
#[derive(Default)]
pub(in crate::ui) struct Cache {
    made_for: Option<(Arc<Prospect>, Sampling)>,
    outlook: Outlook,
}

impl Cache {
    fn outlook(&mut self, prospect: &Arc<Prospect>, settings: &Sampling) -> &Outlook {
        let same = |(known, of): &(Arc<Prospect>, Sampling)| Arc::ptr_eq(known, prospect) && of == settings;
        if !self.made_for.as_ref().is_some_and(same) {
            self.outlook = outlook(prospect, settings, CANDIDATES);
            self.made_for = Some((Arc::clone(prospect), settings.clone()));
        }
        &self.outlook
    }

    /// Draws the panel into `place`.
    pub(in crate::ui) fn draw(
        &mut self,
        panel: &TunePanel,
        state: &State,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        place: Rect,
        hits: &mut Hits,
    ) {
        let title = format!("tune · {}", sanitize_line(&state.tuning.label()));
        let inside = boxed(&title, None, look, frame, place);
        if !panel.focused {
            let border = look.theme.style(Role::Border);
            for at in place.positions().filter(|at| !inside.contains(*at)) {
                frame.buffer_mut()[at].set_style(border);
            }
        }
        let help = (inside.height / 4).clamp(1, HELP);
        // The settings give way only down to a few lines.
        let spare = inside.height.saturating_sub(SETTINGS + help);
        // A panel that says where they will be leaves room for its words.
        let all = state
            .prospect
            .as_ref()
            .map_or(2, |prospect| prospect.logits.len().min(CANDIDATES));
        let shown = spare.saturating_sub(AROUND).min(all as u16).min(inside.height / 3);
        let below = if shown < 2 { 0 } else { shown + AROUND };
        let [rows, help, rest] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(help), Constraint::Length(below)]).areas(inside);
        settings(panel, state, look, frame, rows, hits);
        explained(panel, state, look, frame, help);
        if below == 0 {
            return;
        }
        let Some(prospect) = &state.prospect else {
            let words = "what a token is drawn from shows here once one is said";
            let words = Piece::new(words, look.theme.style(Role::Dim));
            let lines = wrap(&[words], usize::from(rest.width), &Prefix::default());
            frame.render_widget(ratatui::text::Text::from(lines), rest);
            return;
        };
        let settings = &state.tuning.sampling;
        let outlook = self.outlook(prospect, settings);
        distribution(outlook, prospect, settings, look, frame, rest);
    }
}

/// The rows of the settings around the selected one.
fn settings(panel: &TunePanel, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let height = usize::from(area.height).max(1);
    let top = panel
        .selected
        .saturating_sub(height / 2)
        .min(TunePanel::ROWS.saturating_sub(height));
    for (y, at) in (area.y..area.bottom()).zip(top..TunePanel::ROWS) {
        let place = Rect { y, height: 1, ..area };
        let selected = at == panel.selected;
        hits.add(place, Click::Row(at));
        let Some(parameter) = at.checked_sub(1).map(|at| &PARAMETERS[at]) else {
            preset(state, look, frame, place);
            if selected {
                frame.buffer_mut().set_style(place, look.theme.style(Role::Selection));
            }
            continue;
        };
        if let Some(typing) = panel.typing.as_ref().filter(|_| selected) {
            field::draw(&format!("{:<NAME$}", parameter.name), typing, look, frame, place);
            continue;
        }
        if parameter.slider().is_some() {
            sliders(at, place, hits);
        }
        frame.render_widget(row(parameter, state, look, usize::from(area.width)), place);
        if selected {
            let style = look
                .theme
                .style(if panel.focused { Role::Selection } else { Role::Strong });
            frame.buffer_mut().set_style(place, style);
        }
    }
}

/// Each cell of a slider can be clicked.
fn sliders(at: usize, place: Rect, hits: &mut Hits) {
    let before = (NAME + VALUE + 1) as u16;
    let cells = place.width.saturating_sub(before);
    for cell in 0..cells {
        let along = u32::from(cell) * 1000 / u32::from(cells.saturating_sub(1).max(1));
        let place = Rect {
            x: place.x + before + cell,
            width: 1,
            ..place
        };
        hits.add(place, Click::Slider(at, along as u16));
    }
}

fn preset(state: &State, look: Look<'_>, frame: &mut Frame<'_>, place: Rect) {
    let words = format!("{:<NAME$}‹ {} ›", "preset", sanitize_line(&state.tuning.label()));
    let words = shorten(&words, usize::from(place.width));
    frame.render_widget(Line::styled(words, look.theme.style(Role::Overlay)), place);
}

/// A setting: its name, its value, and where that stands.
fn row(parameter: &Parameter, state: &State, look: Look<'_>, width: usize) -> Line<'static> {
    let settings = &state.tuning.sampling;
    let value = parameter.get(settings);
    let changed = state.tuning.chosen.iter().any(|(name, _)| *name == parameter.name);
    let off = parameter.off.is_some_and(|off| value.to_string() == *off);
    let style = look.theme.style(match () {
        () if changed => Role::Accent,
        () if off => Role::Dim,
        () => Role::Overlay,
    });
    let name = Span::styled(format!("{:<NAME$}", parameter.name), style);
    let slider = parameter.share(settings);
    let room = if slider.is_some() {
        VALUE
    } else {
        width.saturating_sub(NAME)
    };
    let words = shorten(&sanitize_line(&value.to_string()), room);
    let Some(share) = slider else {
        return Line::from(vec![name, Span::styled(words, style)]);
    };
    let pad = " ".repeat(VALUE.saturating_sub(columns(&words)));
    let cells = width.saturating_sub(NAME + VALUE + 1);
    let (full, empty) = if share <= 0.0 {
        (String::new(), gauge(0.0, cells).1 + "▱")
    } else {
        gauge(f64::from(share), cells)
    };
    let empty: String = empty.chars().take(cells - full.chars().count().min(cells)).collect();
    Line::from(vec![
        name,
        Span::styled(format!("{pad}{words} "), style),
        Span::styled(full, look.theme.style(Role::GaugeFull)),
        Span::styled(empty, look.theme.style(Role::GaugeEmpty)),
    ])
}

/// What the selected setting does, or the name that is typed.
fn explained(panel: &TunePanel, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    if let Some(name) = &panel.naming {
        field::draw(
            "keep as: ",
            name,
            look,
            frame,
            Rect {
                height: 1.min(area.height),
                ..area
            },
        );
        return;
    }
    let dim = look.theme.style(Role::Dim);
    let words = match panel.parameter() {
        Some(parameter) => format!("{} ({})", parameter.help, state.tuning.origin(parameter)),
        None => "left and right go through the presets".to_owned(),
    };
    let lines = wrap(&[Piece::new(words, dim)], usize::from(area.width), &Prefix::default());
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

/// What the settings come to for the newest token.
fn distribution(
    outlook: &Outlook,
    prospect: &Prospect,
    settings: &Sampling,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let width = usize::from(area.width);
    let (dim, line) = (look.theme.style(Role::Dim), look.theme.style(Role::Rule));
    let which = prospect
        .place
        .map_or_else(|| "last token".to_owned(), |place| format!("token {}", place + 1));
    let title = format!("─ {which} · kept {}/{} ", outlook.left, outlook.all);
    let title = shorten(&title, width);
    let fill = "─".repeat(width.saturating_sub(columns(&title)));
    let mut lines = vec![Line::styled(title + &fill, line)];
    let room = usize::from(area.height).saturating_sub(usize::from(AROUND));
    for seen in outlook.candidates.iter().take(room) {
        lines.push(candidate(seen, prospect, look, width));
    }
    lines.resize_with(room + 1, Line::default);
    let mut trail = String::new();
    for (stage, left) in &outlook.kept {
        // Writing to a string cannot fail.
        let _ = write!(trail, "{stage} {left} · ");
    }
    let last = if settings.mirostat > 0 { "mirostat" } else { "entropy" };
    let _ = write!(
        trail,
        "{last} {:.2} → {:.2} bit",
        outlook.entropy_before, outlook.entropy
    );
    lines.extend(wrap(&[Piece::new(trail, dim)], width, &Prefix::default()));
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

fn candidate(seen: &Seen, prospect: &Prospect, look: Look<'_>, width: usize) -> Line<'static> {
    let gone = seen.after <= 0.0;
    let said = seen.token == prospect.said;
    let style = look.theme.style(match () {
        () if gone => Role::Dim,
        () if said => Role::Accent,
        () => Role::Overlay,
    });
    let text = prospect
        .text(seen.token)
        .map_or_else(|| format!("#{}", seen.token.0), visible);
    let text = shorten(&text, TEXT - 1);
    let pad = " ".repeat(TEXT.saturating_sub(columns(&text)));
    let number = if gone {
        "–".to_owned()
    } else {
        format!("{:.1}%", seen.after * 100.0)
    };
    let number = " ".repeat(PERCENT.saturating_sub(columns(&number))) + &number;
    let room = width.saturating_sub(TEXT + PERCENT);
    let bar = bar(if gone { seen.before } else { seen.after }, room);
    let fill = " ".repeat(room.saturating_sub(columns(&bar)));
    let dress = look.theme.style(if gone { Role::GaugeEmpty } else { Role::GaugeFull });
    Line::from(vec![
        Span::styled(text + &pad, style),
        Span::styled(bar, dress),
        Span::styled(fill + &number, style),
    ])
}

/// A bar of `cells` cells filled to `share`, to the eighth of a cell.
fn bar(share: f32, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * cells) as f32).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_what_they_show_is_likely() {
        assert_eq!(
            [bar(0.0, 4), bar(0.5, 4), bar(1.0, 4), bar(0.25 + 1.0 / 64.0, 2)],
            ["", "██", "████", "▌"]
        );
    }
}
