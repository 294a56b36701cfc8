//! The grammar of the command line. Flags for loading and sampling are made from the tables of the domain, so that a new row
//! is a flag at once. What the flags mean is resolved in `cli/mod.rs`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::domain::inference::{Overflow, Thinking};
use crate::domain::load_option::{LOAD_OPTIONS, LoadOption};
use crate::domain::sampling::{Kind, PARAMETERS, Parameter};

use super::bench::BenchArgs;
use super::compare::CompareArgs;
#[cfg(feature = "llama")]
use super::devices::DevicesArgs;
#[cfg(feature = "llama")]
use super::doctor::DoctorArgs;
use super::exit::{Exit, Stop};
use super::models::ModelsArgs;
use super::prompt::PromptArgs;
#[cfg(feature = "llama")]
use super::pull::PullArgs;
use super::sessions::SessionsArgs;
#[cfg(feature = "llama")]
use super::tokens::TokenizeArgs;

/// Chat with language models that run on your own machine, in your terminal.
///
/// Without a question a full-screen chat opens. With one, or with text on standard input, the answer goes to standard
/// output.
#[derive(Parser, Debug)]
#[command(name = "quipu", version, args_conflicts_with_subcommands = true, after_help = AFTER)]
pub(super) struct Args {
    /// What to ask; without it a chat opens
    #[arg(value_name = "QUESTION")]
    pub(super) question: Vec<String>,
    /// What every task knows.
    #[command(flatten)]
    pub(super) flags: Flags,
    /// Print the answer as JSON, with tokens, probabilities and timings
    #[arg(long)]
    pub(super) json: bool,
    /// Something else than a chat
    #[command(subcommand)]
    pub(super) command: Option<Task>,
    /// Load options given as flags, in table order.
    #[arg(skip)]
    pub(super) load: Vec<(&'static LoadOption, String)>,
    /// Sampling values given as flags, in table order.
    #[arg(skip)]
    pub(super) sampling: Vec<(&'static Parameter, String)>,
}

const AFTER: &str =
    "Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 the model cannot be used, 130 interrupted.";

/// Flags that every task knows.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct Flags {
    /// A GGUF file, or 'cria', the small model that quipu brings along; 'compare' takes several
    #[arg(long, short, global = true, value_name = "FILE")]
    pub(super) model: Vec<String>,
    /// Read this configuration file instead of the usual one
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The system prompt
    #[arg(long, global = true, value_name = "TEXT")]
    pub(super) system: Option<String>,
    /// The sampling preset to start from; 'compare' takes several
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) preset: Vec<String>,
    /// Longest answer, in tokens
    #[arg(long, global = true, value_name = "TOKENS")]
    pub(super) max_tokens: Option<u32>,
    /// A file with a GBNF grammar that answers must follow
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "json_schema")]
    pub(super) grammar: Option<String>,
    /// A file with a JSON schema that answers must follow
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) json_schema: Option<String>,
    /// What to do when a conversation outgrows the context
    #[arg(long, global = true, value_name = "stop|drop-oldest|summarise|shift", value_parser = overflow)]
    pub(super) overflow: Option<Overflow>,
    /// Whether a model that can think before it answers shall, and how hard
    #[arg(long, global = true, value_name = "on|off|low|medium|high|auto", value_parser = switch)]
    pub(super) thinking: Option<Switch>,
    /// Tokens of thinking after which the model is made to answer
    #[arg(long, global = true, value_name = "TOKENS")]
    pub(super) thinking_budget: Option<u32>,
    /// What the first answer starts with
    #[arg(long, global = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) prefill: Option<String>,
    /// Go on in the session with this title or number; one that is not there is begun
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "latest")]
    pub(super) session: Option<String>,
    /// Go on in the session that was used last
    #[arg(long = "continue", short = 'c', global = true)]
    pub(super) latest: bool,
    /// Load files that are new here at once, without trying them in a process of their own first
    #[arg(long, global = true)]
    pub(super) no_probe: bool,
    /// Chat line by line, in order and without panels, as screen readers want it
    #[arg(long, global = true)]
    pub(super) plain: bool,
    /// The theme: a name, or a file in the themes folder
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) theme: Option<String>,
    /// What makes the tokens: 'local' for llama.cpp, or 'scripted:FILE' for a script
    #[arg(long, global = true, value_name = "ENGINE", default_value = DEFAULT_ENGINE, value_parser = engine)]
    pub(super) engine: EngineChoice,
}

const DEFAULT_ENGINE: &str = if cfg!(feature = "llama") { "local" } else { "scripted" };

/// What makes the tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum EngineChoice {
    /// llama.cpp in this process.
    #[default]
    Local,
    /// A script; the built-in one without a file.
    Scripted(Option<PathBuf>),
}

/// Something else than a chat.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum Task {
    /// List, search, export, import and remove the sessions that are kept
    Sessions(SessionsArgs),
    /// List the models on this machine, tell what one is and takes, and remove those that quipu fetched
    Models(ModelsArgs),
    /// Fetch a model from the Hugging Face hub
    #[cfg(feature = "llama")]
    Pull(PullArgs),
    /// Answer a question under several presets at once, or by several models
    Compare(CompareArgs),
    /// Time prompt reading and generation with the engine that chats
    Bench(BenchArgs),
    /// Print the prompt that a chat template makes of messages
    Prompt(PromptArgs),
    /// Print the tokens of a text
    #[cfg(feature = "llama")]
    Tokenize(TokenizeArgs),
    /// List what models can be computed on here
    #[cfg(feature = "llama")]
    Devices(DevicesArgs),
    /// Examine a model: file, tokenizer, template, numbers, KV cache, speed
    #[cfg(feature = "llama")]
    Doctor(DoctorArgs),
    /// Try a model in this process; for quipu's own use
    #[cfg(feature = "llama")]
    #[command(hide = true)]
    TryModel(TrialArgs),
}

/// A file to be tried by a process that quipu started for it.
#[cfg(feature = "llama")]
#[derive(clap::Args, Clone, Debug)]
pub(super) struct TrialArgs {
    /// The model, or its first part
    #[arg(value_name = "FILE")]
    pub(super) path: PathBuf,
    /// Layers to put on graphics cards
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) on_card: u32,
    /// Compute nothing
    #[arg(long)]
    pub(super) load_only: bool,
    /// Values of the file's metadata to replace
    #[arg(long, value_name = "OVERRIDES", default_value = "", allow_hyphen_values = true)]
    pub(super) with: String,
}

/// Whether to think; in a type of its own, since an option of an option is another thing to the parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch(pub(super) Option<Thinking>);

fn switch(text: &str) -> Result<Switch, &'static str> {
    Thinking::named(text).map(Switch)
}

fn overflow(text: &str) -> Result<Overflow, String> {
    Overflow::named(text).ok_or_else(|| "give 'stop', 'drop-oldest', 'summarise' or 'shift'".to_owned())
}

fn engine(text: &str) -> Result<EngineChoice, String> {
    match text.split_once(':') {
        None if text == "local" && cfg!(feature = "llama") => Ok(EngineChoice::Local),
        None if text == "local" => Err("this quipu was built without llama.cpp; use 'scripted:FILE'".to_owned()),
        None if text == "scripted" => Ok(EngineChoice::Scripted(None)),
        Some(("scripted", file)) if !file.is_empty() => Ok(EngineChoice::Scripted(Some(file.into()))),
        _ => Err("give 'local' or 'scripted:FILE'".to_owned()),
    }
}

/// The whole grammar, sampling flags included.
pub fn command() -> clap::Command {
    let flag = |p: &'static Parameter| {
        let default = p.default();
        let arg = Arg::new(p.name)
            .long(p.name)
            .visible_aliases(p.aliases.to_vec())
            .global(true)
            .allow_hyphen_values(true)
            .value_name("VALUE")
            .help(format!("{} [default: {default}]", p.help))
            .help_heading("Sampling")
            .value_parser(NonEmptyStringValueParser::new());
        if p.kind == Kind::Switch {
            arg.num_args(0..=1).require_equals(true).default_missing_value("true")
        } else {
            arg
        }
    };
    let option = |o: &'static LoadOption| {
        Arg::new(o.name)
            .long(o.name)
            .global(true)
            .value_name("VALUE")
            .help(o.help.trim_end_matches('.'))
            .help_heading("Loading")
            .value_parser(NonEmptyStringValueParser::new())
    };
    Args::command()
        .args(LOAD_OPTIONS.iter().map(option))
        .args(PARAMETERS.iter().map(flag))
}

/// Reads the command line.
///
/// # Errors
/// With the words of the parser: help and version as success, everything else as a usage error.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Args, Stop> {
    let command = command();
    let args = task_first(args.into_iter().collect(), &command);
    let parsed = command.try_get_matches_from(args).and_then(|matches| {
        let mut args = Args::from_arg_matches(&matches)?;
        args.load = given(&matches, LOAD_OPTIONS, |row| row.name);
        args.sampling = given(&matches, PARAMETERS, |row| row.name);
        Ok(args)
    });
    parsed.map_err(|error| {
        let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
        Stop::new(exit, error.render().to_string().trim_end())
    })
}

/// Puts a task before the flags that stand before it: to the parser, whatever follows a flag is a question.
fn task_first(mut args: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    let mut at = 1;
    while let Some(arg) = args
        .get(at)
        .and_then(|arg| arg.to_str())
        .filter(|arg| arg.starts_with('-'))
    {
        let (name, glued) = match arg.split_once('=') {
            Some((name, _)) => (name, true),
            None => (arg, false),
        };
        let is_it = |known: &&Arg| match name.strip_prefix("--") {
            Some(long) => {
                let aliases = known.get_all_aliases().unwrap_or_default();
                known.get_long() == Some(long) || aliases.contains(&long)
            }
            None => known.get_short().is_some_and(|short| name == format!("-{short}")),
        };
        let Some(known) = command.get_arguments().find(is_it) else {
            return args;
        };
        let apart = known.get_action().takes_values() && !known.is_require_equals_set() && !glued;
        at += 1 + usize::from(apart);
    }
    let is_task = |word: &OsString| command.get_subcommands().any(|task| *word == *task.get_name());
    if args.get(at).is_some_and(is_task) {
        args[1..=at].rotate_right(1);
    }
    args
}

/// The flags of a table that were given; with a subcommand they stand in its matches.
fn given<T>(matches: &ArgMatches, table: &'static [T], name: fn(&T) -> &'static str) -> Vec<(&'static T, String)> {
    let innermost = matches.subcommand().map_or(matches, |(_, matches)| matches);
    let given = |row: &'static T| innermost.get_one::<String>(name(row)).map(|value| (row, value.clone()));
    table.iter().filter_map(given).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Args, Stop> {
        parse(line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_grammar_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_parameter_is_a_flag() {
        for p in PARAMETERS {
            let between = if p.kind == Kind::Switch { '=' } else { ' ' };
            let args = read(&format!("quipu --{}{between}-1 hello", p.name)).unwrap();
            assert_eq!(
                args.sampling
                    .iter()
                    .map(|(p, v)| (p.name, v.as_str()))
                    .collect::<Vec<_>>(),
                [(p.name, "-1")]
            );
            assert_eq!(args.question, ["hello"]);
        }
        assert_eq!(read("quipu bench --temp 0").unwrap().sampling[0].0.name, "temperature");
    }

    #[test]
    fn flags_may_stand_before_a_task() {
        for line in [
            "quipu --temp 0 --model x compare --json",
            "quipu -m x --temp=0 --ignore-eos compare --json",
            "quipu --json --model=x compare --temp 0",
        ] {
            let args = read(line).unwrap();
            assert!(matches!(args.command, Some(Task::Compare(_))), "{line}: {args:?}");
            assert_eq!(args.flags.model, ["x"], "{line}");
            assert_eq!(args.sampling[0].0.name, "temperature");
        }
        for (line, words) in [
            ("quipu --model compare hello compare", &["hello", "compare"][..]),
            ("quipu -m x what is compare", &["what", "is", "compare"]),
            ("quipu --temp 0 -- compare", &["compare"]),
        ] {
            assert_eq!(read(line).unwrap().question, words, "{line}");
        }
    }

    #[test]
    fn bad_words_are_usage_errors() {
        for bad in ["quipu --engine remote", "quipu --frobnicate"] {
            assert_eq!(read(bad).unwrap_err().exit, Exit::Usage, "{bad}");
        }
        assert_eq!(read("quipu --help").unwrap_err().exit, Exit::Success);
    }
}
