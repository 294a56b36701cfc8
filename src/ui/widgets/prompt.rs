//! The exact prompt, token by token: control tokens stand out, every other token is marked so that borders show, and what is in
//! the KV cache already is dimmed.

use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::domain::inference::PromptView;
use crate::text::sanitize;
use crate::ui::markdown::wrap::{Piece, Prefix, wrap};
use crate::ui::theme::Role;
use crate::ui::view::Look;

/// The lines of the prompt at this width.
pub(in crate::ui) fn lines(prompt: Option<&PromptView>, look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let dim = look.theme.style(Role::Dim);
    let Some(prompt) = prompt else {
        return vec![Line::styled("rendering…", dim)];
    };
    let facts = format!(
        "{} tokens, the first {} in the KV cache · {}",
        prompt.tokens.len(),
        prompt.cached,
        crate::text::sanitize_line(&prompt.template)
    );
    let mut lines = wrap(&[Piece::new(facts, dim)], width, &Prefix::default());
    lines.push(Line::default());
    let pieces: Vec<Piece> = prompt
        .tokens
        .iter()
        .enumerate()
        .map(|(n, token)| {
            let role = match (token.control, n % 2) {
                (true, _) => Role::ControlToken,
                (false, 1) => Role::TokenOdd,
                (false, _) => Role::Overlay,
            };
            let mut style = look.theme.style(role);
            if n < prompt.cached as usize {
                style = style.add_modifier(Modifier::DIM);
            }
            Piece::new(sanitize(&token.text), style)
        })
        .collect();
    lines.extend(wrap(&pieces, width, &Prefix::default()));
    lines
}
