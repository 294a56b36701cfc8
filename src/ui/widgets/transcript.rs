//! The conversation: who spoke, what was said, how it ended. Every message's lines are rendered once and kept; only the answer
//! that grows is rendered again, and only what is visible is drawn.

use std::collections::HashMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::State;
use crate::app::state::{Phase, Scroll, ViewInfo};
use crate::app::{Action, state::Running};
use crate::domain::inference::{Finish, rate};
use crate::domain::{Message, MessageId, Role as Speaker};
use crate::text::{sanitize, sanitize_line};
use crate::ui::markdown::wrap::{Piece, Prefix, columns, wrap};
use crate::ui::markdown::{self, Live};
use crate::ui::theme::Role;
use crate::ui::view::Look;

use super::{figures, welcome};

/// Columns left free on either side.
const MARGIN: u16 = 2;

/// Lines rendered before.
#[derive(Default)]
pub(in crate::ui) struct Cache {
    bodies: HashMap<MessageId, Body>,
    /// What the lines were rendered for: conversation, width, theme.
    made_for: (u32, u16, String),
}

/// A message's text as lines.
struct Body {
    /// Bytes of the text that the lines are of: a message's text only ever grows.
    length: usize,
    lines: Vec<Line<'static>>,
    live: Option<Live>,
}

impl Cache {
    /// Draws what is visible and says how much there is.
    pub(in crate::ui) fn draw(&mut self, state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) -> ViewInfo {
        let path = state.conversation.path();
        if path.is_empty() {
            welcome::draw(state, look, frame, area);
            return ViewInfo {
                viewport: u32::from(area.height),
                ..ViewInfo::default()
            };
        }
        let width = area.width.saturating_sub(2 * MARGIN).max(1);
        let made_for = (state.begun, width, look.theme.name.clone());
        if self.made_for != made_for {
            *self = Self {
                made_for,
                ..Self::default()
            };
        }
        let heights: Vec<u32> = path
            .iter()
            .map(|message| self.height(message, state, look, width))
            .collect();
        let total: u32 = heights.iter().sum();
        let viewport = u32::from(area.height);
        let end = total.saturating_sub(viewport);
        let top = match state.screen.scroll {
            Scroll::Follow => end,
            Scroll::At(line) => line.min(end),
        };
        let text = Rect {
            x: area.x + MARGIN.min(area.width),
            width: width.min(area.width),
            ..area
        };
        let mut at = 0;
        for (message, height) in path.iter().zip(&heights) {
            if at + height > top && at < top + viewport {
                self.draw_message(message, state, look, frame, text, i64::from(at) - i64::from(top));
            }
            at += height;
        }
        if top < end {
            more_below(look, frame, area);
        }
        ViewInfo {
            transcript: total,
            viewport,
            ..ViewInfo::default()
        }
    }

    /// Lines of a message: its header, its text, how it ended, and a blank one.
    fn height(&mut self, message: &Message, state: &State, look: Look<'_>, width: u16) -> u32 {
        let body = self.body(message, state, look, width).len() as u32;
        let note = u32::from(note(message, state).is_some());
        body + note + 2
    }

    fn body(&mut self, message: &Message, state: &State, look: Look<'_>, width: u16) -> &[Line<'static>] {
        let grows = state
            .running
            .as_ref()
            .is_some_and(|running| running.answer == message.id);
        let body = self.bodies.entry(message.id).or_insert_with(|| Body {
            length: usize::MAX,
            lines: Vec::new(),
            live: None,
        });
        if grows {
            let text = sanitize(&message.text);
            return body.live.get_or_insert_default().update(&text, width, look.theme);
        }
        if body.length != message.text.len() || body.live.is_some() {
            let text = sanitize(&message.text);
            let lines = match message.role {
                Speaker::Assistant => markdown::render(&text, width, look.theme),
                Speaker::User | Speaker::System => {
                    let piece = Piece::new(text, look.theme.style(Role::Text));
                    wrap(&[piece], usize::from(width), &Prefix::default())
                }
            };
            *body = Body {
                length: message.text.len(),
                lines,
                live: None,
            };
        }
        &body.lines
    }

    /// Draws the visible part of a message whose first line is `at` lines below the top of `area` (above it, if negative).
    fn draw_message(
        &mut self,
        message: &Message,
        state: &State,
        look: Look<'_>,
        frame: &mut Frame<'_>,
        area: Rect,
        at: i64,
    ) {
        let head = header(message, state, look, area.width);
        let end = note(message, state).map(|words| Line::styled(words, look.theme.style(Role::Dim)));
        let body = self.body(message, state, look, area.width);
        let lines = std::iter::once(&head).chain(body).chain(end.as_ref());
        for (n, line) in lines.enumerate() {
            if let Ok(row) = u16::try_from(at + n as i64)
                && row < area.height
            {
                frame.render_widget(
                    line,
                    Rect {
                        y: area.y + row,
                        height: 1,
                        ..area
                    },
                );
            }
        }
    }
}

/// Who speaks, and at the right what is known of the answer.
fn header(message: &Message, state: &State, look: Look<'_>, width: u16) -> Line<'static> {
    let (name, role) = match (&message.role, &message.answer) {
        (Speaker::User, _) => ("you".to_owned(), Role::UserName),
        (Speaker::System, _) => ("system".to_owned(), Role::Dim),
        (Speaker::Assistant, Some(answer)) if !answer.model_name.is_empty() => {
            (sanitize_line(&answer.model_name).into_owned(), Role::ModelName)
        }
        (Speaker::Assistant, _) => ("model".to_owned(), Role::ModelName),
    };
    let right = facts(message, state);
    let free = usize::from(width).saturating_sub(columns(&name) + columns(&right));
    let name = Span::styled(name, look.theme.style(role));
    if free < 2 {
        return Line::from(name);
    }
    Line::from(vec![
        name,
        Span::raw(" ".repeat(free)),
        Span::styled(right, look.theme.style(Role::Dim)),
    ])
}

/// Version, tokens and speed of an answer.
fn facts(message: &Message, state: &State) -> String {
    let Some(answer) = &message.answer else {
        return String::new();
    };
    let mut facts = Vec::new();
    let versions = state.conversation.versions(message.id);
    if versions.len() > 1 {
        let at = versions.iter().position(|id| *id == message.id).unwrap_or(0) + 1;
        facts.push(format!("‹ {at}/{} ›", versions.len()));
    }
    if !answer.tokens.is_empty() {
        facts.push(format!("{} tok", answer.tokens.len()));
    }
    if let Some(speed) = answer.stats.decode_rate() {
        facts.push(format!("{}/s", figures::rate(speed)));
    }
    facts.join("  ")
}

/// What stands under a message: what is being done for it, or how it ended where that is not the usual way.
fn note(message: &Message, state: &State) -> Option<String> {
    let answer = message.answer.as_ref()?;
    if let Some(running) = state.running.as_ref().filter(|running| running.answer == message.id) {
        return doing(running, state);
    }
    match answer.finish {
        Some(Finish::EndOfTurn) => None,
        Some(finish) => Some(format!("— {finish}")),
        None => Some("— broken off".to_owned()),
    }
}

fn doing(running: &Running, state: &State) -> Option<String> {
    match running.phase {
        Phase::Queued => Some("waiting for the model".to_owned()),
        Phase::Prefill(progress) => {
            let new = progress.done.saturating_sub(progress.reused);
            let speed = rate(new, state.now.saturating_sub(running.since));
            let speed = speed.map_or_else(String::new, |speed| format!(" · {} tok/s", figures::rate(speed)));
            Some(format!(
                "reading the prompt {}/{}{speed}",
                progress.done, progress.total
            ))
        }
        Phase::Stopping => Some("stopping".to_owned()),
        Phase::Decoding { .. } => None,
    }
}

/// A word at the bottom right that the transcript goes on.
fn more_below(look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let key = look.keymap.hint(Action::Follow);
    let words = format!(" ↓ more ({key}) ");
    let width = (columns(&words) as u16).min(area.width);
    let place = Rect {
        x: area.right() - width,
        y: area.bottom().saturating_sub(1),
        width,
        height: 1,
    };
    frame.render_widget(Line::styled(words, look.theme.style(Role::Accent)), place);
}
