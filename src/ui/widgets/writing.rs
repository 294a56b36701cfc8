//! The box that the composer stands in.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::{Block, BorderType};

use crate::app::State;
use crate::app::state::Engine;
use crate::ui::composer::Composer;
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Draws the box and what is being written.
pub(in crate::ui) fn draw(state: &State, composer: &Composer, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let focus = state.screen.overlay.is_none();
    let border = look.theme.style(if focus { Role::BorderFocus } else { Role::Border });
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(border)
        .title(Span::styled(" message ", look.theme.style(Role::Dim)));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let inside = Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    };
    let placeholder = Span::styled(placeholder(&state.engine), look.theme.style(Role::Placeholder));
    composer.draw(frame, inside, &placeholder);
}

fn placeholder(engine: &Engine) -> &'static str {
    match engine {
        Engine::Dead(_) => "the engine has stopped; quit and start quipu again",
        Engine::Failed(_) | Engine::Empty => "load a model with /model FILE",
        Engine::Loading { .. } | Engine::Ready(_) => "say something, or / for commands",
    }
}
