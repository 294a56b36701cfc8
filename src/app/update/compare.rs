//! `/compare`: the last question answered under several presets at once, or by several models one after the other, and keeping one of
//! the answers, or all, as versions.

use crate::app::compare::{Column, Comparing, Wish};
use crate::app::effect::Effect;
use crate::app::inspector::Walk;
use crate::app::notice::Level;
use crate::app::state::{Engine, Home, Overlay, State};
use crate::app::tuning::Tuning;
use crate::domain::inference::{Command, CompareRequest, Finish, Said, Stats, TurnId};
use crate::domain::{Answer, Role, Sampling, Take};

use super::{Outcome, Refusal, answer, model, prompt, record, sampling, warm};

/// What the settings in force are called beside presets.
const NOW: &str = "now";

/// `/compare PRESET…`: answers the last question under these presets; one is held against the settings in force. `PRESET@MODEL` is
/// another model's answer, `@MODEL` one under the settings in force.
pub(super) fn open(state: &mut State, names: &str) -> Outcome {
    answer::may_begin(state)?;
    let model = model::at_hand(state)?;
    let now = model.name.clone();
    let wishes = wishes(state, names)?;
    let path = state.conversation.path();
    let question = path.iter().rev().find(|message| message.role == Role::User);
    let Some(question) = question.map(|message| message.id) else {
        return Err(Refusal::new(
            Level::Info,
            "there is nothing to answer yet: ask something first",
        ));
    };
    let now = if wishes.iter().any(|wish| wish.model.is_some()) {
        &now
    } else {
        NOW
    };
    let column = |wish: Wish| Column {
        name: wish.label(now),
        wish,
        ..Column::default()
    };
    let columns = wishes.into_iter().map(column).collect();
    state.screen.overlay = Some(Overlay::Compare(Box::new(Comparing::new(question, columns))));
    // Nobody waits for what is read to return.
    let mut effects = answer::drop_aside(state);
    effects.extend(go_on(state));
    Ok(effects)
}

/// What each column is to be answered with.
fn wishes(state: &State, names: &str) -> Result<Vec<Wish>, Refusal> {
    let mut wishes: Vec<Wish> = names.split_whitespace().map(Wish::read).collect();
    for name in wishes.iter_mut().filter_map(|wish| wish.preset.as_mut()) {
        let mut tuning = state.tuning.clone();
        if !tuning.choose(name) {
            return Err(sampling::no_preset(&tuning, name));
        }
        *name = tuning.preset;
    }
    if wishes.len() == 1 {
        wishes.insert(0, Wish::default());
    }
    if !(2..=CompareRequest::MOST).contains(&wishes.len()) {
        let known: Vec<_> = state.tuning.presets.iter().map(|preset| preset.name.as_str()).collect();
        let most = CompareRequest::MOST;
        let words = format!(
            "name one to {most} presets, as in /compare precise creative, or models, as in /compare @FILE; there are {}",
            known.join(", ")
        );
        return Err(Refusal::new(Level::Info, words));
    }
    Ok(wishes)
}

/// The comparison that is open.
fn shown(state: &mut State) -> Option<&mut Comparing> {
    match &mut state.screen.overlay {
        Some(Overlay::Compare(open)) => Some(open),
        _ => None,
    }
}

/// Whether a comparison is open.
pub(super) fn is_shown(state: &State) -> bool {
    matches!(state.screen.overlay, Some(Overlay::Compare(_)))
}

/// Has the next columns answered, their model loaded first where it is another. With none left, goes back to the model before.
fn go_on(state: &mut State) -> Vec<Effect> {
    let Some(open) = shown(state) else {
        return Vec::new();
    };
    let Some(wish) = open.go_on().map(|column| column.wish.clone()) else {
        open.over = true;
        state.comparing = None;
        return go_home(state).into_iter().collect();
    };
    let away = state.home.is_some();
    if wish.model.is_none() && !away {
        return ask(state);
    }
    let mut effects = Vec::new();
    if !away {
        effects.extend(warm::keep(state));
    }
    let home = state.home.get_or_insert_with(|| Home(state.loaded.clone()));
    let name = wish.model.or_else(|| home.0.clone());
    effects.push(state.load(name));
    begin(state, state.turn);
    effects
}

/// From here on the panel waits for this turn.
fn begin(state: &mut State, turn: TurnId) {
    state.comparing = Some(turn);
    if let Some(open) = shown(state) {
        open.turn = turn;
    }
}

/// Goes back to the model that was there before another was compared.
pub(super) fn go_home(state: &mut State) -> Option<Effect> {
    let Home(name) = state.home.take()?;
    (!matches!(state.engine, Engine::Dead(_))).then(|| state.load(name))
}

/// A model was loaded. Asks it where a comparison waits for it; `None` where none does.
pub(super) fn loaded(state: &mut State, turn: TurnId) -> Option<Vec<Effect>> {
    comparing(state, turn)?;
    Some(ask(state))
}

/// A model could not be loaded. Goes on without it where a comparison waits for it; `None` where none does.
pub(super) fn not_loaded(state: &mut State, turn: TurnId, reason: &str) -> Option<Vec<Effect>> {
    for column in comparing(state, turn)?.current() {
        column.failed = Some(reason.to_owned());
    }
    Some(go_on(state))
}

/// Asks the model that is loaded for the columns that are next.
fn ask(state: &mut State) -> Vec<Effect> {
    let Some(model) = state.engine.model().cloned() else {
        return Vec::new();
    };
    let Some(open) = shown(state) else {
        return Vec::new();
    };
    let (question, asked) = (open.question, open.current());
    let columns: Vec<Wish> = asked.iter().map(|column| column.wish.clone()).collect();
    let columns: Vec<Sampling> = columns.iter().map(|wish| settings(&state.tuning, wish)).collect();
    let prompt = prompt::request(state, Some(question), &model.fingerprint);
    let budget = state.options.thinking_budget;
    let build = match columns.len() {
        1 => model.build.clone(),
        // Several rows are computed by other kernels than one.
        count => format!("{}; columns {count}", model.build),
    };
    let system = state.conversation.system().map(str::to_owned);
    for (column, settings) in shown(state).map(Comparing::current).into_iter().flatten().zip(&columns) {
        let take = record::take(&model, system.as_deref(), &prompt, (settings, budget));
        let build = build.clone();
        column.answer = Answer {
            model: model.fingerprint.clone(),
            model_name: model.name.clone(),
            takes: vec![Take { build, ..take }],
            ..Answer::default()
        };
    }
    let request = CompareRequest {
        prompt,
        columns,
        thinking_budget: budget,
        report: state.options.trace > 0,
    };
    let turn = state.next_turn();
    begin(state, turn);
    let request = Box::new(request);
    vec![Effect::Engine(Command::Compare { turn, request })]
}

/// The settings that a column is answered under.
fn settings(tuning: &Tuning, wish: &Wish) -> Sampling {
    let mut tuning = tuning.clone();
    if let Some(preset) = &wish.preset {
        // It was there when the comparison began.
        let _ = tuning.choose(preset);
    }
    tuning.sampling
}

/// The comparison of this turn, while it is open.
fn comparing(state: &mut State, turn: TurnId) -> Option<&mut Comparing> {
    match &mut state.screen.overlay {
        Some(Overlay::Compare(open)) if open.turn == turn => Some(open),
        _ => None,
    }
}

/// The prompt was read: how it was made, and its digest.
pub(super) fn prompted(state: &mut State, turn: TurnId, path: &str, digest: &str) {
    let columns = comparing(state, turn).map_or(&mut [][..], Comparing::current);
    for take in columns.iter_mut().flat_map(|column| &mut column.answer.takes) {
        (take.path, take.prompt) = (path.to_owned(), digest.to_owned());
    }
}

/// A token was said in a column.
pub(super) fn said(state: &mut State, turn: TurnId, column: usize, said: Said) {
    let most = state.options.trace as usize;
    let Some(column) = comparing(state, turn).and_then(|open| open.current().get_mut(column)) else {
        return;
    };
    let counts = said.token.is_some();
    record::said(&mut column.text, &mut column.answer, said, most);
    if counts {
        column.ends.push(column.text.len());
    }
}

/// A column is over.
pub(super) fn finished(state: &mut State, turn: TurnId, column: usize, (finish, taken): (Finish, Stats)) {
    if let Some(column) = comparing(state, turn).and_then(|open| open.current().get_mut(column)) {
        let answer = &mut column.answer;
        (answer.finish, answer.thinking.time, answer.stats) = (Some(finish), taken.thinking, taken);
        for take in &mut answer.takes {
            take.seed = taken.seed;
        }
    }
}

/// All columns of a turn are over.
pub(super) fn over(state: &mut State, turn: TurnId) -> Vec<Effect> {
    state.comparing.take_if(|comparing| *comparing == turn);
    if comparing(state, turn).is_none() {
        return Vec::new();
    }
    go_on(state)
}

/// Closes the panel without going back to any model: another is loaded instead.
pub(super) fn close(state: &mut State) {
    state.home = None;
    if shown(state).is_some() {
        state.screen.overlay = None;
    }
}

/// Nothing more will come of it: closes what waits for it. Says whether anything did.
pub(super) fn withdraw(state: &mut State, turn: TurnId) -> bool {
    state.comparing.take_if(|comparing| *comparing == turn);
    let waits = comparing(state, turn).is_some();
    if waits {
        state.screen.overlay = None;
    }
    waits
}

/// Selects another column. Says whether any is there to be selected.
pub(super) fn step(state: &mut State, step: Walk) -> bool {
    let Some(open) = shown(state) else {
        return false;
    };
    let last = open.columns.len().saturating_sub(1);
    open.selected = match step {
        Walk::Previous | Walk::Back => open.selected.saturating_sub(1),
        Walk::Next | Walk::On => (open.selected + 1).min(last),
        Walk::First => 0,
        Walk::Last => last,
        Walk::Unsure | Walk::Shade | Walk::Force => open.selected,
    };
    true
}

/// Keeps the selected answer as a version, or all of them with that one shown; what is still being said is kept as far as it is.
pub(super) fn keep(state: &mut State, all: bool) -> Outcome {
    let Some(Overlay::Compare(open)) = &state.screen.overlay else {
        return Ok(Vec::new());
    };
    let open = open.as_ref().clone();
    let selected = open.columns.get(open.selected);
    if selected.is_none_or(|column| column.answer.tokens.is_empty()) {
        return Err(Refusal::new(Level::Info, "nothing was said in this column yet"));
    }
    state.screen.overlay = None;
    state.conversation.begin_step();
    let others = open
        .columns
        .iter()
        .enumerate()
        .filter(|(at, column)| all && *at != open.selected && !column.answer.tokens.is_empty());
    let kept: Vec<&Column> = others.map(|(_, column)| column).chain(selected).collect();
    let now = state.clock();
    for column in &kept {
        state.conversation.stand_on(Some(open.question));
        let id = state.conversation.push(Role::Assistant, column.text.clone(), now);
        if let Some(message) = state.conversation.get_mut(id) {
            let mut answer = column.answer.clone();
            answer.finish.get_or_insert(Finish::Stopped);
            record::settle_bytes(&mut answer, &column.text);
            message.answer = Some(answer);
        }
    }
    let names: Vec<_> = kept.iter().map(|column| column.name.as_str()).collect();
    state.tell(Level::Info, format!("kept as versions: {}", names.join(", ")));
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{act, answered, arrive, last_notice, ready, send};
    use crate::app::{Action, Msg, update};
    use crate::domain::inference::{Event, Failure, FailureKind, Token};

    fn open_one(state: &State) -> &Comparing {
        match &state.screen.overlay {
            Some(Overlay::Compare(open)) => open,
            other => panic!("{other:?}"),
        }
    }

    /// Two columns under way, and their turn.
    fn begun() -> (State, TurnId) {
        let mut state = answered();
        let effects = send(&mut state, "/compare precise creative");
        let turn = open_one(&state).turn;
        let asked = effects.iter().find_map(|effect| match effect {
            Effect::Engine(Command::Compare { turn, request }) => Some((*turn, request)),
            _ => None,
        });
        let (of, request) = asked.unwrap();
        assert_eq!((of, request.columns.len(), request.prompt.messages.len()), (turn, 2, 1));
        assert_eq!(
            [0.3, 1.1],
            [request.columns[0].temperature, request.columns[1].temperature]
        );
        (state, turn)
    }

    fn tell(state: &mut State, event: Event) -> Vec<Effect> {
        update(state, Msg::Engine(event))
    }

    fn say(state: &mut State, turn: TurnId, column: usize, (id, text): (i32, &str)) {
        let said = Said {
            token: Some(Token(id)),
            bytes: text.as_bytes().to_vec(),
            text: text.to_owned(),
            ..Said::default()
        };
        tell(state, Event::Column { turn, column, said });
    }

    /// Both have said something, and the first is over.
    fn spoken() -> (State, TurnId) {
        let (mut state, turn) = begun();
        for (column, said) in [(0, (1, "It")), (1, (1, "It")), (0, (2, " is")), (1, (3, " was"))] {
            say(&mut state, turn, column, said);
        }
        let (column, finish) = (0, Finish::EndOfTurn);
        let taken = Stats {
            seed: 77,
            ..Stats::default()
        };
        let over = Event::ColumnFinished {
            turn,
            column,
            finish,
            stats: taken,
        };
        tell(&mut state, over);
        (state, turn)
    }

    #[test]
    fn columns_grow_and_part_where_they_differ() {
        let (state, _) = spoken();
        let open = open_one(&state);
        let [first, second] = open.columns.as_slice() else {
            panic!("{open:?}");
        };
        assert_eq!((first.text.as_str(), second.text.as_str()), ("It is", "It was"));
        assert_eq!((first.leaves(first), second.leaves(first)), (5, 2));
        assert_eq!(
            (first.answer.finish, second.answer.finish, open.over),
            (Some(Finish::EndOfTurn), None, false)
        );
    }

    #[test]
    fn one_is_kept_or_all_are() {
        for (action, count) in [(Action::Take, 2), (Action::KeepAll, 3)] {
            let (mut state, turn) = spoken();
            tell(&mut state, Event::Compared { turn });
            act(&mut state, Action::Walk(Walk::Next));
            act(&mut state, Action::Walk(Walk::Previous));
            let before = state.conversation.messages().len();
            act(&mut state, action);
            assert_eq!(state.screen.overlay, None);
            assert_eq!(state.conversation.messages().len() - before, count - 1);
            let tip = state
                .conversation
                .tip()
                .and_then(|tip| state.conversation.get(tip))
                .unwrap();
            assert_eq!(tip.text, "It is", "the selected one is shown");
            let answer = tip.answer.as_ref().unwrap();
            assert_eq!(answer.takes[0].settings.temperature, 0.3);
            assert_eq!((answer.takes[0].seed, answer.finish), (77, Some(Finish::EndOfTurn)));
            assert!(answer.takes[0].build.ends_with("; columns 2"));
            assert_eq!(state.comparing, None);
        }
    }

    #[test]
    fn what_is_not_over_is_stopped_with_its_panel() {
        let (mut state, turn) = spoken();
        assert!(
            act(&mut state, Action::Take).contains(&Effect::Cancel(turn)),
            "the other goes on no longer"
        );
        let (mut state, turn) = begun();
        assert_eq!(act(&mut state, Action::Take), [], "nothing is there to keep");
        assert_eq!(act(&mut state, Action::Escape), [Effect::Cancel(turn)]);
        assert_eq!(state.screen.overlay, None);
        // What still comes is nobody's.
        say(&mut state, turn, 0, (9, "late"));
        assert_eq!(tell(&mut state, Event::Compared { turn }), []);
    }

    /// The model that an effect loads.
    fn load_of(effects: &[Effect]) -> Option<Home> {
        effects.iter().find_map(|effect| match effect {
            Effect::Load { name, .. } => Some(Home(name.clone())),
            _ => None,
        })
    }

    /// How many columns an effect asks for.
    fn asked(effects: &[Effect]) -> Option<usize> {
        effects.iter().find_map(|effect| match effect {
            Effect::Engine(Command::Compare { request, .. }) => Some(request.columns.len()),
            _ => None,
        })
    }

    fn named(name: &str) -> Home {
        Home(Some(name.to_owned()))
    }

    #[test]
    fn models_answer_one_after_the_other_and_the_first_comes_back() {
        let mut state = answered();
        let effects = send(&mut state, "/compare precise code @eagle creative@eagle");
        assert_eq!((asked(&effects), load_of(&effects)), (Some(2), None));
        let names: Vec<_> = open_one(&state)
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        assert_eq!(names, ["precise", "code", "eagle", "creative@eagle"]);
        let turn = open_one(&state).turn;
        say(&mut state, turn, 1, (1, "It"));

        let effects = tell(&mut state, Event::Compared { turn });
        assert_eq!((asked(&effects), load_of(&effects)), (None, Some(named("eagle"))));
        let effects = arrive(&mut state, "eagle");
        assert_eq!(asked(&effects), Some(2));
        let turn = open_one(&state).turn;
        say(&mut state, turn, 0, (7, "Is it"));
        let open = open_one(&state);
        assert_eq!((open.columns[2].text.as_str(), open.over), ("Is it", false));
        assert_eq!(open.columns[2].answer.model, "eagle fingerprint");
        assert_eq!(open.columns[3].answer.takes[0].settings.temperature, 1.1);
        assert_eq!(
            open.columns[2].leaves(&open.columns[1]),
            1,
            "of other tokens, the text counts"
        );

        let effects = tell(&mut state, Event::Compared { turn });
        assert_eq!(
            (asked(&effects), load_of(&effects)),
            (None, Some(Home(None))),
            "the first model comes back"
        );
        assert!(open_one(&state).over);
        arrive(&mut state, "condor");
        act(&mut state, Action::KeepAll);
        assert_eq!(
            (state.home.clone(), state.engine.model().unwrap().name.as_str()),
            (None, "condor")
        );
    }

    #[test]
    fn a_model_stands_beside_the_one_that_is_loaded() {
        let mut state = answered();
        send(&mut state, "/compare @~/models/eagle.gguf");
        let names: Vec<_> = open_one(&state)
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        assert_eq!(names, ["condor", "eagle.gguf"]);
    }

    #[test]
    fn a_model_that_cannot_be_loaded_leaves_the_others_their_columns() {
        let mut state = answered();
        let effects = send(&mut state, "/compare @eagle precise");
        assert_eq!((asked(&effects), load_of(&effects)), (None, Some(named("eagle"))));
        let turn = open_one(&state).turn;
        let failure = Failure::new(FailureKind::Model, "'eagle' is no model");
        let effects = tell(&mut state, Event::Failed { turn, failure });
        assert_eq!(
            load_of(&effects),
            Some(Home(None)),
            "whatever is loaded now, the other is wanted"
        );
        assert_eq!(
            open_one(&state).columns[0].failed.as_deref(),
            Some("'eagle' is no model")
        );
        let effects = arrive(&mut state, "condor");
        assert_eq!(asked(&effects), Some(1));
    }

    #[test]
    fn whoever_closes_it_early_gets_the_model_back() {
        for loading in [true, false] {
            let mut state = answered();
            send(&mut state, "/compare @eagle @owl");
            if !loading {
                arrive(&mut state, "eagle");
            }
            let turn = open_one(&state).turn;
            let effects = act(&mut state, Action::Escape);
            assert!(effects.contains(&Effect::Cancel(turn)));
            assert_eq!((load_of(&effects), state.home.clone()), (Some(Home(None)), None));
            // What the load that was stopped comes to is nobody's.
            let failure = Failure::new(FailureKind::Cancelled, "loading was stopped");
            assert_eq!(tell(&mut state, Event::Failed { turn, failure }), []);
            arrive(&mut state, "condor");
            assert_eq!(state.engine.model().unwrap().name, "condor");
        }
    }

    #[test]
    fn another_model_that_is_asked_for_ends_it() {
        let mut state = answered();
        send(&mut state, "/compare @eagle");
        let turn = open_one(&state).turn;
        tell(&mut state, Event::Compared { turn });
        send(&mut state, "/model owl");
        let shown = open_one(&state).clone();
        let missing = Failure::new(FailureKind::Model, "no such file 'owl'");
        update(&mut state, Msg::Found("owl".to_owned(), Err(missing)));
        assert_eq!(open_one(&state), &shown);
        let words = "no such file 'owl'; the model asked for before is still being loaded";
        assert_eq!(last_notice(&state).1, words);

        send(&mut state, "/model owl");
        let effects = update(&mut state, Msg::Found("owl".to_owned(), Ok(())));
        assert_eq!((load_of(&effects), state.home.clone()), (Some(named("owl")), None));
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn one_preset_stands_beside_the_settings_in_force() {
        let mut state = answered();
        state.tuning.sampling.temperature = 0.55;
        send(&mut state, "/compare code");
        let names: Vec<_> = open_one(&state)
            .columns
            .iter()
            .map(|column| (column.name.as_str(), column.answer.takes[0].settings.temperature))
            .collect();
        assert_eq!(names, [("now", 0.55), ("code", 0.2)]);
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        for (said, words) in [
            (
                "/compare",
                "name one to 4 presets, as in /compare precise creative, or models, as in /compare @FILE; there are precise, balanced",
            ),
            (
                "/compare precise creatif",
                "there is no preset 'creatif': did you mean creative?",
            ),
            (
                "/compare precise code creative balanced precise",
                "name one to 4 presets",
            ),
        ] {
            let mut state = answered();
            send(&mut state, said);
            assert_eq!(state.screen.overlay, None);
            assert!(last_notice(&state).1.starts_with(words), "{}", last_notice(&state).1);
        }
        let mut state = ready();
        send(&mut state, "/compare precise code");
        assert_eq!(
            last_notice(&state).1,
            "there is nothing to answer yet: ask something first"
        );
    }

    #[test]
    fn an_engine_that_dies_closes_it() {
        let (mut state, _) = begun();
        let reason = "out of memory".to_owned();
        tell(&mut state, Event::Died { reason });
        assert_eq!((state.screen.overlay.is_none(), state.comparing), (true, None));
    }

    #[test]
    fn a_failure_closes_it() {
        let (mut state, turn) = begun();
        let failure = Failure::new(FailureKind::Compute, "it broke");
        tell(&mut state, Event::Failed { turn, failure });
        assert_eq!((state.screen.overlay.is_none(), state.comparing), (true, None));
        assert_eq!(last_notice(&state), (Level::Error, "it broke"));
    }
}
