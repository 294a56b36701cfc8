//! A chat template, compiled once, and its run within limits: it comes from a downloaded file and may be hostile.

use std::io;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};

use super::error::{TemplateError, shown};
use super::markers::Markers;
use super::render::{Draft, Slots};
use super::{Message, NAMES, Options, Path, Rendered, builtin, fallback, open, reasoning, render, shims};
use crate::domain::thinking::{Thinking, ThinkingControls};
use crate::text::thinking::Format;

/// Largest source, in bytes. The largest templates published have about 20 KiB.
const MAX_SOURCE: usize = 256 * 1024;

/// Instructions that one rendering may take: about a second. A conversation of a thousand messages takes less than a
/// hundred thousand in most published templates, and four million in the one that looks at every earlier message again.
const FUEL: u64 = 20_000_000;

/// Depth of macros calling macros. Published templates recurse over nested values only; deeper recursion would overflow
/// the stack of a thread with 2 MiB.
const DEPTH: usize = 64;

/// What a template may write beyond four times what it is given, in bytes.
const ALLOWANCE: usize = 1024 * 1024;

/// The name under which the source is compiled; without an extension, so that nothing is escaped for HTML.
const NAME: &str = "chat";

/// A compiled chat template.
#[derive(Debug)]
pub struct Template {
    env: Environment<'static>,
    source: String,
    built_in: Option<&'static str>,
}

impl Template {
    /// Compiles a model's template.
    pub fn new(source: &str) -> Result<Self, TemplateError> {
        if source.len() > MAX_SOURCE {
            return Err(TemplateError::TooLong {
                bytes: source.len(),
                limit: MAX_SOURCE,
            });
        }
        if !source.contains("messages") {
            let start = shown(&source.chars().take(40).collect::<String>());
            return Err(TemplateError::NoMessages { start });
        }
        let compile = || {
            let mut env = shims::environment()?;
            env.set_fuel(Some(FUEL));
            env.set_recursion_limit(DEPTH);
            env.add_template_owned(NAME, shims::replace_generation_tags(source).into_owned())?;
            Ok(env)
        };
        let env = compile().map_err(|error| TemplateError::from_engine(&error))?;
        Ok(Self {
            env,
            source: source.to_owned(),
            built_in: None,
        })
    }

    /// Compiles one of our own templates; see [`NAMES`].
    pub fn built_in(name: &str) -> Result<Self, TemplateError> {
        let known = NAMES.into_iter().find(|known| *known == name);
        let (Some(known), Some(source)) = (known, builtin(name)) else {
            return Err(TemplateError::UnknownName {
                name: shown(name),
                known: NAMES.join(", "),
            });
        };
        Ok(Self {
            built_in: Some(known),
            ..Self::new(source)?
        })
    }

    /// The source, as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Makes the prompt. A conversation that the template refuses is rearranged, as [`Path`] tells, before giving up; the
    /// error is then the one that the conversation met as it was given.
    pub fn render(
        &self,
        messages: &[Message<'_>],
        markers: &Markers,
        options: &Options,
    ) -> Result<Rendered, TemplateError> {
        let turns = fallback::as_is(messages);
        let refusal = match render::render(self, &turns, markers, options) {
            Ok(draft) => return Ok(self.finish(draft, Path::AsIs)),
            Err(error) if error.depends_on_messages() => error,
            Err(error) => return Err(error),
        };
        for (path, turns) in fallback::others(&turns) {
            match render::render(self, &turns, markers, options) {
                Ok(draft) => return Ok(self.finish(draft, path)),
                Err(error) if error.depends_on_messages() => {}
                Err(error) => return Err(error),
            }
        }
        Err(refusal)
    }

    /// Makes the prompt of a whole conversation as JSON has it: `messages` with whatever fields they have, and perhaps `tools` and
    /// other names that a template knows. Nothing is rearranged, and there are no ranges and cuts, so it is for looking at.
    ///
    /// # Errors
    /// When the template fails or refuses.
    pub fn render_json(&self, conversation: &serde_json::Value, options: &Options) -> Result<Rendered, TemplateError> {
        let given = Value::from(Serde(conversation));
        let names = context! { ..given, ..surroundings(options) };
        let draft = Draft {
            text: self.run(names, conversation.to_string().len())?,
            cuts: Vec::new(),
            contents: Vec::new(),
        };
        Ok(self.finish(draft, Path::AsIs))
    }

    /// Makes the prompt of a conversation whose last message is the beginning of an answer: the text ends with its content, and no
    /// tag behind it, as if the model had written so far. A template that cannot show where that is gets the content put behind
    /// the prompt of the other messages.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_open(
        &self,
        messages: &[Message<'_>],
        markers: &Markers,
        options: &Options,
    ) -> Result<Rendered, TemplateError> {
        let Some((last, before)) = messages.split_last() else {
            return self.render(messages, markers, options);
        };
        let closed = Options {
            add_generation_prompt: false,
            ..options.clone()
        };
        let rendered = self.render(messages, markers, &closed).ok();
        let open = rendered.and_then(|rendered| open::at_content(rendered, before.len(), last.content));
        open.map_or_else(
            || {
                Ok(open::behind(
                    self.render(before, markers, options)?,
                    before.len(),
                    last.content,
                    markers,
                ))
            },
            Ok,
        )
    }

    /// The ways in which a model with this template may mark its thinking.
    pub fn thinking_formats(&self) -> Vec<Format> {
        reasoning::formats(&self.source)
    }

    /// What of the thinking the template lets a person decide.
    pub fn thinking_controls(&self) -> ThinkingControls {
        let Ok(template) = self.env.get_template(NAME) else {
            return ThinkingControls::default();
        };
        let names = template.undeclared_variables(false);
        ThinkingControls {
            switch: SWITCHES.iter().any(|name| names.contains(*name)),
            effort: names.contains(EFFORT),
        }
    }

    fn finish(&self, draft: Draft, path: Path) -> Rendered {
        let Draft { text, cuts, contents } = draft;
        Rendered {
            text,
            cuts,
            contents,
            path: self.built_in.map_or(path, Path::BuiltIn),
        }
    }

    /// Runs the template once.
    pub(super) fn fill(&self, messages: &[Slots], options: &Options) -> Result<String, TemplateError> {
        let given: usize = messages.iter().map(|m| m.content.len() + m.thinking.len()).sum();
        self.run(values(messages, options), given)
    }

    /// Runs the template with these names, of which `given` bytes came from a conversation.
    fn run(&self, names: Value, given: usize) -> Result<String, TemplateError> {
        let mut out = Capped {
            bytes: Vec::new(),
            limit: 4 * (given + self.source.len()) + ALLOWANCE,
            full: false,
        };
        let rendered = self
            .env
            .get_template(NAME)
            .and_then(|template| template.render_captured_to(names, &mut out).map(drop));
        if out.full {
            return Err(TemplateError::Flood { limit: out.limit });
        }
        rendered.map_err(|error| TemplateError::from_engine(&error))?;
        // The engine writes strings only; nothing is lost here.
        Ok(String::from_utf8_lossy(&out.bytes).into_owned())
    }
}

/// What a template finds by name. What is not known stays undefined, which templates test for; none they mistake.
fn values(messages: &[Slots], options: &Options) -> Value {
    let message = |message: &Slots| {
        let thinking = Some(&message.thinking).filter(|thinking| !thinking.is_empty());
        let names = ["reasoning_content", "reasoning", "thinking"];
        let thoughts = thinking
            .into_iter()
            .flat_map(|text| names.map(|name| (name, text.as_str())));
        let said = [("role", message.role.as_str()), ("content", message.content.as_str())];
        Value::from_pairs(said.into_iter().chain(thoughts))
    };
    context! {
        messages => messages.iter().map(message).collect::<Vec<_>>(),
        ..surroundings(options)
    }
}

/// All of it but the messages.
fn surroundings(options: &Options) -> Value {
    let thinking = options.thinking.map_or(Value::UNDEFINED, |wish| wish.is_on().into());
    let effort = options.thinking.and_then(Thinking::effort);
    context! {
        add_generation_prompt => options.add_generation_prompt,
        bos_token => &options.bos_token,
        eos_token => &options.eos_token,
        strftime_now => shims::strftime_now(options.now),
        enable_thinking => thinking.clone(),
        thinking => thinking,
        reasoning_effort => effort.map_or(Value::UNDEFINED, Value::from),
    }
}

/// The names under which templates know whether to think.
const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// The name under which they know how hard.
const EFFORT: &str = "reasoning_effort";

/// Takes bytes up to a limit.
struct Capped {
    bytes: Vec<u8>,
    limit: usize,
    full: bool,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            self.full = true;
            return Err(io::Error::other("the output limit is reached"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
