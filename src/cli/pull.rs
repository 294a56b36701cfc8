//! Fetching a model into quipu's own folder: `quipu pull`, with what there is to see of it on standard error, and what the chat does
//! it with.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::termios::tcgetwinsize;
use serde_json::json;

use crate::domain::Bytes;
use crate::domain::fetching::{FetchEvent, Sight};
use crate::models::hub::{self, Choice, Hub, HubError, HubOptions, Patience, Progress, RepoName};
use crate::run::Fetcher;
use crate::text::sanitize_line;

use super::exit::{self, Exit, Stop};

/// What to fetch.
#[derive(Args, Clone, Debug)]
pub(super) struct PullArgs {
    /// A repository of the Hugging Face hub: OWNER/REPO, or OWNER/REPO:QUANT
    #[arg(value_name = "REPO")]
    repo: String,
    /// Ask nobody: tell only what would be asked
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How often what is seen is drawn anew.
const FRAME: Duration = Duration::from_millis(200);
/// Times that nothing came in a row after which it is given up, and the first wait.
const TRIES: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Columns of a terminal that does not say how many it has.
const USUAL_WIDTH: u16 = 80;
/// Cells of the bar.
const BAR: usize = 20;

/// Fetches it.
///
/// # Errors
/// With the exit code for each way in which it can fail.
pub(super) async fn run(
    args: &PullArgs,
    options: HubOptions,
    (own, free): (&Path, Option<u64>),
    out: impl Write,
) -> Result<Exit, Stop> {
    let options = HubOptions {
        offline: options.offline || args.offline,
        ..options
    };
    let order = Order {
        name: args.repo.clone(),
        hub: Hub::new(options),
        own: own.to_owned(),
        free,
    };
    let seen = io::stderr().is_terminal();
    let stopped = Arc::new(AtomicBool::new(false));
    let work = {
        let stopped = Arc::clone(&stopped);
        move || {
            let fetched = fetch(&order, &|sight| {
                if seen {
                    draw(&line(&sight));
                }
                !stopped.load(Ordering::Relaxed)
            });
            if seen {
                draw("");
            }
            fetched
        }
    };
    let mut work = tokio::task::spawn_blocking(work);
    let pulled = tokio::select! {
        pulled = &mut work => pulled,
        _ = tokio::signal::ctrl_c() => {
            stopped.store(true, Ordering::Relaxed);
            work.await
        }
    };
    let pulled = pulled.map_err(|error| Stop::new(Exit::Failed, format!("fetching ended badly: {error}")))?;
    let (choice, path) = pulled.map_err(|error| match error {
        HubError::Stopped => Stop::new(Exit::Interrupted, said(&error)),
        HubError::Name(_) | HubError::NoSuch { .. } | HubError::NoModel(_) | HubError::Offline => {
            Stop::new(Exit::Usage, said(&error))
        }
        _ => Stop::new(Exit::Failed, said(&error)),
    })?;
    let text = if args.json {
        let object = json!({ "label": choice.label, "path": path, "bytes": choice.bytes() });
        format!("{object:#}\n")
    } else {
        let label = sanitize_line(&choice.label);
        format!("'{label}' is here, {}: quipu --model {label}\n", Bytes(choice.bytes()))
    };
    exit::print("where the model is", &text, out)
}

fn said(error: &HubError) -> String {
    sanitize_line(&error.to_string()).into_owned()
}

/// What fetches models for the chat into `own`; `free` says how many bytes of memory there are for one. Nothing is asked for, and no
/// token read, before somebody wants a model.
pub(super) fn fetcher(
    options: impl Fn() -> HubOptions + Send + Sync + 'static,
    own: PathBuf,
    free: impl Fn() -> Option<u64> + Send + Sync + 'static,
) -> Fetcher {
    Arc::new(move |name, tell| {
        let order = Order {
            name: name.to_owned(),
            hub: Hub::new(options()),
            own: own.clone(),
            free: free(),
        };
        match fetch(&order, tell) {
            Ok((choice, _)) => FetchEvent::Here {
                label: sanitize_line(&choice.label).into_owned(),
                bytes: choice.bytes(),
            },
            Err(HubError::Stopped) => FetchEvent::Stopped,
            Err(error) => FetchEvent::Failed(said(&error)),
        }
    })
}

/// What is to be fetched, from where, to where.
struct Order {
    /// As it was typed.
    name: String,
    hub: Hub,
    /// quipu's own folder.
    own: PathBuf,
    /// Bytes of memory for the model, where that is known.
    free: Option<u64>,
}

/// Looks what there is, chooses, and fetches it. `tell` hears how far it is, and answers whether to go on.
fn fetch(order: &Order, tell: &(dyn Fn(Sight) -> bool + Sync)) -> Result<(Choice, PathBuf), HubError> {
    let name = RepoName::read(&order.name)?;
    let listing = order.hub.list(&name.repo)?;
    let choice = hub::choose(&listing, name.quant.as_deref(), order.free)?;
    let folder = order.own.join(&name.repo);
    let progress = Progress::default();
    let patience = Patience {
        tries: TRIES,
        first: FIRST_WAIT,
        // Whoever stops it does not wait with it.
        wait: &|pause| progress.wait(pause),
    };
    let fetched = watched(&choice, &progress, tell, || {
        hub::fetch(&order.hub, &listing, &choice, &folder, (&patience, &progress))
    });
    Ok((choice, fetched?))
}

/// Tells how far it is while `work` is under way, and stops it where nobody wants it any more.
fn watched<T>(
    choice: &Choice,
    progress: &Progress,
    tell: &(dyn Fn(Sight) -> bool + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let label = sanitize_line(&choice.label);
    thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        scope.spawn(move || {
            let begun = Instant::now();
            let mut first = None;
            while end.recv_timeout(FRAME) == Err(RecvTimeoutError::Timeout) {
                let done = progress.done.load(Ordering::Relaxed);
                let came = done.saturating_sub(*first.get_or_insert(done));
                let sight = Sight {
                    label: label.clone().into_owned(),
                    done,
                    total: choice.bytes(),
                    rate: (came as f64 / begun.elapsed().as_secs_f64()) as u64,
                };
                if !tell(sight) {
                    progress.set_stopped(true);
                }
            }
        });
        let done = work();
        drop(ended);
        done
    })
}

/// Draws a line over the one before.
fn draw(line: &str) {
    // A line that wraps cannot be drawn over; the last column of some terminals wraps too.
    let width = tcgetwinsize(io::stderr()).map(|size| size.ws_col).ok();
    let width = width.filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH);
    let line: String = line.chars().take(usize::from(width).saturating_sub(1)).collect();
    // A closed standard error has nobody behind it who could be told.
    let _ = write!(io::stderr(), "\r\x1b[K{line}");
}

/// How far it is: a bar, bytes, how many a second, and how long it will take.
fn line(sight: &Sight) -> String {
    if sight.is_checked() {
        return format!("checking what came  {}", sight.label);
    }
    let full = (sight.part() * BAR as f64) as usize;
    let bar = "▰".repeat(full) + &"▱".repeat(BAR - full);
    let (percent, done, total) = (sight.part() * 100.0, Bytes(sight.done), Bytes(sight.total));
    let mut words = format!("{bar} {percent:.0} %  {done} of {total}");
    if let Some(left) = sight.left() {
        // Writing to a String cannot fail.
        let _ = write!(words, "  {}/s  {left} left", Bytes(sight.rate));
    }
    format!("{words}  {}", sight.label)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_line_says_how_far_it_is() {
        let sight = |done, total, rate| Sight {
            label: "ada/condor:Q8_0".to_owned(),
            done,
            total,
            rate,
        };
        assert_eq!(
            line(&sight(1 << 20, 4 << 20, 1 << 20)),
            "▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 25 %  1.0 MiB of 4.0 MiB  1.0 MiB/s  3 s left  ada/condor:Q8_0"
        );
        assert_eq!(
            line(&sight(0, 8, 0)),
            "▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 0 %  0 B of 8 B  ada/condor:Q8_0"
        );
        assert_eq!(line(&sight(8, 8, 1)), "checking what came  ada/condor:Q8_0");
    }
}
