//! `quipu prompt`: the prompt that a chat template makes of messages, byte for byte and nothing else. Needs no engine.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use clap::Args;
use serde_json::Value;

use crate::domain::Role;
use crate::domain::thinking::Thinking;
#[cfg(feature = "llama")]
use crate::engine::local::Lexicon;
use crate::gguf::ModelFile;
use crate::models::Resolved;
use crate::prompt::{self, Markers, Message, NAMES, Options, Rendered, Template, TemplateError};

use super::exit::{self, Exit, Stop};
#[cfg(feature = "llama")]
use super::tokens;

/// Most bytes of messages: far more than any context holds.
const LARGEST: u64 = 64 << 20;

/// What to render. The template is that of `--template`, else the model's.
#[derive(Args, Clone, Debug)]
pub(super) struct PromptArgs {
    /// A JSON file: a list of messages, or an object with 'messages' and perhaps 'tools'; '-' reads standard input
    #[arg(long, value_name = "FILE")]
    pub(super) messages: String,
    /// The time that the template may print, as 2026-01-31T12:00:00; now by default
    #[arg(long, value_name = "TIME")]
    pub(super) now: Option<jiff::civil::DateTime>,
    /// The text of the token that begins a sequence; the model's by default
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) bos_token: Option<String>,
    /// The text of the token that ends one; the model's by default
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) eos_token: Option<String>,
    /// End with the last message instead of the beginning of an answer
    #[arg(long)]
    pub(super) no_generation_prompt: bool,
    /// Print the tokens instead, as the chat feeds them to the model; needs the model's file
    #[cfg(feature = "llama")]
    #[arg(long)]
    pub(super) tokens: bool,
}

/// What is rendered with what.
pub(super) struct Source<'a> {
    /// The template that was named; without one it is the model's.
    pub(super) template: Option<&'a str>,
    /// The model that was named, or the usual one where no template was.
    pub(super) model: Option<Resolved>,
    /// Whether the model shall think.
    pub(super) thinking: Option<Thinking>,
}

/// Renders and prints.
///
/// # Errors
/// A usage error for messages or a template that cannot be read, a failure where the template refuses.
pub(super) fn run(args: &PromptArgs, source: &Source<'_>, out: impl Write) -> Result<Exit, Stop> {
    let conversation = conversation(&args.messages)?;
    let file = source.model.as_ref().map(|model| &model.file);
    let template = match (source.template, file) {
        (Some(name), _) => named_template(name)?,
        (None, Some(file)) => own_template(file)?,
        (None, None) => Template::built_in(prompt::DEFAULT).map_err(unusable)?,
    };
    let token = |given: &Option<String>, key| match (given, file) {
        (Some(given), _) => given.clone(),
        (None, Some(file)) => special_token(file, key),
        (None, None) => String::new(),
    };
    let options = Options {
        add_generation_prompt: !args.no_generation_prompt,
        bos_token: token(&args.bos_token, "tokenizer.ggml.bos_token_id"),
        eos_token: token(&args.eos_token, "tokenizer.ggml.eos_token_id"),
        thinking: source.thinking,
        ..Options::new(args.now.unwrap_or_else(|| jiff::Zoned::now().datetime()))
    };
    #[cfg(feature = "llama")]
    if args.tokens {
        return list_tokens(file, (&template, &conversation, &options), out);
    }
    let rendered = render(&template, &conversation, &Markers::none(), &options)?;
    exit::print("the prompt", &rendered.text, out)
}

/// The prompt, as the chat makes it where the messages are no more than what the chat has.
fn render(template: &Template, conversation: &Value, markers: &Markers, options: &Options) -> Result<Rendered, Stop> {
    let refused = |error: TemplateError| Stop::new(Exit::Failed, error.to_string());
    match plain(conversation) {
        // With the chat's ways around a template that refuses.
        Some(messages) => {
            let borrowed: Vec<_> = messages
                .iter()
                .map(|(role, content)| Message::new(*role, content))
                .collect();
            template.render(&borrowed, markers, options).map_err(refused)
        }
        None => template.render_json(conversation, options).map_err(refused),
    }
}

/// Prints the prompt's tokens in this model's vocabulary.
#[cfg(feature = "llama")]
fn list_tokens(
    file: Option<&ModelFile>,
    (template, conversation, options): (&Template, &Value, &Options),
    out: impl Write,
) -> Result<Exit, Stop> {
    let Some(file) = file else {
        let message = "--tokens needs the model whose tokens are meant: give '--model FILE' beside the template";
        return Err(Stop::new(Exit::Usage, message));
    };
    let lexicon = Lexicon::open(file)?;
    let rendered = render(template, conversation, lexicon.markers(), options)?;
    tokens::print(&lexicon.prompt(&rendered), false, out)
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn unusable(error: TemplateError) -> Stop {
    Stop::new(Exit::Model, error.to_string())
}

/// The conversation: an object with `messages`.
fn conversation(file: &str) -> Result<Value, Stop> {
    let usage = |why: String| Stop::new(Exit::Usage, format!("the messages in '{file}' cannot be used: {why}"));
    let mut text = String::new();
    let read = if file == "-" {
        io::stdin().lock().take(LARGEST).read_to_string(&mut text)
    } else {
        File::open(file).and_then(|opened| opened.take(LARGEST).read_to_string(&mut text))
    };
    read.map_err(|error| usage(format!("{error}; check the name and who may read it")))?;
    let parsed: Value = serde_json::from_str(&text).map_err(|error| usage(format!("they are no JSON: {error}")))?;
    let conversation = match parsed {
        Value::Array(_) => serde_json::json!({ "messages": parsed }),
        object => object,
    };
    let all_objects = |list: &Vec<Value>| list.iter().all(Value::is_object);
    if conversation
        .get("messages")
        .and_then(Value::as_array)
        .is_some_and(all_objects)
    {
        Ok(conversation)
    } else {
        Err(usage(
            "give a list of objects with 'role' and 'content', or an object with such a list as 'messages'".to_owned(),
        ))
    }
}

/// The messages, where they are no more than what the chat itself has.
fn plain(conversation: &Value) -> Option<Vec<(Role, String)>> {
    let object = conversation.as_object().filter(|object| object.len() == 1)?;
    let message = |message: &Value| {
        let fields = message.as_object().filter(|fields| fields.len() == 2)?;
        let role = serde_json::from_value(fields.get("role")?.clone()).ok()?;
        Some((role, fields.get("content")?.as_str()?.to_owned()))
    };
    object.get("messages")?.as_array()?.iter().map(message).collect()
}

/// The built-in template of that name, or the one in the file of that name.
fn named_template(name: &str) -> Result<Template, Stop> {
    let usage = |error: TemplateError| Stop::new(Exit::Usage, error.to_string());
    if NAMES.contains(&name) && !Path::new(name).exists() {
        return Template::built_in(name).map_err(usage);
    }
    let text = fs::read_to_string(name).map_err(|error| {
        let names = NAMES.join(", ");
        let message = format!("there is no built-in template '{name}' and no such file can be read ({error}): give one of {names} or a file");
        Stop::new(Exit::Usage, message)
    })?;
    Template::new(&text).map_err(usage)
}

/// A model's own template, or the usual one where it has none.
fn own_template(file: &ModelFile) -> Result<Template, Stop> {
    match file.metadata().chat_template().map(Template::new) {
        Some(Ok(own)) => Ok(own),
        Some(Err(TemplateError::NoMessages { .. })) | None => Template::built_in(prompt::DEFAULT).map_err(unusable),
        Some(Err(error)) => Err(unusable(error)),
    }
}

/// The text of the special token that a model's file names under this key; empty where it names none.
fn special_token(file: &ModelFile, key: &str) -> String {
    let metadata = file.metadata();
    let id = metadata.u64(key).and_then(|id| usize::try_from(id).ok());
    let token = id.and_then(|id| metadata.tokens().nth(id));
    token.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes).into_owned())
}
