//! `quipu pull`: fetches a model into quipu's own folder, with what there is to see of it on standard error.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::termios::tcgetwinsize;
use serde_json::json;

use crate::domain::Bytes;
use crate::models::hub::{self, Choice, Hub, HubError, HubOptions, Listing, Patience, Progress, RepoName};
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
    let name = RepoName::read(&args.repo).map_err(|error| Stop::new(Exit::Usage, said(&error)))?;
    let hub = Hub::new(HubOptions {
        offline: options.offline || args.offline,
        ..options
    });
    let progress = Arc::new(Progress::default());
    let folder = own.join(&name.repo);
    let work = {
        let progress = Arc::clone(&progress);
        move || pull(&hub, &name, (&folder, free), &progress)
    };
    let mut work = tokio::task::spawn_blocking(work);
    let pulled = tokio::select! {
        pulled = &mut work => pulled,
        _ = tokio::signal::ctrl_c() => {
            progress.set_stopped(true);
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

/// Looks what there is, chooses, and fetches it.
fn pull(
    hub: &Hub,
    name: &RepoName,
    (folder, free): (&Path, Option<u64>),
    progress: &Progress,
) -> Result<(Choice, PathBuf), HubError> {
    let listing = hub.list(&name.repo)?;
    let choice = hub::choose(&listing, name.quant.as_deref(), free)?;
    let path = shown(&choice, progress, || fetch(hub, &listing, &choice, folder, progress))?;
    Ok((choice, path))
}

fn fetch(
    hub: &Hub,
    listing: &Listing,
    choice: &Choice,
    folder: &Path,
    progress: &Progress,
) -> Result<PathBuf, HubError> {
    let patience = Patience {
        tries: TRIES,
        first: FIRST_WAIT,
        // Whoever stops it does not wait with it.
        wait: &|pause| progress.wait(pause),
    };
    hub::fetch(hub, listing, choice, folder, (&patience, progress))
}

/// Shows how far it is while `work` is under way, where somebody looks.
fn shown<T: Send>(choice: &Choice, progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let total = choice.bytes();
    thread::scope(|scope| {
        let (ended, end) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            let begun = Instant::now();
            let mut first = None;
            while end.recv_timeout(FRAME) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let done = progress.done.load(Ordering::Relaxed);
                let came = done.saturating_sub(*first.get_or_insert(done));
                let line = if done >= total {
                    "checking what came".to_owned()
                } else {
                    line((done, total), came, begun.elapsed())
                };
                let line = format!("{line}  {}", sanitize_line(&choice.label));
                // A line that wraps cannot be drawn over; the last column of some terminals wraps too.
                let width = tcgetwinsize(io::stderr()).map(|size| size.ws_col).ok();
                let width = width.filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH);
                let room = usize::from(width).saturating_sub(1);
                let line: String = line.chars().take(room).collect();
                // A closed standard error has nobody behind it who could be told.
                let _ = write!(io::stderr(), "\r\x1b[K{line}");
            }
            let _ = write!(io::stderr(), "\r\x1b[K");
        });
        let done = work();
        drop(ended);
        done
    })
}

/// How far it is: a bar, bytes, how many a second, and how long it will take.
fn line((done, total): (u64, u64), came: u64, time: Duration) -> String {
    let part = done as f64 / total.max(1) as f64;
    let full = ((part * BAR as f64) as usize).min(BAR);
    let bar = "▰".repeat(full) + &"▱".repeat(BAR - full);
    let rate = came as f64 / time.as_secs_f64().max(0.001);
    let mut words = format!("{bar} {:.0} %  {} of {}", part * 100.0, Bytes(done), Bytes(total));
    if came > 0 {
        let left = (total.saturating_sub(done)) as f64 / rate;
        // Writing to a String cannot fail.
        let _ = write!(words, "  {}/s  {} left", Bytes(rate as u64), span(left as u64));
    }
    words
}

/// A time in seconds, in words.
fn span(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn it_is_told_how_far_and_how_long() {
        let second = Duration::from_secs(1);
        assert_eq!(
            line((1 << 20, 4 << 20), 1 << 20, second),
            "▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 25 %  1.0 MiB of 4.0 MiB  1.0 MiB/s  3 s left"
        );
        assert_eq!(line((0, 0), 0, second), "▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 0 %  0 B of 0 B");
        assert_eq!([span(59), span(61), span(7300)], ["59 s", "1 min 1 s", "2 h 1 min"]);
    }
}
