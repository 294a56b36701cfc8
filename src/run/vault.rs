//! The vault of the engine: states go to files in the cache folder and come back, on a thread of their own, so that nobody waits
//! for a disk who only wants to go on.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use crate::engine::local::{KvState, Vault};
use crate::store::{Checkpoint, Checkpoints};

/// What the thread is asked.
enum Order {
    Keep(String, KvState),
    Fetch(String, String, Sender<Option<KvState>>),
}

/// States in a folder.
pub struct FileVault {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl FileVault {
    /// The states in `folder`, of at most `budget` bytes together.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(folder: PathBuf, budget: u64) -> io::Result<Self> {
        let (orders, taken) = channel();
        let checkpoints = Checkpoints::new(folder, budget);
        let thread = thread::Builder::new()
            .name("quipu-vault".to_owned())
            .spawn(move || work(&checkpoints, &taken))?;
        Ok(Self {
            orders: Some(orders),
            thread: Some(thread),
        })
    }
}

impl Vault for FileVault {
    fn keep(&mut self, name: &str, state: KvState) {
        if let Some(orders) = &self.orders {
            // The thread ends with this value and not before.
            let _ = orders.send(Order::Keep(name.to_owned(), state));
        }
    }

    fn fetch(&mut self, name: &str, owner: &str) -> Option<KvState> {
        let (to, from) = channel();
        let order = Order::Fetch(name.to_owned(), owner.to_owned(), to);
        self.orders.as_ref()?.send(order).ok()?;
        from.recv().ok()?
    }
}

/// What was given to be kept is kept before the engine is gone.
impl Drop for FileVault {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // A panic there costs a state, which can be made again.
            let _ = thread.join();
        }
    }
}

fn work(checkpoints: &Checkpoints, orders: &Receiver<Order>) {
    for order in orders {
        match order {
            Order::Keep(name, KvState { owner, tokens, data }) => {
                let state = Checkpoint { owner, tokens, data };
                if let Err(error) = checkpoints.keep(&name, &state) {
                    tracing::warn!(%error, name, "the state of the model was not kept");
                }
            }
            Order::Fetch(name, owner, to) => {
                let state = checkpoints.fetch(&name, &owner);
                let state = state.map(|Checkpoint { owner, tokens, data }| KvState { owner, tokens, data });
                // Whoever asked waits for it.
                let _ = to.send(state);
            }
        }
    }
}
