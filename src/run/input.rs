//! The thread that reads the keyboard. It is not the loop's: when a terminal disappears, crossterm 0.29 reads in a circle and
//! never returns. `watch.rs` sees to it that the process ends then.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crossterm::event::{EventStream, poll};
use futures_util::StreamExt;
use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::happening::Happening;

/// The reading thread. Dropping it ends the thread.
pub(super) struct Input {
    control: UnboundedSender<Control>,
}

enum Control {
    /// Stop reading, and answer.
    Pause(SyncSender<()>),
    /// Read again.
    Resume,
}

/// How long to wait for the thread to let go of the keyboard. It does at once, unless the terminal is gone.
const PATIENCE: Duration = Duration::from_millis(200);

impl Input {
    /// Starts reading.
    ///
    /// # Errors
    /// When the system gives no thread or runtime, or there is no terminal to read from.
    pub(super) fn start(to: UnboundedSender<Happening>) -> io::Result<Self> {
        // A stream without a terminal would panic; this only says so.
        poll(Duration::ZERO)?;
        let (control, orders) = unbounded_channel();
        let runtime = runtime::Builder::new_current_thread().build()?;
        thread::Builder::new()
            .name("quipu-input".to_owned())
            .spawn(move || runtime.block_on(read(to, orders)))?;
        Ok(Self { control })
    }

    /// Lets go of the keyboard, so that others can read from it.
    pub(super) fn pause(&self) {
        let (done, wait) = sync_channel(1);
        if self.control.send(Control::Pause(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE);
        }
    }

    /// Reads again.
    pub(super) fn resume(&self) {
        // It fails only where the thread has ended, and then it has told the loop.
        let _ = self.control.send(Control::Resume);
    }
}

async fn read(to: UnboundedSender<Happening>, mut orders: UnboundedReceiver<Control>) {
    let mut stream = EventStream::new();
    loop {
        let order = tokio::select! {
            event = stream.next() => {
                // A terminal that cannot be read from is as good as gone.
                let event = event.and_then(Result::ok).map(Happening::Input);
                let last = event.is_none();
                let told = to.send(event.unwrap_or(Happening::Terminate(libc::SIGHUP)));
                if last || told.is_err() {
                    return;
                }
                continue;
            }
            order = orders.recv() => order,
        };
        match order {
            Some(Control::Pause(done)) => {
                // Dropped, not merely left alone: a stream reads ahead on a thread of its own.
                drop(stream);
                let _ = done.send(());
                if !resumed(&mut orders).await {
                    return;
                }
                stream = EventStream::new();
            }
            Some(Control::Resume) => {}
            None => return,
        }
    }
}

/// Waits for the word to go on; `false` where nobody is left to say it.
async fn resumed(orders: &mut UnboundedReceiver<Control>) -> bool {
    loop {
        match orders.recv().await {
            Some(Control::Resume) => return true,
            Some(Control::Pause(done)) => drop(done.send(())),
            None => return false,
        }
    }
}
