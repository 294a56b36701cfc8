//! The loop guard: an answer that goes round in circles is stopped or told of, with the cause as far as the settings tell it; `/loop`
//! offers the ways out. What a loop is, `text::looping` knows.

use std::convert::Infallible;

use crate::app::caught::{self, Caught, Remedy};
use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::picker::{Choice, Pick, Picker};
use crate::app::state::{Phase, State};
use crate::domain::LoopGuard;
use crate::domain::inference::{Part, Token, TurnEnd};
use crate::domain::sampling::{Bias, BiasedToken, Parameter, Sampling, Seed};
use crate::text::Repetition;

use super::{Outcome, Refusal, answer, compact, inspect, pick, proposed, sampling, talk};

/// What temperature is raised by, and what to at least.
const WARMER: f32 = 0.3;
const WARM: f32 = 0.8;

/// DRY as its author has it (oobabooga/text-generation-webui#5677).
const DRY: f32 = 0.8;

/// Takes the next token of the answer under way, and with it what makes a loop certain.
pub(super) fn watch(state: &mut State, token: Option<Token>, part: Part, text: &str) -> Vec<Effect> {
    // A summary has its own end, and half of one would be of no use.
    if compact::under_way(state) {
        return Vec::new();
    }
    let Some(running) = &mut state.running else {
        return Vec::new();
    };
    let found = running.watch.as_mut().and_then(|watch| watch.push(token, text));
    let (Some(found), Phase::Decoding { .. }) = (found, running.phase) else {
        return Vec::new();
    };
    let (turn, id) = (running.turn, running.answer);
    let pauses = state.options.loop_guard == LoopGuard::Pause;
    if pauses {
        running.phase = Phase::Stopping;
    }
    let Some(message) = state.conversation.get(id) else {
        return Vec::new();
    };
    let tokens = message.answer.as_ref().map_or(&[][..], |answer| &answer.tokens);
    let begin = tokens.len().checked_sub(found.tokens);
    let kept = message.text.len().checked_sub(found.bytes);
    let since = begin.unwrap_or(found.first) + 1;
    let words = caught::words(&found, since, why(state, &found, begin));
    let ways = if state.options.unattended {
        caught::FLAGS
    } else {
        "/loop shows ways out"
    };
    state.caught = Some(Caught {
        answer: id,
        begin,
        first: begin.and_then(|begin| tokens.get(begin)).copied(),
        kept: kept.filter(|kept| part == Part::Answer && message.text.is_char_boundary(*kept)),
        tokens: found.tokens,
        unit: found.unit,
    });
    state.tell(Level::Warn, format!("{words}. {ways}"));
    if pauses { vec![Effect::Cancel(turn)] } else { Vec::new() }
}

/// The mean probability from which on the model was sure of what it said over and over.
const SURE: f32 = 0.99;

/// Why it happened, as far as anything tells: what the model cannot do, what became of the conversation, and what the settings leave to
/// it; and how sure the model was.
fn why(state: &State, found: &Repetition, begin: Option<usize>) -> Option<String> {
    match state.engine.model().map(|model| &model.turn_end) {
        Some(TurnEnd::Missing) => {
            return Some("this model has no end-of-generation token, so nothing ends an answer".to_owned());
        }
        Some(TurnEnd::Elsewhere(end)) => {
            let end = if end.is_empty() {
                "nothing".to_owned()
            } else {
                format!("'{end}'")
            };
            return Some(format!(
                "the template ends answers with {end}, at which nothing stops: /template has others"
            ));
        }
        _ => {}
    }
    let running = state.running.as_ref()?;
    if running.shifted {
        return Some("the context was full, and what went before was forgotten".to_owned());
    }
    let answer = state.conversation.get(running.answer)?.answer.as_ref()?;
    let untraced = answer.tokens.len().saturating_sub(answer.trace.len());
    let said = begin.and_then(|begin| answer.trace.get(begin.checked_sub(untraced)?..));
    let drawn: Vec<f32> = said
        .unwrap_or_default()
        .iter()
        .filter(|report| !report.put_in)
        .map(|r| r.probability)
        .collect();
    let mean = drawn.iter().sum::<f32>() / drawn.len().max(1) as f32;
    let sure = mean >= SURE;
    if sure && found.tokens == found.times && begin.is_some_and(|begin| begin <= 1) {
        let doctor = if state.options.unattended {
            "'quipu doctor'"
        } else {
            "/doctor"
        };
        return Some(format!(
            "one token leads from the beginning on, whatever was said: {doctor} tells whether the model is sound"
        ));
    }
    let cause = caught::cause(&state.tuning.sampling, found);
    if !sure {
        return cause;
    }
    let sure = format!("the model is sure of every token of it ({:.1} %)", 100.0 * mean);
    Some(cause.map_or_else(|| sure.clone(), |cause| format!("{cause}, and {sure}")))
}

/// `/loop`: the ways out of the loop that was caught, or what is done about one.
pub(super) fn caught(state: &mut State, name: &str) -> Outcome {
    let now = state.options.loop_guard;
    if !name.is_empty() {
        let way = Remedy::ALL
            .iter()
            .find(|(_, known, ..)| name.eq_ignore_ascii_case(known));
        if let Some((remedy, ..)) = way {
            return by_name(state, *remedy);
        }
        let names = LoopGuard::ALL.iter().map(|(name, _)| *name);
        let guard = LoopGuard::named(&name.to_lowercase()).ok_or_else(|| {
            let names = names.chain(Remedy::ALL.iter().map(|(_, name, ..)| *name));
            let words = format!("the loop guard knows no '{name}': {}", proposed(name, names));
            Refusal::new(Level::Warn, words)
        })?;
        state.options.loop_guard = guard;
        if guard == LoopGuard::Off
            && let Some(running) = &mut state.running
        {
            running.watch = None;
        }
        state.tell(Level::Info, format!("loop guard {} → {}", now.name(), guard.name()));
        return Ok(Vec::new());
    }
    let caught = looped(state)?;
    answer::idle(state)?;
    let rows = Remedy::ALL.iter().filter(|(remedy, ..)| helps(state, &caught, *remedy));
    let rows = rows.map(|(remedy, name, label, note)| Pick {
        label: (*label).to_owned(),
        note: format!("/loop {name}: {note}"),
        what: Choice::Remedy(*remedy),
    });
    let picker = Picker::new("ways out of the loop", rows.collect());
    pick::open(state, picker);
    Ok(Vec::new())
}

/// The loop of the last answer.
///
/// # Errors
/// Where there is none.
fn looped(state: &State) -> Result<Caught, Refusal> {
    current(state).ok_or_else(|| {
        let guard = state.options.loop_guard.name();
        let words = format!("the loop guard is at {guard}; no loop was caught in the last answer");
        Refusal::new(Level::Info, words)
    })
}

/// Whether a way out leads anywhere.
fn helps(state: &State, caught: &Caught, remedy: Remedy) -> bool {
    match remedy {
        // Where every draw is the likeliest token, no number changes it.
        Remedy::Seed => !state.tuning.sampling.is_greedy(),
        Remedy::Ban => caught.first.is_some(),
        Remedy::Another => caught
            .begin
            .is_some_and(|begin| inspect::is_known(state, caught.answer, begin)),
        Remedy::Dry | Remedy::Temperature | Remedy::GoOn => true,
    }
}

/// Takes the way out that was named.
fn by_name(state: &mut State, remedy: Remedy) -> Outcome {
    let caught = looped(state)?;
    answer::idle(state)?;
    if !helps(state, &caught, remedy) {
        return Err(Refusal::new(
            Level::Info,
            "that leads nowhere here: /loop shows what does",
        ));
    }
    take(state, remedy)
}

/// The loop of the answer at the tip.
fn current(state: &State) -> Option<Caught> {
    let tip = state.conversation.tip();
    state.caught.clone().filter(|caught| Some(caught.answer) == tip)
}

/// Takes a way out.
pub(super) fn take(state: &mut State, remedy: Remedy) -> Outcome {
    let Some(caught) = current(state) else {
        return Ok(Vec::new());
    };
    if remedy == Remedy::GoOn {
        let effects = answer::go_on(state)?;
        if let Some(running) = &mut state.running {
            running.watch = None;
        }
        return Ok(effects);
    }
    if let (Remedy::Another, Some(begin)) = (remedy, caught.begin) {
        inspect::open_at(state, caught.answer, begin);
        return Ok(Vec::new());
    }
    answer::may_begin(state)?;
    let message = state.conversation.get(caught.answer);
    let before = message.and_then(|message| message.text.get(..caught.kept?));
    // Blanks before the loop belong to its first token, which is to be drawn anew.
    let before = before.map_or_else(String::new, |before| before.trim_end().to_owned());
    let changes = mend(state, remedy, &caught);
    if !changes.is_empty() {
        state.tell(Level::Info, changes.join(", "));
    }
    state.options.prefill = before;
    let mut effects = sampling::tune(state);
    effects.extend(talk::retry(state)?);
    Ok(effects)
}

/// Changes the settings as the way out has it; what became another, in words.
fn mend(state: &mut State, remedy: Remedy, caught: &Caught) -> Vec<String> {
    let changes = match remedy {
        Remedy::Dry => {
            let window = (2 * caught.tokens) as u32;
            let breakers = |s: &mut Sampling| s.dry_breakers.retain(|breaker| !caught.unit.contains(breaker.as_str()));
            vec![
                change(state, "dry-multiplier", |s| {
                    s.dry_multiplier = s.dry_multiplier.max(DRY);
                }),
                change(state, "dry-last-n", |s| s.dry_last_n = s.dry_last_n.max(window)),
                change(state, "dry-breakers", breakers),
            ]
        }
        Remedy::Temperature => {
            let warmer = |s: &mut Sampling| s.temperature = (s.temperature + WARMER).max(WARM);
            vec![change(state, "temperature", warmer)]
        }
        Remedy::Seed => vec![change(state, "seed", |s| s.seed = Seed::Random)],
        Remedy::Ban => vec![caught.first.and_then(|token| ban(state, token))],
        Remedy::Another | Remedy::GoOn => Vec::new(),
    };
    changes.into_iter().flatten().collect()
}

/// Has a token not be drawn any more.
fn ban(state: &mut State, Token(id): Token) -> Option<String> {
    let bias = Bias {
        token: BiasedToken::Id(id.cast_unsigned()),
        bias: f32::NEG_INFINITY,
    };
    change(state, "logit-bias", |s| s.logit_bias.push(bias))
}

/// Changes a setting; what became another, in words.
fn change(state: &mut State, name: &str, to: impl FnOnce(&mut Sampling)) -> Option<String> {
    let to = |settings: &mut Sampling| {
        to(settings);
        Ok::<_, Infallible>(())
    };
    let changed = state.tuning.change(Parameter::find(name)?, to).ok()?;
    changed.map(|(old, new)| format!("{name} {old} → {new}"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::state::{Engine, Overlay};
    use crate::app::update::scene::{act, answered, answering, finish, last_notice, ready, say, send};
    use crate::app::{Action, CommandId, Msg, update};
    use crate::domain::inference::{Candidate, Command, Event, Finish, GenerateRequest, Report, Said};

    /// An answer that says one word for ever, up to where that is told, and what is done then.
    fn looping(guard: LoopGuard) -> (State, Vec<Effect>) {
        let mut state = ready();
        state.options.loop_guard = guard;
        send(&mut state, "hello");
        say(&mut state, 7, "The capital is");
        let effects = (0..200).find_map(|_| Some(rect(&mut state)).filter(|effects| !effects.is_empty()));
        (state, effects.unwrap_or_default())
    }

    /// The model says it once more.
    fn rect(state: &mut State) -> Vec<Effect> {
        let said = Said {
            token: Some(Token(9)),
            text: " rect".to_owned(),
            ..Said::default()
        };
        let turn = answer::asked(state).unwrap();
        update(state, Msg::Engine(Event::Token { turn, said }))
    }

    /// The same, stopped.
    fn stopped() -> State {
        let (mut state, _) = looping(LoopGuard::Pause);
        finish(&mut state, Finish::Stopped);
        state
    }

    /// Takes the way out; what the engine is asked then.
    fn way_out(state: &mut State, remedy: Remedy) -> GenerateRequest {
        act(state, Action::Run(CommandId::Loop));
        let effects = take(state, remedy).ok().unwrap();
        let asked = effects.into_iter().find_map(|effect| match effect {
            Effect::Engine(Command::Generate { request, .. }) => Some(request),
            _ => None,
        });
        asked.unwrap()
    }

    /// The words about a loop of one word, which the model is so sure of, where `change` was made before.
    fn explained(probability: f32, change: impl FnOnce(&mut State)) -> String {
        let mut state = ready();
        state.options.trace = 5;
        state.tuning.sampling.temperature = 0.0;
        send(&mut state, "hello");
        change(&mut state);
        for _ in 0..200 {
            let said = Said {
                token: Some(Token(9)),
                text: " rect".to_owned(),
                report: Some(Box::new(Report {
                    probability,
                    ..Report::default()
                })),
                ..Said::default()
            };
            let turn = answer::asked(&state).unwrap();
            if !update(&mut state, Msg::Engine(Event::Token { turn, said })).is_empty() {
                break;
            }
        }
        last_notice(&state).1.to_owned()
    }

    /// The end of answers, as the model that is loaded has it.
    fn ends(state: &mut State, end: TurnEnd) {
        let Engine::Ready(model) = &mut state.engine else {
            panic!("no model");
        };
        model.turn_end = end;
    }

    #[test]
    fn the_cause_is_what_the_evidence_says() {
        let likeliest = "each token is the likeliest, and nothing penalises repetition";
        let says = |words: &str, cause: &str| assert!(words.contains(cause), "{words}");
        says(&explained(0.5, |_| {}), &format!("; {likeliest}. /loop"));
        says(
            &explained(0.995, |state| {
                for word in ["The", " capital", " is"] {
                    say(state, 7, word);
                }
            }),
            &format!("; {likeliest}, and the model is sure of every token of it (99.5 %). /loop"),
        );
        says(
            &explained(1.0, |_| {}),
            "; one token leads from the beginning on, whatever was said: /doctor",
        );
        says(
            &explained(0.5, |state| ends(state, TurnEnd::Missing)),
            "; this model has no end-of-generation token",
        );
        says(
            &explained(0.5, |state| ends(state, TurnEnd::Elsewhere("<|user|>".to_owned()))),
            "; the template ends answers with '<|user|>', at which nothing stops",
        );
        says(
            &explained(0.5, |state| {
                let turn = answer::asked(state).unwrap();
                let (keep, discard) = (24, 500);
                update(state, Msg::Engine(Event::Shift { turn, keep, discard }));
            }),
            "; the context was full, and what went before was forgotten",
        );
    }

    #[test]
    fn another_token_is_chosen_where_the_loop_began() {
        let mut state = ready();
        state.options.trace = 5;
        send(&mut state, "hello");
        for _ in 0..64 {
            let report = Box::new(Report {
                candidates: vec![Candidate {
                    token: Token(9),
                    ..Candidate::default()
                }],
                ..Report::default()
            });
            let said = Said {
                token: Some(Token(9)),
                text: " rect".to_owned(),
                report: Some(report),
                ..Said::default()
            };
            let turn = answer::asked(&state).unwrap();
            update(&mut state, Msg::Engine(Event::Token { turn, said }));
        }
        finish(&mut state, Finish::Stopped);
        act(&mut state, Action::Run(CommandId::Loop));
        assert!(take(&mut state, Remedy::Another).is_ok());
        let Some(Overlay::Inspector(open)) = &state.screen.overlay else {
            panic!("{:?}", state.screen.overlay);
        };
        assert_eq!(open.at, 0, "where it began");
    }

    #[test]
    fn a_loop_is_paused_and_explained() {
        let (mut state, effects) = looping(LoopGuard::Pause);
        let turn = answer::asked(&state).unwrap();
        assert_eq!(effects, [Effect::Cancel(turn)]);
        assert_eq!(
            last_notice(&state),
            (
                Level::Warn,
                "it goes round in circles: 'rect' 64 times since token 2; nothing penalises repetition. /loop shows ways out"
            )
        );
        // What still comes is no second loop.
        assert_eq!(rect(&mut state), []);
        finish(&mut state, Finish::Stopped);
        assert!(state.running.is_none() && state.caught.is_some());
    }

    #[test]
    fn a_loop_may_only_be_told_of_or_nothing_done() {
        let (state, effects) = looping(LoopGuard::Warn);
        assert_eq!(effects, []);
        assert!(state.caught.is_some() && state.running.is_some());
        let (state, effects) = looping(LoopGuard::Off);
        assert_eq!((effects, state.caught), (vec![], None));
    }

    #[test]
    fn the_setting_is_shown_and_changed() {
        let mut state = answering("hi");
        send(&mut state, "/loop");
        assert_eq!(
            last_notice(&state).1,
            "the loop guard is at pause; no loop was caught in the last answer"
        );
        send(&mut state, "/loop off");
        assert_eq!(last_notice(&state).1, "loop guard pause → off");
        assert!(state.running.as_ref().unwrap().watch.is_none());
        send(&mut state, "/loop wran");
        assert_eq!(
            last_notice(&state).1,
            "the loop guard knows no 'wran': did you mean warn?"
        );
    }

    #[test]
    fn a_way_out_can_be_named() {
        let mut state = stopped();
        send(&mut state, "/loop seed");
        assert_eq!(state.running.is_some(), !state.tuning.sampling.is_greedy());
        let mut state = stopped();
        let effects = send(&mut state, "/loop DRY");
        assert!(
            effects
                .iter()
                .any(|effect| matches!(effect, Effect::Engine(Command::Generate { .. })))
        );
        let mut state = answered();
        send(&mut state, "/loop dry");
        assert!(last_notice(&state).1.ends_with("no loop was caught in the last answer"));
    }

    #[test]
    fn where_nobody_answers_flags_are_named() {
        let mut state = answering("");
        state.options.unattended = true;
        for _ in 0..70 {
            rect(&mut state);
        }
        let words = last_notice(&state).1;
        assert!(words.ends_with(caught::FLAGS) && !words.contains("/loop"), "{words}");
    }

    #[test]
    fn a_way_out_goes_back_to_before_the_loop() {
        let mut state = stopped();
        let looped = state.conversation.tip();
        let request = way_out(&mut state, Remedy::Dry);
        assert_eq!(request.prompt.opening.text, "The capital is");
        let s = &request.sampling;
        assert_eq!((s.dry_multiplier, s.dry_last_n), (0.8, 128));
        assert_eq!(
            s.dry_breakers,
            Sampling::default().dry_breakers,
            "none of them stands in it"
        );
        let versions = state.conversation.versions(looped.unwrap());
        assert_eq!(versions.len(), 2, "what looped stays a version");
        assert_eq!(state.caught, None);
        assert_eq!(last_notice(&state).1, "dry-multiplier 0 → 0.8, dry-last-n 64 → 128");

        assert_eq!(way_out(&mut stopped(), Remedy::Temperature).sampling.temperature, 1.1);
        assert_eq!(way_out(&mut stopped(), Remedy::Ban).sampling.logit_bias.len(), 1);
        let mut fixed = stopped();
        fixed.tuning.sampling.seed = Seed::Fixed(7);
        assert_eq!(way_out(&mut fixed, Remedy::Seed).sampling.seed, Seed::Random);
    }

    #[test]
    fn it_goes_on_as_it_is_and_is_not_watched() {
        let mut state = stopped();
        let request = way_out(&mut state, Remedy::GoOn);
        assert_eq!(request.prompt.opening.said.len(), 65, "behind every token of it");
        for _ in 0..200 {
            assert_eq!(rect(&mut state), []);
        }
    }

    #[test]
    fn no_number_leads_out_where_every_draw_is_the_likeliest() {
        let rows = |temperature: f32| {
            let mut state = stopped();
            state.tuning.sampling.temperature = temperature;
            act(&mut state, Action::Run(CommandId::Loop));
            match state.screen.overlay {
                Some(Overlay::Picker(picker)) => picker.rows.into_iter().map(|row| row.what).collect::<Vec<_>>(),
                _ => Vec::new(),
            }
        };
        let seed = Choice::Remedy(Remedy::Seed);
        assert!(rows(0.8).contains(&seed) && !rows(0.0).contains(&seed));
        // Nothing is kept here of what there was to draw from, so there is no other token to choose.
        assert!(!rows(0.8).contains(&Choice::Remedy(Remedy::Another)));
        assert_eq!(rows(0.8).len(), Remedy::ALL.len() - 1);
    }

    #[test]
    fn the_cause_is_what_the_settings_let_through() {
        let found = |unit: &str, tokens, times| Repetition {
            unit: unit.to_owned(),
            times,
            first: 0,
            tokens,
            bytes: 0,
            changing: false,
        };
        let because = |change: fn(&mut Sampling), found: &Repetition| {
            let mut settings = Sampling::default();
            change(&mut settings);
            caught::cause(&settings, found)
        };
        let short = found("no", 64, 64);
        let long = found("one\ntwo", 300, 3);
        let says = |words: &str| Some(words.to_owned());
        assert_eq!(because(|_| {}, &short), says("nothing penalises repetition"));
        assert_eq!(
            because(|s| s.temperature = 0.0, &short),
            says("each token is the likeliest, and nothing penalises repetition")
        );
        assert_eq!(because(|s| s.repeat_penalty = 1.1, &short), None);
        assert_eq!(
            because(|s| s.repeat_penalty = 1.1, &long),
            says("the penalties look back on 64 tokens, and it is longer")
        );
        assert_eq!(
            because(|s| s.dry_multiplier = 0.8, &long),
            says("DRY does not see it, for '\\n' breaks it")
        );
        assert_eq!(
            because(
                |s| {
                    s.dry_multiplier = 0.8;
                    s.dry_breakers.clear();
                },
                &long
            ),
            says("DRY looks back on 64 tokens, and it is longer")
        );
    }
}
