//! What an empty conversation shows: the name, what the model is or how far its loading is, and how to begin.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::state::Engine;
use crate::app::{Action, CommandId, State};
use crate::text::sanitize_line;
use crate::ui::markdown::wrap::{Piece, Prefix, columns, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::figures::{bytes, gauge, parameters};

/// Cells of the bar while a model is loaded.
const CELLS: usize = 24;
/// Widest that words are set: longer lines are hard to read.
const WIDEST: u16 = 64;

/// Draws it in the middle of `area`.
pub(in crate::ui) fn draw(state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let width = area.width.saturating_sub(4).min(WIDEST);
    let lines = page(state, look, usize::from(width), usize::from(area.height));
    let height = (lines.len() as u16).min(area.height);
    let place = Rect {
        y: area.y + (area.height - height) / 2,
        height,
        ..area
    };
    for (row, line) in lines.into_iter().take(usize::from(height)).enumerate() {
        frame.render_widget(
            line.centered(),
            Rect {
                y: place.y + row as u16,
                height: 1,
                ..place
            },
        );
    }
}

/// As much as `height` lines hold; how to go on is the last thing to go.
fn page(state: &State, look: Look<'_>, width: usize, height: usize) -> Vec<Line<'static>> {
    let name = vec![Line::styled("quipu", look.theme.style(Role::Heading)), Line::default()];
    let blank = vec![Line::default()];
    let (all, brief) = (
        model(state, look, width, Words::All),
        model(state, look, width, Words::Brief),
    );
    let keys = vec![hint_line(look)];
    let pages = [
        [name, all.clone(), blank.clone(), hints(look)].concat(),
        [all, blank.clone(), keys.clone()].concat(),
        [brief.clone(), blank, keys.clone()].concat(),
        [brief, keys.clone()].concat(),
    ];
    let fits = |lines: &Vec<Line<'static>>| lines.len() <= height;
    pages.into_iter().find(fits).unwrap_or(keys)
}

/// How much is said of a model.
#[derive(Clone, Copy, PartialEq)]
enum Words {
    /// What it is.
    Brief,
    /// And what to think of it.
    All,
}

fn model(state: &State, look: Look<'_>, width: usize, how: Words) -> Vec<Line<'static>> {
    let (dim, text) = (look.theme.style(Role::Dim), look.theme.style(Role::Text));
    match &state.engine {
        Engine::Loading {
            step,
            done,
            total,
            since,
            ..
        } => {
            let part = if *total == 0 { 0.0 } else { *done as f64 / *total as f64 };
            let (full, empty) = gauge(part, CELLS.min(width));
            let bar = vec![
                Span::styled(full, look.theme.style(Role::GaugeFull)),
                Span::styled(empty, look.theme.style(Role::GaugeEmpty)),
            ];
            let percent = format!("{step}  {:.0} %", part * 100.0);
            let seconds = format!("  ·  {} s", state.now.saturating_sub(*since).as_secs());
            let amount = format!("  ·  {} of {}", bytes(*done), bytes(*total));
            // As much of it as there is room for.
            let fits = |words: &String| columns(words) <= width;
            let words = [format!("{percent}{amount}{seconds}"), format!("{percent}{seconds}")];
            let words = words.into_iter().find(fits).unwrap_or(percent);
            vec![Line::from(bar), Line::styled(words, dim)]
        }
        Engine::Ready(model) => {
            let name = sanitize_line(&model.name).into_owned();
            let mut facts = vec![name, sanitize_line(&model.quantization).into_owned()];
            // A script has no weights.
            if model.parameters > 0 {
                facts.push(format!("{} parameters", parameters(model.parameters)));
            }
            facts.push(format!("context {}", model.context));
            facts.retain(|fact| !fact.is_empty());
            let facts = facts.join(" · ");
            let mut words = vec![Piece::new(facts, text)];
            if model.builtin && how == Words::All {
                let small = "\nA tiny model that is always there: it shows that everything works and knows little. \
                             For a real conversation: /model FILE, or quipu --model FILE";
                words.push(Piece::new(small, dim));
            }
            wrap(&words, width, &Prefix::default())
        }
        Engine::Failed(failure) => {
            let words = Piece::new(sanitize_line(&failure.message), look.theme.style(Role::NoticeError));
            wrap(&[words], width, &Prefix::default())
        }
        Engine::Dead(_) => vec![Line::styled(
            "the engine has stopped",
            look.theme.style(Role::NoticeError),
        )],
        Engine::Empty => vec![Line::styled("no model is loaded", dim)],
    }
}

/// Keys that help to begin, with what they do.
fn keys(look: Look<'_>) -> Vec<(String, &'static str)> {
    let keys = [
        (look.keymap.hint(Action::Send), "send"),
        (look.keymap.hint(Action::Run(CommandId::Help)), "keys and commands"),
        ("/".to_owned(), "commands"),
        (look.keymap.hint(Action::Run(CommandId::Quit)), "quit"),
    ];
    keys.into_iter().filter(|(chord, _)| !chord.is_empty()).collect()
}

/// One below the other.
fn hints(look: Look<'_>) -> Vec<Line<'static>> {
    let (key, dim) = (look.theme.style(Role::Key), look.theme.style(Role::Dim));
    let hint = |(chord, words)| Line::from(vec![Span::styled(chord, key), Span::styled(format!("  {words}"), dim)]);
    keys(look).into_iter().map(hint).collect()
}

/// All in one line.
fn hint_line(look: Look<'_>) -> Line<'static> {
    let (key, dim) = (look.theme.style(Role::Key), look.theme.style(Role::Dim));
    let hint = |(chord, words): (String, &'static str)| {
        // "keys and commands" is two words too long here.
        let words = words.split(' ').next().unwrap_or(words);
        [Span::styled(chord, key), Span::styled(format!(" {words}  "), dim)]
    };
    Line::from(keys(look).into_iter().flat_map(hint).collect::<Vec<_>>())
}
