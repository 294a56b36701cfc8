//! The commands, row by row. What the columns mean is said in `mod.rs`.

use super::{Command, CommandId, Completes, Group};

impl Command {
    const fn new(id: CommandId, name: &'static str, args: &'static str, help: &'static str, group: Group) -> Self {
        Self {
            id,
            name,
            aliases: &[],
            args,
            help,
            group,
            completes: Completes::Nothing,
        }
    }

    const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn completing(mut self, completes: Completes) -> Self {
        self.completes = completes;
        self
    }
}

/// All commands. The order is the order on the screen: do not sort.
pub const COMMANDS: &[Command] = &[
    Command::new(CommandId::New, "new", "", "begin a new conversation", Group::Chat).also(&["clear"]),
    Command::new(
        CommandId::Retry,
        "retry",
        "",
        "answer again, as another version",
        Group::Chat,
    )
    .also(&["regen"]),
    Command::new(
        CommandId::Continue,
        "continue",
        "",
        "have the last answer go on where it ended",
        Group::Chat,
    ),
    Command::new(
        CommandId::Prefill,
        "prefill",
        "[TEXT|off]",
        "show or set what the next answer starts with",
        Group::Chat,
    ),
    Command::new(
        CommandId::Stop,
        "stop",
        "",
        "stop the answer and keep what was said",
        Group::Chat,
    ),
    Command::new(
        CommandId::Answer,
        "answer",
        "",
        "end the thinking now and have the model answer",
        Group::Chat,
    ),
    Command::new(
        CommandId::Attach,
        "attach",
        "FILE",
        "have the text of a file go with the message; @FILE before a message does the same",
        Group::Chat,
    )
    .also(&["read"]),
    Command::new(
        CommandId::Prompt,
        "prompt",
        "",
        "show the exact prompt, token by token",
        Group::Chat,
    ),
    Command::new(
        CommandId::System,
        "system",
        "[TEXT|off]",
        "show, set or remove the system prompt",
        Group::Chat,
    ),
    Command::new(
        CommandId::Persona,
        "persona",
        "[NAME]",
        "show the personas of the configuration, or take the system prompt of one",
        Group::Chat,
    )
    .completing(Completes::Persona),
    Command::new(
        CommandId::Edit,
        "edit",
        "",
        "change your last message, or the selected one, as another version",
        Group::Chat,
    ),
    Command::new(
        CommandId::Remove,
        "remove",
        "",
        "remove the last message, or the selected one with all that was said on it",
        Group::Chat,
    ),
    Command::new(
        CommandId::Undo,
        "undo",
        "",
        "undo the last change of the conversation",
        Group::Chat,
    ),
    Command::new(CommandId::Redo, "redo", "", "do again what was undone", Group::Chat),
    Command::new(
        CommandId::Compact,
        "compact",
        "",
        "have the model sum up old turns, which goes to it in their place from then on",
        Group::Chat,
    ),
    Command::new(
        CommandId::Replay,
        "replay",
        "",
        "make the last answer again from its record, or say why that cannot be",
        Group::Chat,
    ),
    Command::new(
        CommandId::Set,
        "set",
        "[NAME [VALUE]]",
        "show or set a sampling parameter, from the next token on",
        Group::Sampling,
    )
    .completing(Completes::Parameter),
    Command::new(
        CommandId::Tune,
        "tune",
        "",
        "tune sampling while the model speaks, and see what it does",
        Group::Sampling,
    ),
    Command::new(
        CommandId::Preset,
        "preset",
        "[NAME]",
        "show or choose a sampling preset",
        Group::Sampling,
    )
    .completing(Completes::Preset),
    Command::new(
        CommandId::SavePreset,
        "save-preset",
        "NAME",
        "keep the sampling settings as a preset of your own",
        Group::Sampling,
    )
    .completing(Completes::Preset),
    Command::new(
        CommandId::Grammar,
        "grammar",
        "[FILE|off]",
        "give answers the form of a GBNF grammar",
        Group::Sampling,
    ),
    Command::new(
        CommandId::Schema,
        "schema",
        "[FILE|off]",
        "have answers be JSON that follows a schema",
        Group::Sampling,
    ),
    Command::new(
        CommandId::Seed,
        "seed",
        "[N|random]",
        "show or set the seed of the next answers",
        Group::Sampling,
    ),
    Command::new(
        CommandId::StopAt,
        "stop-at",
        "[TEXT|off]",
        "show or set the texts that end an answer",
        Group::Sampling,
    ),
    Command::new(
        CommandId::Model,
        "model",
        "[FILE|cria]",
        "show the model, or load another",
        Group::Model,
    )
    .also(&["load"]),
    Command::new(
        CommandId::Models,
        "models",
        "",
        "choose among the models on this machine",
        Group::Model,
    ),
    Command::new(
        CommandId::Download,
        "download",
        "REPO[:QUANT]|stop",
        "fetch a model from the Hugging Face hub while you talk; /model loads it then",
        Group::Model,
    )
    .also(&["pull"]),
    Command::new(
        CommandId::Unload,
        "unload",
        "",
        "let go of the model and its memory",
        Group::Model,
    ),
    Command::new(
        CommandId::Context,
        "context",
        "[TOKENS]",
        "show the context, or load the model again with another",
        Group::Model,
    )
    .also(&["ctx"]),
    Command::new(
        CommandId::Overflow,
        "overflow",
        "[POLICY]",
        "stop, drop-oldest, summarise or shift where a conversation outgrows the context",
        Group::Model,
    ),
    Command::new(
        CommandId::Inspect,
        "inspect",
        "[FILE]",
        "walk the tokens of an answer, see what each was drawn from, and go on from another; or write them to FILE.json or FILE.csv",
        Group::View,
    ),
    Command::new(
        CommandId::Compare,
        "compare",
        "[PRESET][@MODEL]...",
        "answer the last question under several presets at once, or by several models, side by side, and keep one answer or all",
        Group::Chat,
    ),
    Command::new(
        CommandId::Doctor,
        "doctor",
        "",
        "examine the model: file, tokenizer, template, numbers, KV cache, speed",
        Group::Model,
    ),
    Command::new(
        CommandId::Loop,
        "loop",
        "[WAY|pause|warn|off]",
        "the ways out of a loop that was caught, or what is done about one",
        Group::Chat,
    ),
    Command::new(
        CommandId::Thinking,
        "thinking",
        "[on|off|high|…|TOKENS]",
        "show or set whether models think before they answer, and for how many tokens at most",
        Group::Model,
    )
    .also(&["think"]),
    Command::new(
        CommandId::Template,
        "template",
        "[NAME|FILE]",
        "show the chat template, or load the model again with another",
        Group::Model,
    ),
    Command::new(
        CommandId::Sessions,
        "sessions",
        "[NAME|N]",
        "show the sessions that are kept, or open the one with this title or number",
        Group::Sessions,
    )
    .also(&["resume"]),
    Command::new(
        CommandId::Search,
        "search",
        "[TEXT]",
        "look for words in all sessions",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Title,
        "title",
        "[TEXT|auto]",
        "show or give the title of the session; the model makes one for auto",
        Group::Sessions,
    )
    .also(&["rename"]),
    Command::new(
        CommandId::Fork,
        "fork",
        "",
        "go on in a copy that ends with the last message, or the selected one",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Pin,
        "pin",
        "",
        "put the session above the others, or back",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Archive,
        "archive",
        "",
        "put the session out of sight, or back",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Tag,
        "tag",
        "[WORDS|off]",
        "show or set words to find the session by",
        Group::Sessions,
    )
    .also(&["tags"]),
    Command::new(
        CommandId::Export,
        "export",
        "FILE",
        "write the session to a file: .md and .html to be read, .json with all there is",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Import,
        "import",
        "FILE",
        "read sessions from a file: quipu's, OpenAI's, ShareGPT's, ChatGPT's, Open WebUI's",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Delete,
        "delete",
        "",
        "delete the session; /undo brings it back",
        Group::Sessions,
    ),
    Command::new(
        CommandId::Copy,
        "copy",
        "[code|N]",
        "copy the last answer or the selected message, its last block of code, or its Nth",
        Group::View,
    ),
    Command::new(
        CommandId::Find,
        "find",
        "[TEXT]",
        "look for words in the conversation on the screen",
        Group::View,
    ),
    Command::new(
        CommandId::Thoughts,
        "thoughts",
        "",
        "show what models thought, or fold it again",
        Group::View,
    ),
    Command::new(
        CommandId::Raw,
        "raw",
        "",
        "show answers as they were written, formulas and all, or as a page again",
        Group::View,
    )
    .also(&["source"]),
    Command::new(
        CommandId::Theme,
        "theme",
        "[NAME]",
        "choose the colours, seeing each at once",
        Group::View,
    )
    .also(&["themes"])
    .completing(Completes::Theme),
    Command::new(
        CommandId::Notices,
        "notices",
        "",
        "read again what quipu told you",
        Group::View,
    )
    .also(&["messages"]),
    Command::new(
        CommandId::Stats,
        "stats",
        "",
        "show what was said in this session, and how fast",
        Group::View,
    ),
    Command::new(CommandId::Help, "help", "", "show keys and commands", Group::View).also(&["keys"]),
    Command::new(CommandId::Quit, "quit", "", "end quipu", Group::View).also(&["exit", "bye"]),
];
