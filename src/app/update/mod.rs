//! The pure function from what happened to what we cause. Each noun has its file; this one only sends messages there.

use super::effect::Effect;
use super::msg::Msg;
use super::state::State;

/// Takes in what happened, changes the state, and returns what is to be done. Equal inputs give equal outputs.
pub fn update(_state: &mut State, _msg: Msg) -> Vec<Effect> {
    Vec::new()
}
