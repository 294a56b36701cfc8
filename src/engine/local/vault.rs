//! Coming back to a conversation without reading it again: the state of the KV cache goes out to whoever keeps it, and comes back
//! where it belongs to this very model, computed in this very way. What cannot be used costs nothing but time.

use crate::domain::Role;
use crate::domain::inference::{ChatMessage, Event, PromptRequest, Token, TurnId};

use super::Local;
use super::load::{Loaded, UBATCH};

/// What a KV cache held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KvState {
    /// The model and what computes: see [`crate::domain::inference::ModelInfo::build`].
    pub owner: String,
    /// The tokens in it, in order.
    pub tokens: Vec<Token>,
    /// llama.cpp's bytes.
    pub data: Vec<u8>,
}

/// Keeps states outside of the engine. What it gives back is what it was given, byte by byte: llama.cpp trusts it.
pub trait Vault: Send {
    /// Keeps a state under a name, in the place of what was kept for the same owner.
    fn keep(&mut self, name: &str, state: KvState);

    /// What was kept under this name for this owner, where it is whole.
    fn fetch(&mut self, name: &str, owner: &str) -> Option<KvState>;
}

impl Local<'_> {
    /// Keeps the state of the KV cache under a name.
    pub(super) fn keep(&mut self, loaded: &mut Loaded, name: &str) {
        let Some(vault) = &mut self.vault else { return };
        let same = |(kept, tokens): &(String, Vec<Token>)| kept == name && tokens == loaded.sequence.tokens();
        if loaded.kept.as_ref().is_some_and(same) {
            return;
        }
        if let Some((tokens, data)) = loaded.sequence.save() {
            loaded.kept = Some((name.to_owned(), tokens.clone()));
            let owner = owner(loaded);
            vault.keep(name, KvState { owner, tokens, data });
        }
    }

    /// Brings the KV cache to a conversation that goes on: what was kept of it comes back, and the rest is read. Where it cannot be,
    /// or something else is wanted meanwhile, what was done until then stays.
    pub(super) fn resume(&mut self, loaded: &mut Loaded, turn: TurnId, name: &str, request: &PromptRequest) {
        loaded.sequence.context().watch(turn);
        let mut restored = 0;
        if let Some(prompt) = beginning(loaded, request) {
            restored = self.restore(loaded, name, &prompt);
            let read = loaded.sequence.prefill(&prompt, |progress| {
                self.tell(Event::Prefill { turn, progress });
            });
            if let Err(error) = read {
                tracing::debug!(%error, "the conversation was not read to its end");
            }
        }
        self.tell(Event::Resumable {
            turn,
            tokens: loaded.sequence.tokens().len() as u32,
            restored,
        });
    }

    /// Takes what was kept under a name, where it has more of the prompt than what is there; returns how many tokens it has.
    fn restore(&mut self, loaded: &mut Loaded, name: &str, prompt: &[Token]) -> u32 {
        let owner = owner(loaded);
        let there = loaded.sequence.reusable(prompt);
        let Some(state) = self.vault.as_mut().and_then(|vault| vault.fetch(name, &owner)) else {
            return 0;
        };
        let same = state.tokens.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        if state.owner != owner || same <= there {
            return 0;
        }
        loaded.kept = Some((name.to_owned(), state.tokens.clone()));
        let restored = loaded.sequence.load(state.tokens, &state.data);
        tracing::info!(restored, same, of = prompt.len(), "state restored");
        if !restored {
            loaded.kept = None;
            return 0;
        }
        loaded.sequence.reusable(prompt) as u32
    }
}

/// What a state belongs to: how much is computed at once changes nothing but last bits.
fn owner(loaded: &Loaded) -> String {
    let parts = loaded.info.build.split("; ").filter(|part| !part.starts_with(UBATCH));
    std::iter::once(loaded.info.fingerprint.as_str())
        .chain(parts)
        .collect::<Vec<_>>()
        .join("; ")
}

/// The tokens with which the next prompt of this conversation begins, whatever will be said in it. `None` where it does not fit
/// or the template refuses, which the next turn will say.
fn beginning(loaded: &mut Loaded, request: &PromptRequest) -> Option<Vec<Token>> {
    // Only a look: where the window begins is decided by the turn itself.
    let cut = loaded.cut;
    let mut with = |text: &str| {
        let mut request = request.clone();
        request.messages.push(ChatMessage::new(Role::User, text));
        loaded.fit(&request).ok().map(|fitted| fitted.prompt.tokens)
    };
    // What two different messages have in common.
    let both = with("a").zip(with("1"));
    loaded.cut = cut;
    let (mut tokens, other) = both?;
    let same = tokens.iter().zip(&other).take_while(|(a, b)| a == b).count();
    tokens.truncate(same);
    (!tokens.is_empty()).then_some(tokens)
}
