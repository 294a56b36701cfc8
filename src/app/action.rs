//! What a key can ask for: one table of names from which the keymap, its configuration and the help screen are made.
//! Which key asks for what is the `ui` room's business.

use super::command::{COMMANDS, CommandId};
use super::inspector::Walk;

/// Something that a key is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send the draft, or run it where it is a slash command.
    Send,
    /// Break the line.
    Newline,
    /// Close what is open, else stop the answer.
    Escape,
    /// Stop the answer; twice within two seconds ends quipu.
    Interrupt,
    /// End quipu where the draft is empty.
    QuitIfEmpty,
    /// The message sent before.
    HistoryPrevious,
    /// The message sent after, and at the end the draft itself.
    HistoryNext,
    /// Take the selected completion.
    Complete,
    /// Select the next completion.
    CompletionNext,
    /// Select the completion before.
    CompletionPrevious,
    /// Scroll a line up.
    LineUp,
    /// Scroll a line down.
    LineDown,
    /// Scroll a page up.
    PageUp,
    /// Scroll a page down.
    PageDown,
    /// Show the beginning.
    Top,
    /// Show the end and stay there.
    Follow,
    /// Show the version of the last answer before this one.
    VersionPrevious,
    /// Show the version of the last answer after this one.
    VersionNext,
    /// Select the message above.
    SelectPrevious,
    /// Select the message below.
    SelectNext,
    /// Fold the selected message, or unfold it.
    Fold,
    /// Take the selected row of a panel.
    Take,
    /// Pin the selected session, or let it go.
    Pin,
    /// Archive the selected session, or bring it back.
    Archive,
    /// Type another title for the selected session.
    Rename,
    /// Delete the selected session, or bring it back.
    Delete,
    /// Show archived and deleted sessions, too, or hide them.
    ShowArchived,
    /// Edit the message in an editor of one's own.
    Editor,
    /// Open the palette of commands.
    Palette,
    /// Look through what was sent before.
    SearchHistory,
    /// Go to the next line with the words that are looked for.
    FindNext,
    /// Go to the line with them before.
    FindPrevious,
    /// Keep all answers that are compared.
    KeepAll,
    /// Walk the tokens of an answer, or look at them in another way.
    Walk(Walk),
    /// Turn the selected setting down a little.
    Lower,
    /// Turn the selected setting up a little.
    Raise,
    /// Turn it down a lot.
    LowerFar,
    /// Turn it up a lot.
    RaiseFar,
    /// Put the selected setting back to the preset's value.
    ResetSetting,
    /// Put all settings back to the preset's.
    ResetSettings,
    /// Type a name to keep the settings by.
    NamePreset,
    /// Go from a panel back to the message; the panel stays.
    Unfocus,
    /// Draw the screen anew.
    Redraw,
    /// Stop the process, as every program in a shell can be.
    Suspend,
    /// Run a command without arguments.
    Run(CommandId),
}

/// The actions that are no commands: name in the configuration, and one line of help. The order is the help screen's.
pub const ACTIONS: &[(Action, &str, &str)] = &[
    (Action::Send, "send", "send the message, or run the command"),
    (Action::Newline, "newline", "break the line"),
    (Action::Escape, "escape", "close what is open, else stop the answer"),
    (Action::Interrupt, "interrupt", "stop the answer; twice to quit"),
    (Action::QuitIfEmpty, "quit-if-empty", "quit where the message is empty"),
    (Action::HistoryPrevious, "history-previous", "the message sent before"),
    (Action::HistoryNext, "history-next", "the message sent after"),
    (Action::Complete, "complete", "take the selected completion"),
    (Action::CompletionNext, "completion-next", "the next completion"),
    (
        Action::CompletionPrevious,
        "completion-previous",
        "the completion before",
    ),
    (Action::LineUp, "line-up", "scroll a line up"),
    (Action::LineDown, "line-down", "scroll a line down"),
    (Action::PageUp, "page-up", "scroll a page up"),
    (Action::PageDown, "page-down", "scroll a page down"),
    (Action::Top, "top", "scroll to the beginning"),
    (Action::Follow, "follow", "scroll to the end and stay there"),
    (
        Action::VersionPrevious,
        "version-previous",
        "the version before of the last answer, or of the selected message",
    ),
    (
        Action::VersionNext,
        "version-next",
        "the version after of the last answer, or of the selected message",
    ),
    (Action::SelectPrevious, "select-previous", "select the message above"),
    (Action::SelectNext, "select-next", "select the message below"),
    (
        Action::Fold,
        "fold",
        "fold the selected message or what was thought, or unfold it",
    ),
    (Action::Take, "take", "take what is selected"),
    (Action::Pin, "pin-session", "put the session above the others, or back"),
    (
        Action::Archive,
        "archive-session",
        "put the session out of sight, or back",
    ),
    (Action::Rename, "rename-session", "give the session another title"),
    (Action::Delete, "delete-session", "delete the session, or bring it back"),
    (
        Action::ShowArchived,
        "show-archived",
        "show what is out of sight, too, or hide it",
    ),
    (Action::Editor, "editor", "edit the message in $VISUAL or $EDITOR"),
    (Action::Palette, "palette", "find a command by a few letters"),
    (Action::SearchHistory, "search-history", "find what was sent before"),
    (Action::FindNext, "find-next", "the next line with the words looked for"),
    (Action::FindPrevious, "find-previous", "the line with them before"),
    (Action::KeepAll, "keep-all", "keep all answers that are compared"),
    (Action::Walk(Walk::Previous), "token-previous", "the token before"),
    (Action::Walk(Walk::Next), "token-next", "the next token"),
    (Action::Walk(Walk::Back), "tokens-back", "ten tokens back"),
    (Action::Walk(Walk::On), "tokens-on", "ten tokens on"),
    (Action::Walk(Walk::First), "token-first", "the first token"),
    (Action::Walk(Walk::Last), "token-last", "the last token"),
    (
        Action::Walk(Walk::Unsure),
        "token-unsure",
        "the next of the tokens that the model was least sure of",
    ),
    (
        Action::Walk(Walk::Force),
        "token-type",
        "type what shall stand in the place of the token, and go on from it",
    ),
    (
        Action::Walk(Walk::Shade),
        "shade",
        "shade tokens by probability or by entropy",
    ),
    (Action::Lower, "lower", "turn the setting down"),
    (Action::Raise, "raise", "turn the setting up"),
    (Action::LowerFar, "lower-far", "turn it far down"),
    (Action::RaiseFar, "raise-far", "turn it far up"),
    (
        Action::ResetSetting,
        "reset-setting",
        "put the setting back to the preset's",
    ),
    (
        Action::ResetSettings,
        "reset-settings",
        "put all settings back to the preset's",
    ),
    (Action::NamePreset, "name-preset", "keep the settings as a preset"),
    (Action::Unfocus, "unfocus", "go back to the message; the panel stays"),
    (Action::Redraw, "redraw", "draw the screen anew"),
    (Action::Suspend, "suspend", "suspend quipu; 'fg' brings it back"),
];

impl Action {
    /// The action of this name: a row of [`ACTIONS`], or a command's name.
    pub fn find(name: &str) -> Option<Self> {
        let plain = ACTIONS.iter().find(|(_, n, _)| *n == name).map(|(action, ..)| *action);
        plain.or_else(|| COMMANDS.iter().find(|c| c.name == name).map(|c| Self::Run(c.id)))
    }

    /// The name most like `name` that an action has, if any is.
    pub fn nearest(name: &str) -> Option<&'static str> {
        let names = ACTIONS
            .iter()
            .map(|(_, name, _)| *name)
            .chain(COMMANDS.iter().map(|c| c.name));
        crate::text::nearest(name, names)
    }

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run(id) => id.command().name,
            _ => ACTIONS
                .iter()
                .find(|(action, ..)| *action == self)
                .map_or("", |(_, name, _)| name),
        }
    }

    /// One line on what it does.
    pub fn help(self) -> &'static str {
        match self {
            Self::Run(id) => id.command().help,
            _ => ACTIONS
                .iter()
                .find(|(action, ..)| *action == self)
                .map_or("", |(.., help)| help),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_name() {
        let commands = COMMANDS.iter().map(|c| Action::Run(c.id));
        for action in ACTIONS.iter().map(|(a, ..)| *a).chain(commands) {
            assert_eq!(Action::find(action.name()), Some(action));
            assert!(!action.help().is_empty());
        }
    }
}
