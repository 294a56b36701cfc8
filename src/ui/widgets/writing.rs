//! The box that the composer stands in.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType};

use crate::app::State;
use crate::app::state::Engine;
use crate::domain::Bytes;
use crate::ui::composer::{Composer, FOLD, Folded, Mode};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// Draws the box and what is being written.
pub(in crate::ui) fn draw(state: &State, composer: &Composer, look: Look<'_>, frame: &mut Frame<'_>, area: Rect) {
    let tuned = state.screen.tune.as_ref().is_some_and(|panel| panel.focused);
    let focus = state.screen.overlay.is_none() && state.screen.find.is_none() && !tuned;
    let border = look.theme.style(if focus { Role::BorderFocus } else { Role::Border });
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(border)
        .title(Span::styled(mode(composer), look.theme.style(Role::Dim)));
    let block = match composer.folded() {
        Some(folded) => block.title_bottom(Line::styled(words(folded), look.theme.style(Role::Dim)).right_aligned()),
        None => block,
    };
    let block = match composer.hidden() {
        0 => block,
        1 => block.title_bottom(Span::styled(" 1 hidden character ", look.theme.style(Role::NoticeWarn))),
        many => block.title_bottom(Span::styled(
            format!(" {many} hidden characters "),
            look.theme.style(Role::NoticeWarn),
        )),
    };
    let block = match tokens(state) {
        Some((words, role)) => block.title(Line::styled(words, look.theme.style(role)).right_aligned()),
        None => block,
    };
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let inside = Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    };
    composer.draw(frame, inside, look.theme, placeholder(&state.engine));
    if focus {
        composer.place_cursor(frame, inside);
    }
}

/// What stands above the message: what letters do there, where they are not simply written.
fn mode(composer: &Composer) -> &'static str {
    match composer.mode() {
        None | Some(Mode::Insert) => " message ",
        Some(Mode::Normal) => " message · NORMAL ",
        Some(Mode::Visual) => " message · VISUAL ",
    }
}

/// How many tokens the message takes, as last counted, and whether there is room for them.
fn tokens(state: &State) -> Option<(String, Role)> {
    let (_, tokens) = state.draft.tokens.filter(|_| !state.draft.text.is_empty())?;
    let context = state.engine.model()?.context;
    let role = if state.context_used.saturating_add(tokens) < context {
        Role::Dim
    } else {
        Role::NoticeWarn
    };
    let word = if tokens == 1 { "token" } else { "tokens" };
    Some((format!(" {tokens} {word} "), role))
}

/// What the long texts come to that stand in the message as one character each.
fn words(folded: Folded) -> String {
    let Folded { texts, lines, bytes } = folded;
    let texts = if texts == 1 {
        "a long text".to_owned()
    } else {
        format!("{texts} long texts")
    };
    let lines = if lines == 1 {
        "1 line".to_owned()
    } else {
        format!("{lines} lines")
    };
    format!(" {FOLD} {texts} · {lines} · {} ", Bytes(bytes as u64))
}

fn placeholder(engine: &Engine) -> &'static str {
    match engine {
        Engine::Dead(_) => "the engine has stopped; quit and start quipu again",
        Engine::Failed(_) | Engine::Empty => "load a model with /model FILE",
        Engine::Loading { .. } | Engine::Ready(_) => "say something, or / for commands",
    }
}
