//! The newest notice, above the composer.

use ratatui::text::{Line, Span};

use crate::app::State;
use crate::app::notice::Level;
use crate::text::sanitize;
use crate::ui::markdown::wrap::{Piece, Prefix, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// The lines of the notice to show now, at most `most`; none where there is none.
pub(in crate::ui) fn lines(state: &State, look: Look<'_>, width: u16, most: u16) -> Vec<Line<'static>> {
    let most = usize::from(most);
    let Some(notice) = state.notices.current(state.now) else {
        return Vec::new();
    };
    let (role, mark) = match notice.level {
        Level::Info => (Role::NoticeInfo, " · "),
        Level::Warn => (Role::NoticeWarn, " ! "),
        Level::Error => (Role::NoticeError, " × "),
    };
    let style = look.theme.style(role);
    let prefix = Prefix {
        first: vec![Span::styled(mark, style)],
        rest: vec![Span::raw("   ")],
    };
    let words = Piece::new(sanitize(&notice.text), style);
    let mut lines = wrap(&[words], usize::from(width).saturating_sub(2), &prefix);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push_span(Span::styled("…", style));
        }
    }
    lines
}
