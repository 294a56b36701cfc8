//! The tokens of an answer, shaded by how sure the model was, and beside them what the selected one was drawn from: the candidates, what
//! each stage left of them, and the settings in force.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};

use crate::app::State;
use crate::app::inspector::{Inspector, Shade, UNSURE};
use crate::domain::Answer;
use crate::domain::inference::{Candidate, Report};
use crate::domain::inspection::{Piece, Summary, least_certain, pieces, settings, summary};
use crate::domain::sampling::{PARAMETERS, Sampling};
use crate::text::sanitize_line;
use crate::ui::markdown::wrap::{Piece as Words, Prefix, columns, shorten, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::overlay::boxed;
use super::token::{in_line, visible};
use super::{field, notice};

/// Columns from which on the candidates stand beside the tokens, and columns that they take then.
const BESIDE: u16 = 90;
const WIDTH: u16 = 46;
/// Columns of a candidate's text, where there is room and where there is little; of each of its figures, and of what became of it.
const TEXT: (usize, usize) = (6, 14);
const FIGURE: usize = 8;
const AFTER: usize = 14;
/// Lines above the candidates: the token's own figures, and the names of the columns.
const ABOVE: u16 = 3;

/// Probabilities below which a token is shaded more, and entropies in bits from which on.
const UNLIKELY: [f32; 3] = [0.5, 0.2, 0.05];
const OPEN: [f32; 3] = [1.0, 2.0, 3.5];

/// Stands before the token that a loop began with.
const LOOP: &str = "↻";

/// Draws it over `area`.
pub(in crate::ui) fn draw(inspector: &Inspector, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let message = state.conversation.get(inspector.answer);
    let Some(answer) = message.and_then(|message| message.answer.as_ref()) else {
        return;
    };
    let known = pieces(answer);
    let dim = look.theme.style(Role::Dim);
    let place = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    };
    let title = format!("tokens · shaded by {}", inspector.shade.name());
    let room = usize::from(place.width.saturating_sub(2));
    let foot = summary(&known).and_then(|summary| told(&summary, room));
    let foot = foot.map(|words| Line::styled(words, dim));
    let inside = boxed(&title, foot, look, frame, place);
    // What a key came to is told here: the line for it lies beneath.
    let told = notice::lines(state, look, inside.width, inside.height / 3);
    let rows = if state.screen.forced.is_some() {
        1
    } else {
        told.len() as u16
    };
    let [inside, below] = Layout::vertical([Constraint::Min(1), Constraint::Length(rows)]).areas(inside);
    if let Some(text) = &state.screen.forced {
        field::draw("instead: ", text, look, frame, below);
    } else {
        frame.render_widget(Text::from(told), below);
    }
    let beside = inside.width >= BESIDE;
    let [tokens, of_one] = if beside {
        let [left, _, right] =
            Layout::horizontal([Constraint::Min(1), Constraint::Length(2), Constraint::Length(WIDTH)]).areas(inside);
        [left, right]
    } else {
        let below = (inside.height / 2).max(ABOVE + 2).min(inside.height.saturating_sub(1));
        Layout::vertical([Constraint::Min(1), Constraint::Length(below)]).areas(inside)
    };
    let caught = state.caught.as_ref().filter(|caught| caught.answer == inspector.answer);
    let loops = caught.and_then(|caught| caught.begin);
    said(&known, inspector, loops, look, frame, tokens);
    if let Some(piece) = known.get(inspector.at) {
        drawn_from(piece, (answer, &known), inspector, look, frame, of_one);
    }
}

/// What the tokens come to, in as many words as there is room for.
fn told(summary: &Summary, room: usize) -> Option<String> {
    let perplexity = format!(" perplexity {:.2} ", summary.perplexity);
    let changed = format!("· {:.0} % not the likeliest ", 100.0 * summary.changed);
    let mean = format!("· mean log-probability {:.2} ", summary.log_probability);
    let tokens = format!(" {} tokens ·", summary.tokens);
    let words = [
        [&tokens, perplexity.as_str(), &mean, &changed].concat(),
        [&tokens, perplexity.as_str(), &changed].concat(),
        [perplexity.as_str(), &changed].concat(),
        perplexity,
    ];
    words.into_iter().find(|words| columns(words) <= room)
}

/// The tokens that the model was least sure of.
fn unsure(known: &[Piece<'_>]) -> String {
    let named = least_certain(known, UNSURE).into_iter().map(|at| {
        let Piece { text, report, .. } = known[at];
        format!("{} {}", visible(text), percent(report.probability))
    });
    let named: Vec<_> = named.collect();
    format!("least sure: {}", named.join(", "))
}

/// How a token is dressed. The more there was to choose from, the more it stands out, in colours and without.
fn shade(report: &Report, by: Shade, look: Look<'_>) -> Style {
    if report.put_in {
        return look.theme.style(Role::Dim);
    }
    let level = match by {
        Shade::Probability => UNLIKELY.iter().filter(|limit| report.probability < **limit).count(),
        Shade::Entropy => OPEN.iter().filter(|limit| report.entropy >= **limit).count(),
    };
    match level {
        0 => look.theme.style(Role::Text),
        1 => look.theme.style(Role::Accent),
        2 => look.theme.style(Role::NoticeWarn).add_modifier(Modifier::UNDERLINED),
        _ => look
            .theme
            .style(Role::NoticeError)
            .add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
    }
}

/// The tokens, wrapped, around the selected one.
fn said(
    known: &[Piece<'_>],
    inspector: &Inspector,
    loops: Option<usize>,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let width = usize::from(area.width).max(1);
    let mut lines: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let (mut used, mut line_of_it) = (0, 0);
    for (at, piece) in known.iter().enumerate() {
        let mark = if loops == Some(piece.place) { LOOP } else { "" };
        let text = shorten(&format!("{mark}{}", in_line(piece.text)), width);
        let taken = columns(&text);
        if used + taken > width {
            lines.push(Vec::new());
            used = 0;
        }
        let mut style = shade(piece.report, inspector.shade, look);
        if at == inspector.at {
            style = look.theme.style(Role::Selection).add_modifier(Modifier::BOLD);
            line_of_it = lines.len() - 1;
        }
        if let Some(line) = lines.last_mut() {
            line.push(Span::styled(text, style));
        }
        used += taken;
        if piece.text.ends_with('\n') {
            lines.push(Vec::new());
            used = 0;
        }
    }
    let height = usize::from(area.height);
    let top = line_of_it
        .saturating_sub(height / 2)
        .min(lines.len().saturating_sub(height));
    let shown = lines.into_iter().skip(top).take(height).map(Line::from);
    frame.render_widget(Text::from(shown.collect::<Vec<_>>()), area);
}

/// What a token was drawn from.
fn drawn_from(
    piece: &Piece<'_>,
    (answer, known): (&Answer, &[Piece<'_>]),
    inspector: &Inspector,
    look: Look<'_>,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let (text, dim) = (look.theme.style(Role::Overlay), look.theme.style(Role::Dim));
    let report = piece.report;
    let width = usize::from(area.width);
    let head = format!(
        "token {} of {} · id {}",
        piece.place + 1,
        answer.tokens.len(),
        piece.token.0
    );
    let figures = if report.put_in {
        "put in, not drawn".to_owned()
    } else {
        format!(
            "{} · rank {} · entropy {:.2} bit",
            percent(report.probability),
            report.rank + 1,
            report.entropy
        )
    };
    let wide = width.saturating_sub(2 * FIGURE + AFTER).clamp(TEXT.0, TEXT.1);
    let names = format!("{:wide$}{:>FIGURE$}{:>FIGURE$}  after", "", "logit", "before");
    let mut lines = vec![
        Line::styled(shorten(&head, width), look.theme.style(Role::Title)),
        Line::styled(shorten(&figures, width), text),
        Line::styled(shorten(&names, width), dim),
    ];
    let room = usize::from(area.height.saturating_sub(ABOVE)).max(1);
    let top = inspector.candidate.saturating_sub(room - 1);
    for (at, candidate) in report.candidates.iter().enumerate().skip(top).take(room) {
        let style = if at == inspector.candidate {
            look.theme.style(Role::Selection)
        } else {
            text
        };
        let mark = if candidate.token == piece.token { '●' } else { ' ' };
        lines.push(Line::styled(shorten(&row(candidate, mark, wide), width), style));
    }
    let settings = settings(answer, piece.place).map_or_else(String::new, in_force);
    let stages = report
        .kept
        .iter()
        .map(|(stage, left)| format!("{} {left}", stage.name()));
    let stages = stages.collect::<Vec<_>>().join(" › ");
    for words in [stages, settings, unsure(known)] {
        if !words.is_empty() {
            lines.push(Line::default());
            lines.extend(wrap(&[Words::new(words, dim)], width, &Prefix::default()));
        }
    }
    lines.truncate(usize::from(area.height));
    frame.render_widget(Text::from(lines), area);
}

/// A candidate: its text, its logit, its share before any stage and after all, or what removed it.
fn row(candidate: &Candidate, mark: char, wide: usize) -> String {
    let text = shorten(&visible(&candidate.text), wide - 3);
    let fill = " ".repeat((wide - 2).saturating_sub(columns(&text)));
    let after = match (candidate.after, candidate.removed) {
        (Some(after), _) => percent(after),
        (None, Some(stage)) => format!("cut by {}", stage.name()),
        (None, None) => "banned".to_owned(),
    };
    let logit = format!("{:.2}", candidate.logit);
    format!(
        "{mark} {text}{fill}{logit:>FIGURE$}{:>FIGURE$}  {after}",
        percent(candidate.before)
    )
}

fn percent(share: f32) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The settings that are not at their defaults.
fn in_force(settings: &Sampling) -> String {
    let values = PARAMETERS
        .iter()
        .map(|p| (p.name, p.get(settings).to_string(), p.default().to_string()));
    let others = values.filter(|(_, value, default)| value != default);
    let words: Vec<_> = others.map(|(name, value, _)| format!("{name} {value}")).collect();
    if words.is_empty() {
        "all settings at their defaults".to_owned()
    } else {
        sanitize_line(&words.join(" · ")).into_owned()
    }
}
