//! `/compare`: the last question answered under several presets at once, and keeping one of the answers, or all, as versions.

use crate::app::compare::{Column, Comparing};
use crate::app::effect::Effect;
use crate::app::inspector::Walk;
use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::domain::inference::{Command, CompareRequest, Finish, Said, Stats, TurnId};
use crate::domain::{Answer, Role, Sampling, Take};

use super::{Outcome, Refusal, answer, model, prompt, record, sampling};

/// What the settings in force are called beside presets.
const NOW: &str = "now";

/// `/compare PRESET…`: answers the last question under these presets; one is held against the settings in force.
pub(super) fn open(state: &mut State, names: &str) -> Outcome {
    answer::may_begin(state)?;
    let model = model::at_hand(state)?.clone();
    let chosen = chosen(state, names)?;
    let path = state.conversation.path();
    let question = path.iter().rev().find(|message| message.role == Role::User);
    let Some(question) = question.map(|message| message.id) else {
        return Err(Refusal::new(
            Level::Info,
            "there is nothing to answer yet: ask something first",
        ));
    };
    let prompt = prompt::request(state, Some(question), &model.fingerprint);
    let budget = state.options.thinking_budget;
    let column = |(name, settings): &(String, Sampling)| {
        let take = record::take(&model, state.conversation.system(), &prompt, (settings, budget));
        let take = Take {
            // Several rows are computed by other kernels than one.
            build: format!("{}; columns {}", model.build, chosen.len()),
            ..take
        };
        let answer = Answer {
            model: model.fingerprint.clone(),
            model_name: model.name.clone(),
            takes: vec![take],
            ..Answer::default()
        };
        Column {
            name: name.clone(),
            answer,
            ..Column::default()
        }
    };
    let columns = chosen.iter().map(column).collect();
    let request = CompareRequest {
        prompt,
        columns: chosen.into_iter().map(|(_, settings)| settings).collect(),
        thinking_budget: budget,
        report: state.options.trace > 0,
    };
    let turn = state.next_turn();
    state.comparing = Some(turn);
    state.screen.overlay = Some(Overlay::Compare(Box::new(Comparing::new(turn, question, columns))));
    // Nobody waits for what is read to return.
    let mut effects = answer::drop_aside(state);
    let request = Box::new(request);
    effects.push(Effect::Engine(Command::Compare { turn, request }));
    Ok(effects)
}

/// The settings of these presets, each with its name.
fn chosen(state: &State, names: &str) -> Result<Vec<(String, Sampling)>, Refusal> {
    let mut chosen: Vec<(String, Sampling)> = Vec::new();
    for name in names.split_whitespace() {
        let mut tuning = state.tuning.clone();
        if !tuning.choose(name) {
            return Err(sampling::no_preset(&tuning, name));
        }
        chosen.push((tuning.preset, tuning.sampling));
    }
    if chosen.len() == 1 {
        chosen.insert(0, (NOW.to_owned(), state.tuning.sampling.clone()));
    }
    if !(2..=CompareRequest::MOST).contains(&chosen.len()) {
        let known: Vec<_> = state.tuning.presets.iter().map(|preset| preset.name.as_str()).collect();
        let most = CompareRequest::MOST;
        let words = format!(
            "name one to {most} presets, as in /compare precise creative; there are {}",
            known.join(", ")
        );
        return Err(Refusal::new(Level::Info, words));
    }
    Ok(chosen)
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
    let columns = comparing(state, turn).map_or(&mut [][..], |open| &mut open.columns);
    for take in columns.iter_mut().flat_map(|column| &mut column.answer.takes) {
        (take.path, take.prompt) = (path.to_owned(), digest.to_owned());
    }
}

/// A token was said in a column.
pub(super) fn said(state: &mut State, turn: TurnId, column: usize, said: Said) {
    let most = state.options.trace as usize;
    let Some(column) = comparing(state, turn).and_then(|open| open.columns.get_mut(column)) else {
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
    if let Some(column) = comparing(state, turn).and_then(|open| open.columns.get_mut(column)) {
        let answer = &mut column.answer;
        (answer.finish, answer.thinking.time, answer.stats) = (Some(finish), taken.thinking, taken);
        for take in &mut answer.takes {
            take.seed = taken.seed;
        }
    }
}

/// All are over.
pub(super) fn over(state: &mut State, turn: TurnId) {
    state.comparing.take_if(|comparing| *comparing == turn);
    if let Some(open) = comparing(state, turn) {
        open.over = true;
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
    let Some(Overlay::Compare(open)) = &mut state.screen.overlay else {
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
    use crate::app::update::scene::{act, answered, last_notice, ready, send};
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
                "name one to 4 presets, as in /compare precise creative; there are precise, balanced",
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
