//! `/set` and `/preset`. A change reaches an answer under way with its next token.

use crate::app::effect::{Effect, Keepable};
use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::app::tuning::Tuning;
use crate::domain::Preset;
use crate::domain::inference::Command;
use crate::domain::sampling::{Grammar, GrammarForm, PARAMETERS, Parameter};
use crate::text::nearest;

use super::{Outcome, Refusal, answer, listing};

/// `/set`: lists the parameters, explains one, or sets one.
pub(super) fn set(state: &mut State, args: &str) -> Outcome {
    let (name, value) = assignment(args);
    if name.is_empty() {
        return Ok(show(state, "sampling", listing::parameters(&state.tuning)));
    }
    let parameter = Parameter::find(name).ok_or_else(|| unknown(name))?;
    let old = parameter.get(&state.tuning.sampling);
    let Parameter { name, kind, help, .. } = parameter;
    if value.is_empty() {
        let (default, origin) = (parameter.default(), state.tuning.origin(parameter));
        state.tell(
            Level::Info,
            format!("{name} is {old} ({origin}), by default {default}; takes {kind}: {help}"),
        );
        return Ok(Vec::new());
    }
    let refused = |refused: crate::domain::sampling::Refused| Refusal::new(Level::Warn, refused.to_string());
    parameter.set(&mut state.tuning.sampling, value).map_err(refused)?;
    let new = parameter.get(&state.tuning.sampling);
    state.tuning.choose_value(parameter);
    if new == old {
        state.tell(Level::Info, format!("{name} is {old} already"));
        return Ok(Vec::new());
    }
    state.tell(Level::Info, format!("{name} {old} → {new}"));
    Ok(tune(state))
}

/// Reads `NAME`, `NAME VALUE` and `NAME=VALUE`, each also after the word `parameter`. What is missing is empty.
fn assignment(args: &str) -> (&str, &str) {
    let parts = |text: &str| text.find(|c: char| c == '=' || c.is_whitespace());
    let args = match args.strip_prefix("parameter") {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => args,
    };
    let (name, value) = args.split_at(parts(args).unwrap_or(args.len()));
    (name, value.trim_matches(|c: char| c == '=' || c.is_whitespace()))
}

fn unknown(name: &str) -> Refusal {
    let names = PARAMETERS.iter().flat_map(|p| p.aliases.iter().chain([&p.name]));
    let near = nearest(&name.replace('_', "-"), names.copied()).and_then(Parameter::find);
    let remedy = near.map_or("/set lists them".to_owned(), |p| format!("did you mean {}?", p.name));
    Refusal::new(Level::Warn, format!("there is no parameter '{name}': {remedy}"))
}

/// `/preset`: lists the presets, or takes the settings of one.
pub(super) fn preset(state: &mut State, name: &str) -> Outcome {
    if name.is_empty() {
        return Ok(show(state, "presets", listing::presets(&state.tuning)));
    }
    let old = state.tuning.label();
    if !state.tuning.choose(name) {
        return Err(no_preset(&state.tuning, name));
    }
    let new = state.tuning.label();
    state.tell(Level::Info, format!("preset {old} → {new}"));
    Ok(tune(state))
}

/// There is no preset of this name.
pub(super) fn no_preset(tuning: &Tuning, name: &str) -> Refusal {
    let near = nearest(name, tuning.presets.iter().map(|p| p.name.as_str()));
    let remedy = near.map_or("/preset lists them".to_owned(), |near| format!("did you mean {near}?"));
    Refusal::new(Level::Warn, format!("there is no preset '{name}': {remedy}"))
}

/// `/save-preset`: keeps the settings in force as a preset, here and in the configuration.
pub(super) fn save_preset(state: &mut State, name: &str) -> Outcome {
    if name.is_empty() {
        return Err(Refusal::new(Level::Info, "give it a name: /save-preset NAME"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.len() > LONGEST_NAME || !name.chars().all(plain) {
        let words =
            format!("'{name}' is no name for a preset: give up to {LONGEST_NAME} letters, digits, '-', '_' and '.'");
        return Err(Refusal::new(Level::Warn, words));
    }
    if Preset::shipped()
        .iter()
        .any(|shipped| shipped.name.eq_ignore_ascii_case(name))
    {
        let words = format!("'{name}' is a preset that comes with quipu and stays as it is: give another name");
        return Err(Refusal::new(Level::Warn, words));
    }
    let preset = state.tuning.keep_as(name);
    Ok(vec![Effect::Save(Keepable::Preset(Box::new(preset)))])
}

/// A name is a word or two.
const LONGEST_NAME: usize = 40;

/// A preset was written to the configuration, or not.
pub(super) fn preset_saved(state: &mut State, name: &str, written: Result<(), String>) {
    match written {
        Ok(()) => state.tell(
            Level::Info,
            format!("the preset '{name}' is kept: /preset {name} takes it, now and later"),
        ),
        Err(why) => state.tell(
            Level::Error,
            format!("the preset '{name}' holds until quipu ends, it could not be kept: {why}"),
        ),
    }
}

/// `/grammar` and `/schema`: shows the form that answers must have, takes it away, or has another read.
pub(super) fn grammar(state: &mut State, form: GrammarForm, args: &str) -> Vec<Effect> {
    let now = state.tuning.sampling.grammar.as_ref();
    match (args, now) {
        ("", None) => state.tell(
            Level::Info,
            "answers may have any form: /grammar FILE or /schema FILE gives them one",
        ),
        ("", Some(grammar)) => {
            let words = format!(
                "answers have the form of '{}': /grammar off takes it away",
                grammar.name
            );
            state.tell(Level::Info, words);
        }
        ("off", None) => state.tell(Level::Info, "answers may have any form already"),
        ("off", Some(_)) => {
            state.tuning.sampling.grammar = None;
            state.tell(Level::Info, "answers may have any form from the next token on");
            return tune(state);
        }
        (path, _) => {
            let path = path.to_owned();
            return vec![Effect::ReadGrammar { path, form }];
        }
    }
    Vec::new()
}

/// The file of a grammar was read.
pub(super) fn grammar_read(state: &mut State, read: Result<Grammar, String>) -> Vec<Effect> {
    match read {
        Ok(grammar) => {
            let words = format!("answers have the form of '{}' from the next one on", grammar.name);
            state.tuning.sampling.grammar = Some(grammar);
            state.tell(Level::Info, words);
        }
        Err(words) => state.tell(Level::Error, words),
    }
    // An answer under way began without the form and cannot take it on in the middle.
    Vec::new()
}

/// Tells the engine the settings where it is answering.
pub(super) fn tune(state: &State) -> Vec<Effect> {
    let sampling = || Effect::Engine(Command::Tune(state.tuning.sampling.clone()));
    answer::asked(state).map(|_| sampling()).into_iter().collect()
}

fn show(state: &mut State, title: &str, text: String) -> Vec<Effect> {
    state.screen.overlay = Some(Overlay::Text {
        title: title.to_owned(),
        text,
        top: 0,
    });
    Vec::new()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::tuning::Tuning;
    use crate::app::update::scene::{answering, draft, last_notice, loading, ready, send};
    use crate::app::{Msg, update};
    use crate::domain::Sampling;
    use crate::domain::sampling::{Chosen, Stage};

    #[test]
    fn assignments_are_read_as_people_write_them() {
        for text in [
            "top-k 5",
            "top-k=5",
            "top-k = 5",
            "parameter top-k 5",
            "parameter top-k=5",
        ] {
            assert_eq!(assignment(text), ("top-k", "5"), "{text}");
        }
        assert_eq!(assignment("top-k"), ("top-k", ""));
        assert_eq!(assignment("top-k="), ("top-k", ""));
        assert_eq!(assignment("parameter"), ("", ""));
        assert_eq!(assignment("parameters"), ("parameters", ""));
        assert_eq!(assignment("=5"), ("", "5"));
    }

    #[test]
    fn a_value_is_set_and_the_running_answer_hears_of_it() {
        let five = || Sampling {
            top_k: 5,
            ..Sampling::default()
        };
        for typed in ["/set top-k 5", "/set top_k=5", "/set parameter Top_K 5"] {
            let mut state = ready();
            assert_eq!(send(&mut state, typed), [draft("")]);
            assert_eq!(state.tuning.sampling, five());
            assert_eq!(last_notice(&state), (Level::Info, "top-k 40 → 5"));
        }
        let mut state = answering("hi");
        let tune = Effect::Engine(Command::Tune(five()));
        assert_eq!(send(&mut state, "/set top-k 5"), [draft(""), tune]);
        assert_eq!(send(&mut state, "/set top-k 5"), [draft("")]);
        assert_eq!(last_notice(&state).1, "top-k is 5 already");
        let mut state = loading();
        send(&mut state, "hello");
        assert_eq!(
            send(&mut state, "/set top-k 5"),
            [draft("")],
            "what waits is asked for with it"
        );
    }

    #[test]
    fn a_stage_is_switched_off_by_its_value_and_by_the_list() {
        let mut state = answering("hi");
        let tuned = |effects: Vec<Effect>| match effects.as_slice() {
            [_, Effect::Engine(Command::Tune(sampling))] => sampling.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(tuned(send(&mut state, "/set top-k off")).top_k, 0);
        assert_eq!(last_notice(&state).1, "top-k 40 → 0");
        let stages = tuned(send(&mut state, "/set stages temperature, top-p")).stages;
        assert_eq!(stages, [Stage::Temperature, Stage::TopP]);
    }

    #[test]
    fn where_a_value_comes_from_is_told() {
        let mut state = ready();
        state.tuning.recommended = vec![("top-k", "20".to_owned())];
        state.tuning.chosen = vec![("min-p", Chosen::File)];
        send(&mut state, "/preset precise");
        send(&mut state, "/set temperature 0.9");
        for (name, from) in [
            ("temperature", "0.9 (set here)"),
            ("top-p", "0.9 (preset precise)"),
            ("top-k", "20 (the model)"),
            ("min-p", "0.1 (preset precise)"),
            ("seed", "random (default)"),
        ] {
            send(&mut state, &format!("/set {name}"));
            assert!(
                last_notice(&state).1.starts_with(&format!("{name} is {from}")),
                "{name}"
            );
        }
        // What is chosen counts although it is what llama.cpp would take.
        let mut tuning = Tuning {
            chosen: vec![("top-k", Chosen::CommandLine)],
            ..Tuning::default()
        };
        tuning.heed(vec![("top-k", "20".to_owned())]);
        let top_k = Parameter::find("top-k").unwrap();
        assert_eq!((tuning.sampling.top_k, tuning.origin(top_k).as_str()), (40, "flag"));
    }

    #[test]
    fn settings_are_kept_as_a_preset() {
        let mut state = ready();
        send(&mut state, "/set temperature 0.9");
        let effects = send(&mut state, "/save-preset mine");
        let kept = Preset::from_values("mine", [("temperature", "0.9")]).unwrap();
        assert_eq!(
            effects,
            [draft(""), Effect::Save(Keepable::Preset(Box::new(kept.clone())))]
        );
        assert_eq!(
            (state.tuning.label().as_str(), state.tuning.find("mine")),
            ("mine", Some(&kept))
        );
        update(&mut state, Msg::Saved(Keepable::Preset(Box::new(kept.clone())), Ok(())));
        assert_eq!(
            last_notice(&state).1,
            "the preset 'mine' is kept: /preset mine takes it, now and later"
        );
        update(
            &mut state,
            Msg::Saved(Keepable::Preset(Box::new(kept)), Err("no room".to_owned())),
        );
        assert_eq!(last_notice(&state).0, Level::Error);
        for bad in [
            "/save-preset",
            "/save-preset Balanced",
            "/save-preset a b",
            "/save-preset [x]",
        ] {
            assert_eq!(send(&mut state, bad), [], "{bad}");
        }
    }

    #[test]
    fn a_parameter_is_explained() {
        let mut state = ready();
        assert_eq!(send(&mut state, "/set top_p"), [draft("")]);
        let words = "top-p is 0.95 (default), by default 0.95; takes a number from 0 to 1: keep the likeliest that together reach \
                     this probability; 1 is off";
        assert_eq!(last_notice(&state), (Level::Info, words));
    }

    #[test]
    fn what_cannot_be_set_is_kept_to_be_mended() {
        let cases = [
            (
                "/set stages top-k,tempreature",
                "'top-k,tempreature' is no value for stages: there is no stage 'tempreature', did you mean temperature?",
            ),
            ("/set top-p 2", "'2' is no value for top-p: give a number from 0 to 1"),
            (
                "/set tmeperature 2",
                "there is no parameter 'tmeperature': did you mean temperature?",
            ),
            ("/set xyzzy 2", "there is no parameter 'xyzzy': /set lists them"),
            ("/preset presice", "there is no preset 'presice': did you mean precise?"),
            ("/preset xyzzy", "there is no preset 'xyzzy': /preset lists them"),
        ];
        for (typed, words) in cases {
            let mut state = ready();
            assert_eq!(send(&mut state, typed), []);
            assert_eq!(last_notice(&state), (Level::Warn, words));
            assert_eq!(state.draft.text, typed);
            assert_eq!(state.tuning, ready().tuning);
        }
    }

    #[test]
    fn a_preset_is_chosen() {
        let mut state = answering("hi");
        send(&mut state, "/set top-k 5");
        let precise = state.tuning.find("precise").unwrap().sampling.clone();
        let tune = Effect::Engine(Command::Tune(precise));
        assert_eq!(send(&mut state, "/preset Precise"), [draft(""), tune]);
        assert_eq!(last_notice(&state), (Level::Info, "preset balanced* → precise"));
    }
}
