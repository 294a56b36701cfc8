//! The command table: slash commands, completion, help and the README's list are all read from it. What a command does is in
//! `update/`; the table itself is in `table.rs`.

mod table;

use crate::text;

pub use table::COMMANDS;

/// A command, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandId {
    /// Begin a new conversation.
    New,
    /// Answer again.
    Retry,
    /// Have the last answer go on.
    Continue,
    /// Set what the next answer starts with.
    Prefill,
    /// Stop the answer.
    Stop,
    /// End the thinking now.
    Answer,
    /// Have a file go with the message.
    Attach,
    /// Show the exact prompt.
    Prompt,
    /// Show or set the system prompt.
    System,
    /// Show or take a system prompt by name.
    Persona,
    /// Edit a message: another version.
    Edit,
    /// Remove a message.
    Remove,
    /// Undo the last change.
    Undo,
    /// Do again what was undone.
    Redo,
    /// Sum up old turns.
    Compact,
    /// Make an answer again.
    Replay,
    /// Show or set a sampling parameter.
    Set,
    /// Open the panel in which sampling is tuned.
    Tune,
    /// Show or choose a preset.
    Preset,
    /// Keep the settings as a preset.
    SavePreset,
    /// Give answers a form by a grammar.
    Grammar,
    /// Give answers a form by a JSON schema.
    Schema,
    /// Set the seed.
    Seed,
    /// Set the texts that end an answer.
    StopAt,
    /// Show or load a model.
    Model,
    /// Choose a model.
    Models,
    /// Fetch a model.
    Download,
    /// Let go of the model.
    Unload,
    /// Show or change the length of the context.
    Context,
    /// Show or change the chat template.
    Template,
    /// Show or choose what happens when a conversation outgrows the context.
    Overflow,
    /// Walk the tokens of an answer.
    Inspect,
    /// Answer under several presets at once.
    Compare,
    /// Examine the model.
    Doctor,
    /// Show what repeats, and the ways out of a loop; or what is done about one.
    Loop,
    /// Show or change whether and how long models think.
    Thinking,
    /// Show the sessions.
    Sessions,
    /// Look for words in all sessions.
    Search,
    /// Show or give the session's title.
    Title,
    /// Go on in a copy.
    Fork,
    /// Pin the session.
    Pin,
    /// Archive the session.
    Archive,
    /// Show or set the session's tags.
    Tag,
    /// Write the session to a file.
    Export,
    /// Read sessions from a file.
    Import,
    /// Delete the session.
    Delete,
    /// Copy an answer, or code of it.
    Copy,
    /// Look for words in the transcript.
    Find,
    /// Show or fold what models thought.
    Thoughts,
    /// Show answers as they were written.
    Raw,
    /// Choose the colours.
    Theme,
    /// Read the notices again.
    Notices,
    /// Show the session's figures.
    Stats,
    /// Show keys and commands.
    Help,
    /// End quipu.
    Quit,
}

impl CommandId {
    /// The row of the table.
    pub fn command(self) -> &'static Command {
        // A test holds that every id has its row; the first row is the harmless answer if one were ever missing.
        COMMANDS.iter().find(|c| c.id == self).unwrap_or(&COMMANDS[0])
    }
}

/// Under which heading a command is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The conversation.
    Chat,
    /// How tokens are drawn.
    Sampling,
    /// What speaks.
    Model,
    /// What is kept.
    Sessions,
    /// What is on the screen.
    View,
}

impl Group {
    /// All groups, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Sampling, Self::Model, Self::Sessions, Self::View];

    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Sampling => "sampling",
            Self::Model => "model",
            Self::Sessions => "sessions",
            Self::View => "view",
        }
    }
}

/// What the first argument of a command can be completed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    /// Nothing that we know.
    Nothing,
    /// A sampling parameter.
    Parameter,
    /// A preset.
    Preset,
    /// A theme.
    Theme,
    /// A persona.
    Persona,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Which one.
    pub id: CommandId,
    /// Typed after the slash.
    pub name: &'static str,
    /// Other names that people's hands know.
    pub aliases: &'static [&'static str],
    /// Its arguments as shown in the help; empty where there are none. `[…]` may be left out.
    pub args: &'static str,
    /// One line on what it does.
    pub help: &'static str,
    /// Under which heading.
    pub group: Group,
    /// What completes its first argument.
    pub completes: Completes,
}

/// What a line in the composer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A message to the model.
    Message(&'a str),
    /// A command and its arguments, trimmed.
    Command(CommandId, &'a str),
    /// A slash and a name that no command has, with the nearest that one has.
    Unknown(&'a str, Option<&'static str>),
}

/// Reads what stands in the composer. What begins with one slash is a command and its arguments, which may have several
/// lines; a doubled slash sends a message that begins with one.
pub fn parse(draft: &str) -> Line<'_> {
    let text = draft.trim();
    let Some(rest) = text.strip_prefix('/') else {
        return Line::Message(text);
    };
    if rest.starts_with('/') {
        return Line::Message(rest);
    }
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match find(name) {
        Some(command) => Line::Command(command.id, args.trim()),
        None => Line::Unknown(name, nearest(name)),
    }
}

/// The command of this name or alias, in any case.
pub fn find(name: &str) -> Option<&'static Command> {
    let name = name.to_lowercase();
    COMMANDS
        .iter()
        .find(|c| c.name == name || c.aliases.contains(&name.as_str()))
}

/// The command whose name or alias is most like `name`, if any is.
pub fn nearest(name: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().flat_map(|c| c.aliases.iter().chain([&c.name]));
    find(text::nearest(name, names.copied())?).map(|c| c.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_stands_once() {
        let mut seen = std::collections::HashSet::new();
        for command in COMMANDS {
            for name in command.aliases.iter().chain([&command.name]) {
                assert!(seen.insert(*name), "'{name}' stands twice");
                assert_eq!(find(name).unwrap().id, command.id);
            }
            assert_eq!(command.id.command().name, command.name);
        }
    }

    #[test]
    fn lines_are_read_as_people_mean_them() {
        assert_eq!(parse("  hello\nworld "), Line::Message("hello\nworld"));
        assert_eq!(parse("/set top-k  5 "), Line::Command(CommandId::Set, "top-k  5"));
        assert_eq!(parse("/BYE"), Line::Command(CommandId::Quit, ""));
        assert_eq!(parse("//etc is a folder"), Line::Message("/etc is a folder"));
        assert_eq!(parse("/retyr"), Line::Unknown("retyr", Some("retry")));
        assert_eq!(parse("/xyzzy"), Line::Unknown("xyzzy", None));
        assert_eq!(
            parse("/system You are\nterse."),
            Line::Command(CommandId::System, "You are\nterse.")
        );
    }
}
