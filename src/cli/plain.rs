//! A chat line by line, for terminals that cannot place a cursor and for people who want none of it. The same core decides; what
//! it would draw is printed in order.

use std::io::{self, BufRead, Write};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::app::compare::Column;
use crate::app::sessions::SessionList;
use crate::app::state::{Engine, Overlay};
use crate::app::{Action, COMMANDS, Command as Row, Effect, Msg};
use crate::domain::inference::{Event, Part};
use crate::text::{Filter, sanitize, sanitize_line};

use super::driver::{Driver, Outside};
use super::exit::{Exit, Stop};

/// Talks until standard input ends or the person quits.
///
/// # Errors
/// When standard output is gone.
pub(super) async fn run(driver: Driver<'_>, effects: Vec<Effect>) -> Result<Exit, Stop> {
    let mut chat = Plain {
        driver,
        filter: Filter::default(),
        thinks: false,
        notices: 0,
        opened: None,
    };
    let mut lines = lines();
    chat.driver.carry_out(effects);
    chat.print_news()?;
    let exit = chat.talk(&mut lines).await;
    chat.happened(Msg::Action(Action::Run(crate::app::CommandId::Quit)))?;
    chat.driver.farewell().await;
    exit
}

struct Plain<'a> {
    driver: Driver<'a>,
    filter: Filter,
    /// Whether it was said that the model thinks.
    thinks: bool,
    /// Notices printed so far.
    notices: usize,
    /// The answer whose opening was printed.
    opened: Option<crate::domain::inference::TurnId>,
}

impl Plain<'_> {
    async fn talk(&mut self, lines: &mut UnboundedReceiver<String>) -> Result<Exit, Stop> {
        while self.driver.exit.is_none() {
            let state = &self.driver.state;
            let busy = matches!(state.engine, Engine::Loading { .. }) || state.keeping.opening.is_some();
            let free = state.running.is_none() && state.replay.is_none() && state.titling.is_none() && !busy;
            tokio::select! {
                outside = self.driver.outside() => match outside {
                    Outside::Engine(event) => self.told(event)?,
                    Outside::EngineGone => return Err(Stop::new(Exit::Failed, "the engine has stopped")),
                    Outside::Store(event) => {
                        self.driver.stored(event);
                        self.print_news()?;
                    }
                },
                line = lines.recv(), if free => match line {
                    Some(line) => self.typed(&line)?,
                    None => return Ok(Exit::Success),
                },
                _ = tokio::signal::ctrl_c() => {
                    if self.driver.state.running.is_none() {
                        return Ok(Exit::Interrupted);
                    }
                    self.happened(Msg::Action(Action::Escape))?;
                }
            }
        }
        Ok(Exit::Success)
    }

    fn typed(&mut self, line: &str) -> Result<(), Stop> {
        // What was attached goes with the next message, and stays behind a command.
        let command = line.trim_start().starts_with('/');
        let attached = if command {
            String::new()
        } else {
            std::mem::take(&mut self.driver.folded)
        };
        self.send(attached + line)?;
        let rest = self.driver.state.draft.text.clone();
        if !rest.is_empty() && !self.driver.folded.is_empty() {
            let attached = std::mem::take(&mut self.driver.folded);
            self.send(attached + &rest)?;
        }
        Ok(())
    }

    fn send(&mut self, text: String) -> Result<(), Stop> {
        self.happened(Msg::Edited(text))?;
        self.driver.state.draft.completion = None;
        self.happened(Msg::Action(Action::Send))
    }

    fn told(&mut self, event: Event) -> Result<(), Stop> {
        let (mut text, mut over) = (String::new(), false);
        let answering = self.driver.state.running.as_ref().map(|running| running.turn);
        match &event {
            // What is asked aside of the conversation is not read out.
            Event::Token { turn, .. } | Event::Prefill { turn, .. } if answering != Some(*turn) => {}
            Event::Prefill { turn, .. } if self.opened != Some(*turn) => {
                self.opened = Some(*turn);
                text = self.opening();
            }
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

    /// What the answer under way was made to start with, where it does not go on.
    fn opening(&mut self) -> String {
        let state = &self.driver.state;
        let running = state.running.as_ref().filter(|running| running.continued.is_none());
        let message = running.and_then(|running| state.conversation.get(running.answer));
        let opening = message
            .and_then(|message| message.answer.as_ref())
            .map(|answer| answer.opening.clone());
        self.filter.push(&opening.unwrap_or_default())
    }

    fn happened(&mut self, msg: Msg) -> Result<(), Stop> {
        self.driver.happened(msg);
        self.print_news()
    }

    /// Prints what a screen would show besides the answer.
    fn print_news(&mut self) -> Result<(), Stop> {
        let all = self.driver.state.notices.all();
        let news: Vec<_> = all
            .iter()
            .skip(self.notices)
            .map(|notice| format!("[{}]\n", sanitize(&notice.text)))
            .collect();
        self.notices = self.driver.state.notices.all().len();
        print(&news.concat())?;
        match self.driver.state.screen.overlay.take() {
            Some(Overlay::Text { title, text, .. }) => print(&format!("{}\n{}\n> ", sanitize(&title), sanitize(&text))),
            Some(Overlay::Doctor(ward)) if ward.end.is_some() => {
                let words = ward.end.and_then(Result::err).unwrap_or_default();
                let lines: String = ward.findings.iter().map(ToString::to_string).collect();
                print(&format!("{}{}\n> ", sanitize(&lines), sanitize(&words)))
            }
            Some(Overlay::Compare(open)) if open.over => {
                let column = |column: &Column| {
                    let text = column.failed.as_ref().unwrap_or(&column.text);
                    format!("== {}\n{}\n\n", sanitize_line(&column.name), sanitize(text.trim_end()))
                };
                print(&format!("{}> ", open.columns.iter().map(column).collect::<String>()))
            }
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
            Some(Overlay::Picker(list)) if list.waiting.is_none() => {
                let rows = list
                    .fitting()
                    .map(|row| format!("{}  {}\n", sanitize_line(&row.label), sanitize_line(&row.note)));
                print(&format!("{}\n{}> ", list.title, rows.collect::<String>()))
            }
            Some(Overlay::Sessions(list)) if list.there && !list.searching => print(&format!("{}> ", sessions(&list))),
            waiting => {
                self.driver.state.screen.overlay = waiting;
                Ok(())
            }
        }
    }
}

/// The sessions, or the messages that were looked for, line by line.
fn sessions(list: &SessionList) -> String {
    let rows = list.rows().map(|row| match row {
        crate::app::sessions::Row::Session(session) => {
            let count = session.messages;
            format!(
                "{:>5}  {} ({count} messages)\n",
                session.id.0,
                sanitize_line(&session.details.title)
            )
        }
        crate::app::sessions::Row::Hit(hit) => {
            let text: String = hit.snippet.iter().map(|(_, text)| text.as_str()).collect();
            format!(
                "{:>5}  {}: {}\n",
                hit.session.0,
                sanitize_line(&hit.title),
                sanitize_line(&text)
            )
        }
    });
    let rows: String = rows.collect();
    format!("{rows}/sessions N opens one\n")
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
