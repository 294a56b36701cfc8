//! The list of models to choose from: opening it, and what is said of each.

use std::path::{Path, PathBuf};

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::picker::{Choice, Pick, Picker};
use crate::app::state::{Overlay, State};
use crate::domain::shelf::{Facts, Memory, Origin, Room, Shelf, Shelved};
use crate::domain::{Bytes, Count};

use super::pick;

/// `/models`: opens the list, and has the models looked for.
pub(super) fn open(state: &mut State) -> Vec<Effect> {
    let mut list = Picker::new("models", Vec::new());
    list.waiting = Some("looking for models");
    pick::open(state, list);
    vec![Effect::ListModels]
}

/// The models were found.
pub(super) fn found(state: &mut State, found: Result<Shelf, String>) {
    let shelf = match found {
        Ok(shelf) => shelf,
        Err(words) => {
            state.tell(Level::Error, words);
            Shelf::default()
        }
    };
    let loaded = state.engine.model().map(|model| (model.builtin, model.path.clone()));
    let Some(Overlay::Picker(list)) = &mut state.screen.overlay else {
        return;
    };
    if list.waiting.is_none() {
        // Another list was opened since.
        return;
    }
    let is_loaded = |model: &Shelved| {
        let same = |(builtin, path): &(bool, PathBuf)| match model.origin {
            Origin::BuiltIn => *builtin,
            _ => !builtin && *path == Path::new(&model.name),
        };
        loaded.as_ref().is_some_and(same)
    };
    let row = |model: &Shelved| Pick {
        label: model.label.clone(),
        note: note(model, shelf.memory, is_loaded(model)),
        what: Choice::Model(model.name.clone()),
    };
    list.arrive(shelf.models.iter().map(row).collect());
}

/// What is said of a model, what matters most first: a narrow screen cuts the end off.
fn note(model: &Shelved, memory: Memory, loaded: bool) -> String {
    let mut words = Vec::new();
    if loaded {
        words.push("loaded".to_owned());
    }
    match &model.facts {
        Ok(facts) => words.extend(told(facts, &model.room, memory.free.filter(|_| !loaded))),
        Err(why) => words.push(format!("cannot be used: {why}")),
    }
    if !matches!(model.origin, Origin::BuiltIn | Origin::Folder) {
        words.push(model.origin.name().to_owned());
    }
    words.join(" · ")
}

fn told(facts: &Facts, room: &Room, free: Option<u64>) -> Vec<String> {
    let mut words = vec![facts.quantization.clone(), Bytes(facts.bytes).to_string()];
    match (free, room.largest_context) {
        (Some(free), Some(0)) => words.push(format!(
            "needs {} of memory, {} are free",
            Bytes(room.needs()),
            Bytes(free)
        )),
        (Some(_), Some(context)) if context < room.context => {
            words.push(format!("fits with a context of {context}"));
        }
        _ => {}
    }
    if room.layers_on_cards > 0 {
        words.push(format!(
            "{} of {} layers on the card",
            room.layers_on_cards, room.layers
        ));
    }
    words.push(format!("{} {}", facts.architecture, Count(facts.parameters)));
    if let Some(context) = facts.context_train {
        words.push(format!("context {context}"));
    }
    if !facts.has_template {
        words.push("no template".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::sessions::Typed;
    use crate::app::state::Engine;
    use crate::app::update::scene::{act, last_notice, ready, send};
    use crate::app::{Action, Msg, update};

    fn shelf() -> Shelf {
        let facts = Facts {
            architecture: "llama".to_owned(),
            parameters: 1_100_000_000,
            quantization: "Q4_K_M".to_owned(),
            bytes: 670 << 20,
            context_train: Some(2048),
            has_template: true,
            ..Facts::default()
        };
        let model = |name: &str, facts, (weights, largest)| Shelved {
            name: format!("/m/{name}.gguf"),
            label: name.to_owned(),
            repo: None,
            origin: Origin::Ollama,
            facts,
            room: Room {
                weights,
                context: 2048,
                largest_context: Some(largest),
                ..Room::default()
            },
        };
        let large = Facts {
            has_template: false,
            ..facts.clone()
        };
        Shelf {
            models: vec![
                model("condor", Ok(facts.clone()), (1 << 30, 2048)),
                model("whale", Ok(large), (9 << 30, 0)),
                model("heron", Ok(facts), (3 << 30, 512)),
                model("wreck", Err("it ends early".to_owned()), (0, 0)),
            ],
            memory: Memory {
                free: Some(4 << 30),
                on_cards: 0,
            },
        }
    }

    fn rows(state: &State) -> Vec<(String, String)> {
        let Some(Overlay::Picker(list)) = &state.screen.overlay else {
            panic!("no list");
        };
        let row = |row: &Pick| (row.label.clone(), row.note.clone());
        list.fitting().map(row).collect()
    }

    #[test]
    fn models_are_told_of_and_the_chosen_one_is_loaded() {
        let mut state = ready();
        // However it was named: what counts is the file.
        state.loaded = Some("condor".to_owned());
        if let Engine::Ready(model) = &mut state.engine {
            model.path = "/m/condor.gguf".into();
        }
        assert!(send(&mut state, "/models").contains(&Effect::ListModels));
        update(&mut state, Msg::TypedOver(Typed::Text("w".to_owned())));
        update(&mut state, Msg::Shelf(Ok(shelf())));
        let labels: Vec<_> = rows(&state).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["whale", "wreck"], "what was typed meanwhile holds");
        update(&mut state, Msg::TypedOver(Typed::Clear));
        let notes: Vec<_> = rows(&state).into_iter().map(|(_, note)| note).collect();
        assert_eq!(
            notes,
            [
                "loaded · Q4_K_M · 670 MiB · llama 1.1 billion · context 2048 · Ollama",
                "Q4_K_M · 670 MiB · needs 9.0 GiB of memory, 4.0 GiB are free · llama 1.1 billion · context 2048 · no template \
                 · Ollama",
                "Q4_K_M · 670 MiB · fits with a context of 512 · llama 1.1 billion · context 2048 · Ollama",
                "cannot be used: it ends early · Ollama",
            ]
        );
        act(&mut state, Action::LineDown);
        let effects = act(&mut state, Action::Take);
        let load = effects
            .iter()
            .any(|effect| matches!(effect, Effect::Load { name: Some(name), .. } if name == "/m/whale.gguf"));
        assert!(load, "{effects:?}");
    }

    #[test]
    fn what_comes_late_or_not_at_all_spoils_nothing() {
        let mut state = ready();
        send(&mut state, "/models");
        act(&mut state, Action::Escape);
        update(&mut state, Msg::Shelf(Ok(shelf())));
        assert_eq!(state.screen.overlay, None);
        act(&mut state, Action::Palette);
        let before = rows(&state).len();
        update(&mut state, Msg::Shelf(Ok(shelf())));
        assert_eq!(rows(&state).len(), before);
        send(&mut state, "/models");
        update(&mut state, Msg::Shelf(Err("no luck".to_owned())));
        assert_eq!(last_notice(&state).1, "no luck");
        assert_eq!(rows(&state), []);
    }
}
