//! The keys that quipu starts with. They follow what hands know from other chats; each can be changed in the configuration.

use crate::app::Action;
use crate::app::CommandId;

use super::Context;

/// Context, chord, action: the order is the help screen's.
pub const DEFAULT: &[(Context, &str, Action)] = &[
    (Context::Chat, "enter", Action::Send),
    // The first chord is the one that hints show: terminals tell Alt-Enter more often than Shift-Enter.
    (Context::Chat, "alt-enter", Action::Newline),
    (Context::Chat, "shift-enter", Action::Newline),
    (Context::Chat, "ctrl-j", Action::Newline),
    (Context::Chat, "esc", Action::Escape),
    (Context::Chat, "ctrl-c", Action::Interrupt),
    (Context::Chat, "ctrl-n", Action::Run(CommandId::New)),
    (Context::Chat, "alt-r", Action::Run(CommandId::Retry)),
    (Context::Chat, "alt-c", Action::Run(CommandId::Continue)),
    (Context::Chat, "alt-a", Action::Run(CommandId::Answer)),
    (Context::Chat, "alt-t", Action::Run(CommandId::Thoughts)),
    (Context::Chat, "alt-,", Action::VersionPrevious),
    (Context::Chat, "alt-.", Action::VersionNext),
    (Context::Chat, "pageup", Action::PageUp),
    (Context::Chat, "pagedown", Action::PageDown),
    (Context::Chat, "ctrl-home", Action::Top),
    (Context::Chat, "ctrl-end", Action::Follow),
    (Context::Chat, "tab", Action::Complete),
    (Context::Chat, "f1", Action::Run(CommandId::Help)),
    (Context::Chat, "ctrl-l", Action::Redraw),
    (Context::Chat, "ctrl-z", Action::Suspend),
    // With nothing written these keys have no other use.
    (Context::Empty, "?", Action::Run(CommandId::Help)),
    (Context::Empty, "home", Action::Top),
    (Context::Empty, "end", Action::Follow),
    (Context::Empty, "ctrl-d", Action::QuitIfEmpty),
    // At the first and the last line of what is written.
    (Context::Edge, "up", Action::HistoryPrevious),
    (Context::Edge, "down", Action::HistoryNext),
    (Context::Completion, "up", Action::CompletionPrevious),
    (Context::Completion, "down", Action::CompletionNext),
    (Context::Completion, "shift-tab", Action::CompletionPrevious),
    (Context::Overlay, "up", Action::LineUp),
    (Context::Overlay, "down", Action::LineDown),
    (Context::Overlay, "k", Action::LineUp),
    (Context::Overlay, "j", Action::LineDown),
    (Context::Overlay, "space", Action::PageDown),
    (Context::Overlay, "home", Action::Top),
    (Context::Overlay, "end", Action::Follow),
    (Context::Overlay, "q", Action::Escape),
    (Context::Overlay, "?", Action::Escape),
    // What is meant is what one sees, not the answer or the draft beneath.
    (Context::Overlay, "ctrl-c", Action::Escape),
];
