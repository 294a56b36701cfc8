//! A chat line by line, for terminals that cannot place a cursor and for people who want none of it. The same core decides; what
//! it would draw is printed in order.

use std::io::{self, BufRead, Write};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::app::state::{Engine, Overlay};
use crate::app::{Action, COMMANDS, Command as Row, Effect, Msg, State, update};
use crate::domain::inference::{Command, Event, Part};
use crate::engine::EngineHandle;
use crate::run::{self, Keeper, Loader};
use crate::text::{Filter, sanitize};

use super::exit::{Exit, Stop};

/// Talks until standard input ends or the person quits.
///
/// # Errors
/// When standard output is gone.
pub(super) async fn run(
    engine: EngineHandle,
    (loader, keeper): (&Loader, &Keeper),
    state: State,
    effects: Vec<Effect>,
) -> Result<Exit, Stop> {
    let mut chat = Plain {
        engine,
        loader,
        keeper,
        state,
        filter: Filter::default(),
        thinks: false,
        notices: 0,
        exit: None,
    };
    let mut lines = lines();
    chat.carry_out(effects)?;
    while chat.exit.is_none() {
        let free = chat.state.running.is_none() && !matches!(chat.state.engine, Engine::Loading { .. });
        tokio::select! {
            event = chat.engine.events.recv() => match event {
                Some(event) => chat.told(event)?,
                None => return Err(Stop::new(Exit::Failed, "the engine has stopped")),
            },
            line = lines.recv(), if free => match line {
                Some(line) => chat.typed(line)?,
                None => return Ok(Exit::Success),
            },
            _ = tokio::signal::ctrl_c() => {
                if chat.state.running.is_none() {
                    return Ok(Exit::Interrupted);
                }
                chat.happened(Msg::Action(Action::Escape))?;
            }
        }
    }
    Ok(Exit::Success)
}

struct Plain<'a> {
    engine: EngineHandle,
    loader: &'a Loader,
    keeper: &'a Keeper,
    state: State,
    filter: Filter,
    /// Whether it was said that the model thinks.
    thinks: bool,
    /// Notices printed so far.
    notices: usize,
    exit: Option<u8>,
}

impl Plain<'_> {
    fn typed(&mut self, line: String) -> Result<(), Stop> {
        self.happened(Msg::Edited(line))?;
        self.state.draft.completion = None;
        self.happened(Msg::Action(Action::Send))
    }

    fn told(&mut self, event: Event) -> Result<(), Stop> {
        let (mut text, mut over) = (String::new(), false);
        match &event {
            Event::Token { said, .. } if said.part == Part::Thinking => {
                // What it thinks is not read out; that it does is.
                if !self.thinks {
                    "[thinking]\n".clone_into(&mut text);
                }
                self.thinks = true;
            }
            Event::Token { said, .. } => text = self.filter.push(&said.text),
            Event::Finished { .. } | Event::Failed { .. } | Event::Died { .. } => {
                text = self.filter.finish() + "\n";
                self.thinks = false;
                over = true;
            }
            Event::Ready { .. } => over = true,
            _ => {}
        }
        print(&text)?;
        self.happened(Msg::Engine(event))?;
        if over { print("> ") } else { Ok(()) }
    }

    fn happened(&mut self, msg: Msg) -> Result<(), Stop> {
        let effects = update(&mut self.state, msg);
        self.carry_out(effects)
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), Stop> {
        for effect in effects {
            match effect {
                Effect::Load { turn, name, options } => match (self.loader)(name.as_deref()) {
                    Ok(source) => self.ask(Command::Load { turn, source, options }),
                    Err(failure) => {
                        let effects = update(&mut self.state, Msg::Engine(Event::Failed { turn, failure }));
                        self.carry_out(effects)?;
                    }
                },
                Effect::Engine(command) => {
                    if let Command::Generate { request, .. } = &command
                        && request.prompt.opening.said.is_empty()
                    {
                        print(&self.filter.push(&request.prompt.opening.text))?;
                    }
                    self.ask(command);
                }
                Effect::Cancel(turn) => self.engine.cancel.stop(turn),
                Effect::Quit(code) => self.exit = Some(code),
                Effect::ReadGrammar { path, form } => {
                    let effects = update(&mut self.state, Msg::Grammar(run::read_grammar(&path, form)));
                    self.carry_out(effects)?;
                }
                Effect::SavePreset(preset) => {
                    let written = (self.keeper)(&preset);
                    let effects = update(&mut self.state, Msg::PresetSaved(preset.name, written));
                    self.carry_out(effects)?;
                }
                Effect::SetDraft(_) | Effect::Redraw | Effect::Suspend => {}
            }
        }
        self.print_news()
    }

    fn ask(&self, command: Command) {
        // A dead engine says so by its closed channel, which the loop looks at next.
        let _ = self.engine.commands.send(command);
    }

    /// Prints what a screen would show besides the answer.
    fn print_news(&mut self) -> Result<(), Stop> {
        let all = self.state.notices.all();
        let news: Vec<_> = all
            .iter()
            .skip(self.notices)
            .map(|notice| format!("[{}]\n", sanitize(&notice.text)))
            .collect();
        self.notices = self.state.notices.all().len();
        print(&news.concat())?;
        match self.state.screen.overlay.take() {
            Some(Overlay::Text { title, text, .. }) => print(&format!("{}\n{}\n> ", sanitize(&title), sanitize(&text))),
            Some(Overlay::Prompt {
                prompt: Some(prompt), ..
            }) => {
                let text: String = prompt.tokens.iter().map(|token| token.text.as_str()).collect();
                print(&format!("{}\n> ", sanitize(&text)))
            }
            Some(Overlay::Help { .. }) => {
                let row = |c: &Row| {
                    format!(
                        "/{:<10} {:<16} {}
",
                        c.name, c.args, c.help
                    )
                };
                let rows = COMMANDS.iter().map(row).collect::<Vec<_>>().concat();
                print(&format!("{rows}> "))
            }
            waiting => {
                self.state.screen.overlay = waiting;
                Ok(())
            }
        }
    }
}

/// The lines of standard input, read on a thread of its own.
fn lines() -> UnboundedReceiver<String> {
    let (sender, lines) = unbounded_channel();
    // Without the thread there is no input, and the chat ends as at the end of input.
    let _ = thread::Builder::new().name("quipu-lines".to_owned()).spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn print(text: &str) -> Result<(), Stop> {
    let mut out = io::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|_| Stop::quiet(Exit::Success))
}
