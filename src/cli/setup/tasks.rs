//! The tasks that need no sessions: timing, comparing, prompts, tokens, examining a model. Each is set up here and done in its own
//! file.

use std::io;
use std::path::Path;

use crate::cli::args::Args;
use crate::cli::bench::{self, BenchArgs};
use crate::cli::compare::{self, CompareArgs, Comparison};
#[cfg(feature = "llama")]
use crate::cli::doctor::{self, DoctorArgs};
use crate::cli::exit::{Exit, Stop};
use crate::cli::input;
use crate::cli::prompt::{self, PromptArgs, Source};
#[cfg(feature = "llama")]
use crate::cli::tokens::{self, TokenizeArgs};
use crate::config::from_home;
#[cfg(feature = "llama")]
use crate::doctor::Order;
use crate::domain::Role;
use crate::domain::inference::{ChatMessage, Opening, PromptRequest};
use crate::models::{self, Resolved};
use crate::store::Checkpoints;
use crate::text::sanitize_line;

use super::{Setup, runtime};

impl Setup {
    /// Times the engine.
    pub(in crate::cli) fn bench(self, task: &BenchArgs) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let mut engine = self.start_engine()?;
        let loader = self.loader();
        let source = loader(task.model.as_deref())?;
        let (load, sampling) = (self.settings.load.clone(), self.settings.sampling.clone());
        let states = self.states();
        if task.returns && states.is_none() {
            let words = "'--returns' needs a place for states: set 'state-mib' above 0 and 'keep' to true";
            return Err(Stop::new(Exit::Usage, words));
        }
        let timed = runtime()?.block_on(bench::run(&mut engine, source, load, sampling, task, io::stdout()));
        if let Some((folder, budget)) = states.filter(|_| task.returns) {
            Checkpoints::new(folder, budget).forget(bench::returns::NAME);
        }
        timed
    }

    /// Answers a question under several presets, or by several models.
    pub(in crate::cli) fn compare(self, task: &CompareArgs, args: &Args) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let Some(question) = input::question(&task.question)? else {
            let words = "there is no question: quipu compare --preset precise --preset creative \"Tell me a story\"";
            return Err(Stop::new(Exit::Usage, words));
        };
        let mut engine = self.start_engine()?;
        let loader = self.loader();
        let (tuning, options) = self.tuning();
        let system = self
            .settings
            .system
            .iter()
            .map(|text| ChatMessage::new(Role::System, text));
        let comparison = Comparison {
            presets: &args.flags.preset,
            models: &args.flags.model,
            values: &args.sampling,
            prompt: PromptRequest {
                messages: system.chain([ChatMessage::new(Role::User, &question)]).collect(),
                opening: Opening {
                    text: options.prefill,
                    said: Vec::new(),
                },
                thinking: options.thinking,
                overflow: options.overflow,
                max_tokens: options.max_tokens,
            },
            thinking_budget: options.thinking_budget,
            tuning,
        };
        let source = |name: Option<&str>| loader(name).inspect(|source| self.introduce(source));
        let with = (source, options.load);
        runtime()?.block_on(compare::run(&mut engine, with, comparison, task, io::stdout()))
    }

    /// Prints a prompt.
    pub(in crate::cli) fn prompt(self, task: &PromptArgs, args: &Args) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let named = args.load.iter().find(|(option, _)| option.name == "template");
        let named = named.map(|(_, name)| name.as_str()).filter(|name| *name != "model");
        // A named template stands alone, unless a model is named beside it.
        let model = (named.is_none() || !args.flags.model.is_empty()).then(|| self.vocabulary(&self.settings.model));
        let source = Source {
            template: named,
            model: model.transpose()?,
            thinking: self.settings.thinking,
        };
        prompt::run(task, &source, io::stdout())
    }

    /// Prints the tokens of a text.
    #[cfg(feature = "llama")]
    pub(in crate::cli) fn tokenize(self, task: &TokenizeArgs) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        tokens::run(task, &self.vocabulary(&task.model)?.file, io::stdout())
    }

    /// Examines a model.
    #[cfg(feature = "llama")]
    pub(in crate::cli) fn doctor(self, task: &DoctorArgs) -> Result<Exit, Stop> {
        self.tell_on_stderr();
        let located = models::locate(Some(Path::new(&from_home(&task.model))), &self.places());
        let located =
            located.map_err(|error| Stop::new(Exit::Model, sanitize_line(&error.to_string()).into_owned()))?;
        let prober = self.prober().filter(|_| !located.is_builtin());
        let order = Order {
            path: located.path(),
            options: &self.settings.load,
            prober: prober.as_deref(),
            tokenizer: task.tokenizer.as_deref(),
            against: task.against.as_deref(),
        };
        doctor::run(task, &order, io::stdout())
    }

    /// The file of this name, of which the vocabulary and the template are wanted.
    fn vocabulary(&self, name: &str) -> Result<Resolved, Stop> {
        models::resolve_vocabulary(Some(Path::new(&from_home(name))), &self.places())
            .map_err(|error| Stop::new(Exit::Model, sanitize_line(&error.to_string()).into_owned()))
    }
}
