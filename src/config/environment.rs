//! Reads the layer that environment variables make. Does not look at the environment itself: it is handed in.

use crate::domain::load_option::LOAD_OPTIONS;
use crate::domain::sampling::PARAMETERS;

use super::file::{KEYS, set_load, set_parameter, variable};
use super::given::Given;
use super::layers::Layer;
use super::problem::{Place, Problem};

/// The layer of all variables in the table. An empty variable says nothing.
pub(super) fn read(value_of: impl Fn(&str) -> Option<String>) -> (Layer, Vec<Problem>) {
    let mut layer = Layer::default();
    let mut problems = Vec::new();
    let mut note = |place: Place, outcome: Result<(), String>| {
        problems.extend(outcome.err().map(|message| Problem { place, message }));
    };
    let value_of = |name: &str| value_of(name).filter(|value| !value.is_empty());
    for key in KEYS {
        if let Some(value) = value_of(key.variable) {
            let place = Place::Variable(key.variable.to_owned());
            note(place.clone(), key.set(&mut layer, Given::Word(&value), &value, place));
        }
    }
    for option in LOAD_OPTIONS {
        let name = variable(option.name);
        if let Some(value) = value_of(&name) {
            let outcome = set_load(option, Given::Word(&value), &value, |text| layer.set_load(option, text));
            note(Place::Variable(name), outcome);
        }
    }
    for parameter in PARAMETERS {
        let name = variable(parameter.name);
        if let Some(value) = value_of(&name) {
            let outcome = set_parameter(parameter, Given::Word(&value), &value, |text| {
                layer.set_sampling(parameter, text)
            });
            note(Place::Variable(name), outcome);
        }
    }
    (layer, problems)
}
