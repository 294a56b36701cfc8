//! `quipu sessions`: the sessions that are kept, for scripts and for people without a screen.

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use crate::domain::inference::{Command, Event, LoadOptions, ModelSource, TurnId};
use crate::domain::replay::{self, Outcome};
use crate::domain::session::{Format, Hit, SessionId, Summary, Which, Whole};
use crate::domain::{Conversation, MessageId, Role};
use crate::engine::EngineHandle;
use crate::store::{Archive, StoreError, export};
use crate::text::{sanitize, sanitize_line};

use super::ask::{load, next, send};
use super::exit::{Exit, Stop, print};

/// What to do with sessions; without a word, they are listed.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct SessionsArgs {
    /// What to do
    #[command(subcommand)]
    pub(super) deed: Option<Deed>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
}

/// What can be done with sessions. One is named by its title or its number.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum Deed {
    /// List them, those used last first
    List {
        /// Also those that are archived or deleted
        #[arg(long)]
        all: bool,
    },
    /// Print what was said in one
    Show {
        /// Title or number
        #[arg(value_name = "SESSION")]
        which: String,
    },
    /// Print the messages with these words, newest first
    Search {
        /// The words; the last may be the beginning of one
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
    },
    /// Write one to a file or to standard output
    Export {
        /// Title or number
        #[arg(value_name = "SESSION")]
        which: String,
        /// The file, which must not be there yet; standard output without one
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// 'markdown', 'json' or 'html'; by the file's name without it
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        format: Option<Format>,
    },
    /// Read sessions from a file: quipu's, OpenAI's, `ShareGPT`'s, `ChatGPT`'s, Open `WebUI`'s
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Delete one; for a month it can be brought back
    Rm {
        /// Title or number
        #[arg(value_name = "SESSION")]
        which: String,
        /// For good
        #[arg(long)]
        purge: bool,
    },
    /// Bring a deleted one back
    Restore {
        /// Its number
        #[arg(value_name = "NUMBER")]
        number: i64,
    },
    /// Make an answer again from its record, or say why it cannot be
    Replay {
        /// Title or number
        #[arg(value_name = "SESSION")]
        which: String,
        /// The message's number; the last answer without it
        #[arg(long, value_name = "N")]
        message: Option<u32>,
    },
}

fn format(name: &str) -> Result<Format, &'static str> {
    Format::named(name).ok_or("give 'markdown', 'json' or 'html'")
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::Unknown(_) | StoreError::None => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

/// Does what needs no model.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) fn run(archive: &mut Archive, deed: &Deed, as_json: bool, out: impl Write) -> Result<Exit, Stop> {
    let named = |name: &String| Which::Named(name.clone());
    let text = match deed {
        Deed::List { all } => {
            let sessions = archive.list(*all)?;
            if as_json { pretty(&sessions)? } else { table(&sessions) }
        }
        Deed::Show { which } => {
            let (summary, talk) = archive.read(&named(which))?;
            let format = if as_json { Format::Json } else { Format::Markdown };
            let text = export::write(&[whole(summary, talk)], format).map_err(failed)?;
            if as_json { text } else { sanitize(&text).into_owned() }
        }
        Deed::Search { words } => {
            let hits = archive.search(&words.join(" "))?;
            if as_json { pretty(&hits)? } else { found(&hits) }
        }
        Deed::Export { which, file, format } => {
            let (summary, talk) = archive.read(&named(which))?;
            let by_name = file.as_ref().and_then(|file| Format::of_file(&file.to_string_lossy()));
            let format = format
                .or(by_name)
                .unwrap_or(if as_json { Format::Json } else { Format::Markdown });
            let session = whole(summary, talk);
            match file {
                Some(file) => {
                    export::write_file(&session, file, format).map_err(failed)?;
                    return Ok(Exit::Success);
                }
                None => export::write(&[session], format).map_err(failed)?,
            }
        }
        Deed::Import { file } => {
            let (ids, left_out) = archive.import(file).map_err(|words| Stop::new(Exit::Usage, words))?;
            imported(&ids, left_out, as_json)?
        }
        Deed::Rm { which, purge } => {
            let (summary, _) = archive.read(&named(which))?;
            if *purge {
                archive.remove(summary.id)?;
            } else {
                archive.delete(summary.id)?;
            }
            removed(&summary, *purge, as_json)?
        }
        Deed::Restore { number } => {
            archive.restore(SessionId(*number))?;
            if as_json {
                pretty(&json!({ "restored": number }))?
            } else {
                format!("session {number} is back\n")
            }
        }
        // It needs a model, and is done where one is at hand.
        Deed::Replay { .. } => String::new(),
    };
    print("the sessions", &text, out)
}

fn failed(words: String) -> Stop {
    Stop::new(Exit::Failed, words)
}

fn pretty(value: &impl serde::Serialize) -> Result<String, Stop> {
    let text = serde_json::to_string_pretty(value).map_err(|error| failed(error.to_string()))?;
    Ok(text + "\n")
}

fn whole(summary: Summary, conversation: Conversation) -> Whole {
    Whole {
        details: summary.details,
        created: summary.created,
        conversation,
    }
}

fn table(sessions: &[Summary]) -> String {
    let row = |session: &Summary| {
        let mark = match session {
            s if s.deleted => "deleted ",
            s if s.details.archived => "archived ",
            s if s.details.pinned => "pinned ",
            _ => "",
        };
        let used = date(session.used);
        let (id, count, title) = (session.id.0, session.messages, sanitize_line(&session.details.title));
        format!("{id:>5}  {used}  {count:>5}  {mark}{title}\n")
    };
    sessions.iter().map(row).collect()
}

/// A day and a time of this place.
fn date(milliseconds: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    at.to_zoned(jiff::tz::TimeZone::system())
        .strftime("%Y-%m-%d %H:%M")
        .to_string()
}

fn found(hits: &[Hit]) -> String {
    let row = |hit: &Hit| {
        let text: String = hit.snippet.iter().map(|(_, text)| text.as_str()).collect();
        let (session, message, title) = (hit.session.0, hit.message.0, sanitize_line(&hit.title));
        format!("{session:>5}  {message:>5}  {title}: {}\n", sanitize_line(&text))
    };
    hits.iter().map(row).collect()
}

fn imported(ids: &[SessionId], left_out: usize, as_json: bool) -> Result<String, Stop> {
    if as_json {
        return pretty(&json!({ "imported": ids, "left_out": left_out }));
    }
    let numbers: Vec<_> = ids.iter().map(|id| id.0.to_string()).collect();
    let left = match left_out {
        0 => String::new(),
        many => format!("; {many} entries of tools were left out"),
    };
    Ok(format!("imported as {}{left}\n", numbers.join(", ")))
}

fn removed(summary: &Summary, purge: bool, as_json: bool) -> Result<String, Stop> {
    let id = summary.id.0;
    if as_json {
        return pretty(&json!({ "removed": id, "for_good": purge }));
    }
    let title = sanitize_line(&summary.details.title);
    Ok(if purge {
        format!("'{title}' is gone\n")
    } else {
        format!("'{title}' is deleted: 'quipu sessions restore {id}' brings it back\n")
    })
}

const LOAD: TurnId = TurnId(1);

/// Makes an answer again with this engine, and tells what came of it. Success is the same answer.
///
/// # Errors
/// Where there is no record, or the model cannot be used.
pub(super) async fn replay(
    engine: &mut EngineHandle,
    (source, options): (ModelSource, LoadOptions),
    talk: &Conversation,
    message: Option<u32>,
    as_json: bool,
    out: impl Write,
) -> Result<Exit, Stop> {
    let last = talk
        .back_from(talk.tip())
        .find(|message| message.role == Role::Assistant);
    let id = message.map(MessageId).or(last.map(|message| message.id));
    let id = id.ok_or_else(|| Stop::new(Exit::Usage, "there is no answer in this session"))?;
    let all = replay::again(talk, id).map_err(|words| Stop::new(Exit::Usage, words))?;
    let model = load(engine, LOAD, source, options).await?;
    let mut outcome: Option<Outcome> = None;
    let mut turn = LOAD;
    for again in &all {
        turn = turn.next();
        let request = again.request.clone();
        send(engine, Command::Generate { turn, request })?;
        let (mut came, mut prompt) = (Vec::new(), String::new());
        loop {
            match next(engine).await? {
                Event::Prompted { digest, .. } => prompt = digest,
                Event::Token { said, .. } => came.extend(said.token),
                Event::Failed { failure, .. } => return Err(failure.into()),
                Event::Finished { .. } => break,
                _ => {}
            }
        }
        let part = Outcome::of(again, &came, &prompt, &model);
        outcome = Some(match outcome.take() {
            Some(before) => before.and(part),
            None => part,
        });
    }
    let outcome = outcome.unwrap_or_default();
    let text = if as_json {
        pretty(&json!({
            "message": id, "same": outcome.is_same(), "tokens": outcome.expected, "tokens_same": outcome.same,
            "tokens_now": outcome.came, "differences": outcome.differences,
        }))?
    } else {
        format!("{}\n", sanitize(&outcome.words()))
    };
    print("the outcome", &text, out)?;
    Ok(if outcome.is_same() { Exit::Success } else { Exit::Failed })
}
