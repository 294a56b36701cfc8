//! Plays a script on the engine's thread. Waits on the command channel and never sleeps: a cancel is seen within
//! [`SLICE`], settings at once, and other commands are kept in order for after the turn.

use std::collections::VecDeque;
use std::panic::panic_any;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use crate::domain::Role;
use crate::domain::Sampling;
use crate::domain::inference::{
    Candidate, Change, Command, Event, Failure, FailureKind, Finish, GenerateRequest, LoadOptions, LoadStep,
    LookRequest, ModelInfo, Part, PrefillProgress, PromptRequest, PromptView, Report, Said, Stats, ThinkingControls,
    Token, TurnId, Window,
};
use crate::domain::prospect::Prospect;
use crate::domain::sampling::{Parameter, Seed};
use crate::engine::{Ends, digest};
use crate::text::thinking::{FORMATS, Splitter, Unit};

use super::script::{Answer, Script, Then};
use super::words;

/// The longest wait without a look at the cancel mark: a tenth of what a person notices.
const SLICE: Duration = Duration::from_millis(10);

/// Steps in which progress is told: enough for a bar to move.
const STEPS: u32 = 20;

/// A word with the names of parameters in braces replaced by the values in force.
fn filled(piece: &str, sampling: &Sampling) -> String {
    let mut filled = String::with_capacity(piece.len());
    let mut rest = piece;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}');
        let found = named.and_then(|(name, after)| Some((Parameter::find(name)?, after)));
        rest = if let Some((parameter, after)) = found {
            filled.push_str(&parameter.get(sampling).to_string());
            after
        } else {
            filled.push('{');
            after
        };
    }
    filled + rest
}

/// The turn is to end before its time.
struct Interrupted;

pub(super) struct Player<'a> {
    ends: &'a Ends,
    script: Script,
    /// Commands that came during a turn and are not its business.
    waiting: VecDeque<Command>,
    /// Settings that came during a turn.
    tuned: Option<Sampling>,
    /// Whether the thinking is to end.
    end_thinking: bool,
    /// Tokens of context, once the model is loaded.
    context: Option<u32>,
    /// What is in the context: prompts and answers, as a real engine's cache would have it.
    cache: Vec<Token>,
    /// Answers given.
    given: usize,
}

impl<'a> Player<'a> {
    pub(super) fn new(ends: &'a Ends, script: Script) -> Self {
        Self {
            ends,
            script,
            waiting: VecDeque::new(),
            tuned: None,
            end_thinking: false,
            context: None,
            cache: Vec::new(),
            given: 0,
        }
    }

    /// Takes commands until nobody is left to give one.
    pub(super) fn run(mut self) {
        while let Some(command) = self.next() {
            let event = match command {
                Command::Load { turn, options, .. } => self.load(turn, &options),
                Command::Generate { turn, request } => self.generate(turn, &request),
                Command::Compare { turn, .. } => Event::Failed {
                    turn,
                    failure: Failure::new(
                        FailureKind::Compute,
                        "a script gives one answer at a time: compare with a model",
                    ),
                },
                Command::Look { turn, look } => {
                    self.look_back(&look);
                    Event::Looked { turn }
                }
                Command::Render { turn, prompt } => self.render(turn, &prompt),
                // It reads nothing ahead.
                Command::Resume { turn, .. } => Event::Resumable {
                    turn,
                    tokens: self.cache.len() as u32,
                    restored: 0,
                },
                Command::Bench { turn, .. } => Event::Failed {
                    turn,
                    failure: Failure::new(
                        FailureKind::Compute,
                        "a script has no speed to measure: 'quipu bench' times a model, with the engine 'local'",
                    ),
                },
                Command::Unload => {
                    self.context = None;
                    self.ends.counter.set(None);
                    continue;
                }
                // Of no effect between turns; and a script has no state to keep.
                Command::Tune(_) | Command::EndThinking { .. } | Command::Keep { .. } => {
                    continue;
                }
            };
            self.tell(event);
        }
    }

    fn next(&mut self) -> Option<Command> {
        self.waiting.pop_front().or_else(|| self.ends.commands.recv().ok())
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more where this fails; then no command comes either, and the thread ends.
        let _ = self.ends.events.send(event);
    }

    /// Lets `time` pass, looking at what comes meanwhile.
    fn wait(&mut self, turn: TurnId, time: Duration) -> Result<(), Interrupted> {
        let until = Instant::now() + time;
        loop {
            if self.ends.cancel.is_stopped(turn) {
                return Err(Interrupted);
            }
            let left = until.saturating_duration_since(Instant::now()).min(SLICE);
            let command = if left.is_zero() {
                match self.ends.commands.try_recv() {
                    Ok(command) => command,
                    Err(TryRecvError::Empty) => return Ok(()),
                    Err(TryRecvError::Disconnected) => return Err(Interrupted),
                }
            } else {
                match self.ends.commands.recv_timeout(left) {
                    Ok(command) => command,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return Err(Interrupted),
                }
            };
            match command {
                Command::Tune(sampling) => self.tuned = Some(sampling),
                Command::EndThinking { turn: ended } => self.end_thinking |= ended == turn,
                other => self.waiting.push_back(other),
            }
        }
    }

    fn load(&mut self, turn: TurnId, options: &LoadOptions) -> Event {
        self.context = None;
        self.cache.clear();
        let total = self.script.bytes();
        let step = self.script.model.load() / STEPS;
        for done in 0..=STEPS {
            self.tell(Event::Loading {
                turn,
                step: LoadStep::default(),
                done: total * u64::from(done) / u64::from(STEPS),
                total,
            });
            if self.wait(turn, step).is_err() {
                let failure = Failure::new(FailureKind::Cancelled, "the load was stopped");
                return Event::Failed { turn, failure };
            }
        }
        if let Some(words) = &self.script.model.fail {
            let failure = Failure::new(FailureKind::Model, words);
            return Event::Failed { turn, failure };
        }
        let trained = self.script.model.context;
        let context = options.context.map_or(trained, |asked| asked.clamp(1, trained));
        self.context = Some(context);
        self.ends.counter.set(Some(Box::new(words::Words)));
        let model = Box::new(ModelInfo {
            name: self.script.model.name.clone(),
            fingerprint: format!("script:{}", self.script.model.name),
            architecture: "script".to_owned(),
            bytes: total,
            vocabulary: words::VOCABULARY,
            context,
            context_trained: trained,
            threads: 1,
            build: "a script".to_owned(),
            template: "marks of the script".to_owned(),
            template_digest: "script".to_owned(),
            thinking: ThinkingControls {
                switch: true,
                effort: true,
            },
            ..ModelInfo::default()
        });
        Event::Ready { turn, model }
    }

    fn render(&self, turn: TurnId, request: &PromptRequest) -> Event {
        if self.context.is_none() {
            return no_model(turn);
        }
        let tokens = words::prompt(request);
        let ids: Vec<_> = tokens.iter().map(|token| token.token).collect();
        Event::Rendered {
            turn,
            prompt: PromptView {
                tokens,
                template: "marks of the script".to_owned(),
                cached: self.reused(&ids) as u32,
                window: Window::default(),
            },
        }
    }

    /// How many of the first tokens need not be read. The last one always is, as a real engine needs its logits.
    fn reused(&self, prompt: &[Token]) -> usize {
        let same = self.cache.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        same.min(prompt.len().saturating_sub(1))
    }

    fn generate(&mut self, turn: TurnId, request: &GenerateRequest) -> Event {
        let Some(context) = self.context else {
            return no_model(turn);
        };
        let answer = self.script.answers[self.given.min(self.script.answers.len() - 1)].clone();
        self.given += 1;
        self.tuned = None;
        self.end_thinking = false;
        let prompt: Vec<_> = words::prompt(&request.prompt).iter().map(|token| token.token).collect();
        if prompt.len() >= context as usize {
            return Event::Failed {
                turn,
                failure: too_long(prompt.len(), context),
            };
        }
        let digest = digest::of_tokens(&prompt);
        let began = Instant::now();
        let mut stats = Stats {
            prompt_tokens: answer.prompt_tokens.unwrap_or(prompt.len() as u32),
            reused_tokens: self.reused(&prompt) as u32,
            seed: match request.sampling.seed {
                Seed::Fixed(seed) => seed,
                Seed::Random => self.given as u32,
            },
            ..Stats::default()
        };
        let finish = match self.read(turn, prompt, &answer, &stats) {
            Ok(()) => {
                stats.prefill = began.elapsed();
                self.tell(Event::Prompted {
                    turn,
                    path: "marks of the script".to_owned(),
                    digest,
                    seed: stats.seed,
                });
                self.say(turn, request, &answer, (began, context), &mut stats)
            }
            Err(Interrupted) => Finish::Stopped,
        };
        stats.context_used = self.cache.len() as u32;
        let event = Event::Finished { turn, finish, stats };
        if finish == Finish::EndOfTurn {
            end(turn, &answer, event)
        } else {
            event
        }
    }

    fn read(&mut self, turn: TurnId, prompt: Vec<Token>, answer: &Answer, stats: &Stats) -> Result<(), Interrupted> {
        let (total, reused) = (stats.prompt_tokens, stats.reused_tokens);
        self.cache = prompt;
        for step in 0..=STEPS {
            let fresh = u64::from(total.saturating_sub(reused)) * u64::from(step) / u64::from(STEPS);
            let done = reused + fresh as u32;
            let progress = PrefillProgress { done, total, reused };
            self.tell(Event::Prefill { turn, progress });
            self.wait(turn, answer.prefill() / STEPS)?;
        }
        Ok(())
    }

    /// Says the answer word by word. [`Finish::EndOfTurn`] where it was said to its end.
    fn say(
        &mut self,
        turn: TurnId,
        request: &GenerateRequest,
        answer: &Answer,
        (began, context): (Instant, u32),
        stats: &mut Stats,
    ) -> Finish {
        let text = whole(answer, request);
        let mut sampling = request.sampling.clone();
        let (mut first, mut told) = (None, false);
        let mut splitter = Splitter::new(
            &FORMATS,
            |tag| tag.chars().map(Unit::Char).collect(),
            |_| String::new(),
            None,
        );
        for piece in words::split(&text) {
            if self.wait(turn, answer.token()).is_err() {
                return Finish::Stopped;
            }
            self.heed(turn, request, stats.generated, &mut sampling);
            if self.cache.len() >= context as usize {
                return Finish::ContextFull;
            }
            let thinks = splitter.thinking();
            let budget = request
                .thinking_budget
                .is_some_and(|most| stats.thinking_tokens >= most);
            if thinks.is_some() {
                self.tell_end(turn, stats.generated, &mut told);
            }
            let Some(piece) = thought(piece, thinks.filter(|_| self.end_thinking || budget)) else {
                continue;
            };
            let piece = filled(piece, &sampling);
            let (token, bytes) = (words::id(&piece), piece.as_bytes().to_vec());
            self.look(answer, &piece);
            self.cache.push(token);
            let parts = splitter.push(&piece);
            let part = part_of(thinks.or(splitter.thinking()));
            stats.generated += 1;
            stats.thinking_tokens += u32::from(part == Part::Thinking);
            stats.decode = first.get_or_insert_with(Instant::now).elapsed();
            if part == Part::Thinking {
                stats.thinking = stats.decode;
            }
            if stats.generated == 1 {
                stats.first_token = began.elapsed();
            }
            let report = request.report.then(|| Box::new(report(answer, &piece)));
            self.say_all(turn, Said::in_parts((token, part), bytes, parts, report));
            if request.prompt.max_tokens.is_some_and(|most| stats.generated >= most) {
                return Finish::MaxTokens;
            }
        }
        self.say_all(turn, Said::without_token(splitter.finish()));
        Finish::EndOfTurn
    }

    /// Leaves what a word is shown as drawn from: the words of the script, and the one that is said with what they leave.
    fn look(&self, answer: &Answer, said: &str) {
        let said = (said.to_owned(), rest(answer));
        let all: Vec<&(String, f32)> = std::iter::once(&said).chain(&answer.spread).collect();
        let named = |(id, (text, _)): (usize, &&(String, f32))| (Token(id as i32), text.clone());
        self.ends.lookout.put(Prospect {
            logits: all.iter().map(|(_, p)| p.ln()).collect(),
            texts: all.iter().enumerate().map(named).collect(),
            ..Prospect::default()
        });
    }

    /// The same for a word of an answer that is over, which is certain: what a script says follows from no distribution.
    fn look_back(&self, request: &LookRequest) {
        self.ends.lookout.put(Prospect {
            logits: vec![0.0],
            texts: vec![(Token(0), format!("#{}", request.said.0))],
            place: Some(request.place),
            ..Prospect::default()
        });
    }

    /// Takes in what was asked for since the last word, and what is due of what is to change under way.
    fn heed(&mut self, turn: TurnId, request: &GenerateRequest, at: u32, sampling: &mut Sampling) {
        for (_, change) in request.changes.iter().filter(|(due, _)| *due == at) {
            match change {
                Change::Settings(settings) => self.tuned = Some(settings.as_ref().clone()),
                Change::EndThinking => self.end_thinking = true,
            }
        }
        if let Some(tuned) = self.tuned.take() {
            sampling.clone_from(&tuned);
            let change = Change::Settings(Box::new(tuned));
            self.tell(Event::Changed { turn, at, change });
        }
    }

    /// Tells once that the thinking is being ended, where it was asked for.
    fn tell_end(&self, turn: TurnId, at: u32, told: &mut bool) {
        if self.end_thinking && !*told {
            *told = true;
            let change = Change::EndThinking;
            self.tell(Event::Changed { turn, at, change });
        }
    }

    fn say_all(&self, turn: TurnId, all: impl Iterator<Item = Said>) {
        for said in all {
            self.tell(Event::Token { turn, said });
        }
    }
}

/// Where a word belongs that stands in this kind of thinking.
fn part_of(thinks: Option<usize>) -> Part {
    thinks.map_or(Part::Answer, |_| Part::Thinking)
}

/// What is said of a word: nothing, where it is one of the thinking that is to end, up to its tag.
fn thought(piece: &str, ending: Option<usize>) -> Option<&str> {
    let Some(format) = ending.and_then(|at| FORMATS.get(at)) else {
        return Some(piece);
    };
    piece.find(format.close.as_ref()).map(|at| &piece[at..])
}

/// What a word is shown as drawn from: the words of the script, and the one that is said with what they leave. Where the script has
/// none, it is certain.
fn report(answer: &Answer, said: &str) -> Report {
    let rest = rest(answer);
    let candidate = |text: &str, share: f32| Candidate {
        token: words::id(text),
        text: text.to_owned(),
        logit: share.ln(),
        before: share,
        after: Some(share),
        removed: None,
    };
    let others = answer.spread.iter().map(|(text, share)| candidate(text, *share));
    let mut candidates: Vec<Candidate> = others.chain([candidate(said, rest)]).collect();
    candidates.sort_by(|a, b| b.before.total_cmp(&a.before));
    Report {
        probability: rest,
        after: rest,
        rank: candidates.iter().filter(|other| other.before > rest).count() as u32,
        entropy: candidates.iter().map(|one| -one.before * one.before.log2()).sum(),
        candidates,
        ..Report::default()
    }
}

/// What the words of the script leave to the one that is said.
fn rest(answer: &Answer) -> f32 {
    let others: f32 = answer.spread.iter().map(|(_, share)| share).sum();
    (1.0 - others).max(0.01)
}

/// All that an answer says: what was asked, where it echoes, and its own text.
fn whole(answer: &Answer, request: &GenerateRequest) -> String {
    let asked = request
        .prompt
        .messages
        .iter()
        .rfind(|message| message.role == Role::User);
    let echo = asked
        .filter(|_| answer.echo)
        .map_or("", |message| message.content.as_str());
    format!("{echo}{}", answer.text)
}

/// What comes after the last word.
#[allow(clippy::panic, reason = "a script may ask for a panic, to see what becomes of it")]
fn end(turn: TurnId, answer: &Answer, told: Event) -> Event {
    let otherwise = |finish| match told.clone() {
        Event::Finished { turn, stats, .. } => Event::Finished { turn, finish, stats },
        other => other,
    };
    match answer.then {
        Then::End => told,
        Then::MaxTokens => otherwise(Finish::MaxTokens),
        Then::ContextFull => otherwise(Finish::ContextFull),
        Then::Fail => Event::Failed {
            turn,
            failure: Failure::new(FailureKind::Compute, answer.words()),
        },
        Then::Panic => panic_any(answer.words().to_owned()),
        Then::Abort => std::process::abort(),
    }
}

fn no_model(turn: TurnId) -> Event {
    let failure = Failure::new(FailureKind::NoModel, "no model is loaded: '/model FILE' loads one");
    Event::Failed { turn, failure }
}

fn too_long(tokens: usize, context: u32) -> Failure {
    let message = format!(
        "the conversation has {tokens} tokens and the context of the script holds {context}: shorten the message, or \
         begin anew with '/new'"
    );
    Failure::new(FailureKind::TooLong, message)
}
