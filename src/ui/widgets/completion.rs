//! The choices that complete the draft, above the composer.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Clear};

use crate::app::State;
use crate::text::sanitize_line;
use crate::ui::markdown::wrap::{columns, shorten};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Choices shown at once.
const MOST: usize = 10;

/// Draws the choices at the bottom of `area`, where there are any.
pub(in crate::ui) fn draw(state: &State, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let Some(completion) = state
        .draft
        .completion
        .as_ref()
        .filter(|_| state.screen.overlay.is_none())
    else {
        return;
    };
    let room = usize::from(area.height).saturating_sub(3).min(MOST);
    let shown = completion.choices.len().min(room);
    if shown == 0 {
        return;
    }
    let first = completion
        .selected
        .saturating_sub(shown - 1)
        .min(completion.choices.len() - shown);
    let choices = &completion.choices[first..first + shown];
    let label_width = choices.iter().map(|c| columns(&c.label)).max().unwrap_or(0);
    let width = usize::from(area.width).saturating_sub(4);
    let lines = choices.iter().enumerate().map(|(n, choice)| {
        let selected = first + n == completion.selected;
        let style = look.theme.style(if selected { Role::Selection } else { Role::Overlay });
        let help = look.theme.style(if selected { Role::Selection } else { Role::Dim });
        let label = shorten(&sanitize_line(&choice.label), width);
        let pad = " ".repeat(label_width.saturating_sub(columns(&label)) + 2);
        let rest = width.saturating_sub(label_width + 2);
        let words = shorten(&choice.help, rest);
        let fill = " ".repeat(rest.saturating_sub(columns(&words)));
        Line::from(vec![
            Span::styled(label + &pad, style),
            Span::styled(words + &fill, help),
        ])
    });
    let text: Text<'_> = lines.collect::<Vec<_>>().into();
    let height = shown as u16 + 2;
    let place = Rect {
        x: area.x,
        y: area.bottom().saturating_sub(height),
        width: area.width,
        height,
    };
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(look.theme.style(Role::Border))
        .style(look.theme.style(Role::Overlay));
    let inner = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    frame.render_widget(
        text,
        Rect {
            x: inner.x + 1,
            width: inner.width.saturating_sub(1),
            ..inner
        },
    );
}
