//! Any sequence of messages, with turns near the current ones: what must hold whatever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use crate::app::action::{ACTIONS, Action};
use crate::app::click::Click;
use crate::app::command::COMMANDS;
use crate::app::find::Found;
use crate::app::notice::Level;
use crate::app::sessions::Typed;
use crate::app::state::{Engine, Looks, Overlay, Phase, Scroll, State, ViewInfo};
use crate::app::{Effect, Msg, update};
use crate::domain::MessageId;
use crate::domain::inference::{
    BenchResult, Change, Command, Event, Failure, FailureKind, Finish, LoadStep, Part, PrefillProgress, PromptView,
    Said, Stats, Token, TurnId, Window,
};
use crate::domain::session::{Details, NotOpened, Opened, SessionId, SessionKey, StoreCommand, StoreEvent, Summary};
use crate::domain::shelf::{Facts, Memory, Origin, Room, Shelf, Shelved};
use crate::domain::{Changes, Conversation, Role};

use super::scene;

/// Which turn an event names, told when it happens.
#[derive(Clone, Copy, Debug)]
enum Of {
    Answer,
    Load,
    Prompt,
    Back(u64),
}

impl Of {
    fn turn(self, state: &State) -> TurnId {
        let turn = match self {
            Self::Answer => state.running.as_ref().map(|running| running.turn),
            Self::Load => match state.engine {
                Engine::Loading { turn, .. } => Some(turn),
                _ => None,
            },
            Self::Prompt => match state.screen.overlay {
                Some(Overlay::Prompt { turn, .. }) => Some(turn),
                _ => None,
            },
            Self::Back(by) => Some(TurnId((state.turn.0 + 1).saturating_sub(by))),
        };
        turn.unwrap_or(state.turn)
    }
}

fn of() -> impl Strategy<Value = Of> {
    prop_oneof![
        3 => Just(Of::Answer),
        2 => Just(Of::Load),
        1 => Just(Of::Prompt),
        1 => (0_u64..4).prop_map(Of::Back),
    ]
}

fn finishes() -> impl Strategy<Value = Finish> {
    proptest::sample::select(vec![
        Finish::EndOfTurn,
        Finish::MaxTokens,
        Finish::ContextFull,
        Finish::Stopped,
    ])
}

fn kinds() -> impl Strategy<Value = FailureKind> {
    proptest::sample::select(vec![
        FailureKind::Model,
        FailureKind::Cancelled,
        FailureKind::TooLong,
        FailureKind::Template,
        FailureKind::NoModel,
        FailureKind::Compute,
    ])
}

fn windows() -> impl Strategy<Value = Window> {
    any::<(u32, u32, u32, u32)>().prop_map(|(left_out, whole, inside, context)| Window {
        left_out,
        whole,
        inside,
        context,
    })
}

/// An event, its turn still open.
fn events() -> impl Strategy<Value = Event> {
    let turn = TurnId(0);
    let said = (proptest::option::of(any::<i32>()), any::<bool>(), "[a-zé]{0,3}");
    let said = said.prop_map(|(token, thinks, text)| Said {
        token: token.map(Token),
        part: if thinks { Part::Thinking } else { Part::Answer },
        text,
        ..Said::default()
    });
    let counts = any::<(u32, u32, u32)>();
    prop_oneof![
        2 => any::<(u64, u64)>().prop_map(move |(done, total)| Event::Loading { turn, step: LoadStep::default(), done, total }),
        6 => any::<bool>().prop_map(move |builtin| {
            let model = Box::new(crate::domain::inference::ModelInfo { builtin, ..scene::model("condor") });
            Event::Ready { turn, model }
        }),
        3 => counts.prop_map(move |(done, total, reused)| {
            let progress = PrefillProgress { done, total, reused };
            Event::Prefill { turn, progress }
        }),
        1 => windows().prop_map(move |window| Event::Window { turn, window }),
        1 => windows().prop_map(move |window| Event::Forecast { turn, window }),
        1 => any::<(u32, u32)>().prop_map(move |(keep, discard)| Event::Shift { turn, keep, discard }),
        2 => "[a-z]{0,3}".prop_map(move |digest| Event::Prompted { turn, path: String::new(), digest, seed: 7 }),
        1 => any::<u32>().prop_map(move |at| Event::Changed { turn, at, change: Change::EndThinking }),
        1 => any::<(u32, u32)>().prop_map(move |(tokens, restored)| Event::Resumable { turn, tokens, restored }),
        1 => Just(Event::Noted { turn, words: "a word".to_owned() }),
        1 => "[a-z]{0,3}".prop_map(move |text| Event::Resumed { turn, thinking: text.clone(), text }),
        6 => said.prop_map(move |said| Event::Token { turn, said }),
        4 => (finishes(), any::<u32>()).prop_map(move |(finish, context_used)| {
            let stats = Stats { context_used, ..Stats::default() };
            Event::Finished { turn, finish, stats }
        }),
        2 => Just(Event::Rendered { turn, prompt: PromptView::default() }),
        1 => Just(Event::Benched {
            turn,
            result: BenchResult { prompt: Duration::ZERO, generate: Duration::ZERO },
        }),
        3 => kinds().prop_map(move |kind| Event::Failed { turn, failure: Failure::new(kind, "it failed") }),
    ]
}

/// The event with its turn put in.
fn named(mut event: Event, of: TurnId) -> Event {
    match &mut event {
        Event::Loading { turn, .. }
        | Event::Ready { turn, .. }
        | Event::Window { turn, .. }
        | Event::Shift { turn, .. }
        | Event::Forecast { turn, .. }
        | Event::Noted { turn, .. }
        | Event::Prompted { turn, .. }
        | Event::Changed { turn, .. }
        | Event::Resumable { turn, .. }
        | Event::Prefill { turn, .. }
        | Event::Resumed { turn, .. }
        | Event::Token { turn, .. }
        | Event::Finished { turn, .. }
        | Event::Rendered { turn, .. }
        | Event::Looked { turn }
        | Event::Column { turn, .. }
        | Event::ColumnFinished { turn, .. }
        | Event::Compared { turn }
        | Event::Benched { turn, .. }
        | Event::Failed { turn, .. } => *turn = of,
        Event::Died { .. } => {}
    }
    event
}

/// One model of this name.
fn shelf(name: String) -> Shelf {
    let model = Shelved {
        label: name.clone(),
        name,
        repo: None,
        origin: Origin::Own,
        facts: Ok(Facts::default()),
        room: Room::default(),
    };
    Shelf {
        models: vec![model],
        memory: Memory::default(),
    }
}

/// What comes of looking for a model.
fn sought() -> impl Strategy<Value = Result<(), Failure>> {
    prop_oneof![
        Just(Ok(())),
        Just(Err(Failure::new(FailureKind::Model, "no such file")))
    ]
}

/// What people type: messages, commands whole and half, and anything else.
fn texts() -> impl Strategy<Value = String> {
    const TYPED: &[&str] = &[
        "hello",
        "//etc",
        "///",
        "/",
        "/re",
        "/set",
        "/set top",
        "/set top-k 5",
        "/set top-p 9",
        "/preset cre",
        "/model",
        "/model x.gguf",
        "/system Be terse.",
        "/system off",
        "/nwe",
        "/stop",
        "/retry",
        "/prompt",
        "/new",
        "/edit",
        "/remove",
        "/undo",
        "/redo",
        "/fork",
        "/sessions",
        "/sessions 1",
        "/search a",
        "/title",
        "/title auto",
        "/tag a b",
        "/delete",
        "/replay",
        "/compact",
        "/overflow summarise",
        "/export a.md",
        "  ",
        "",
    ];
    prop_oneof![
        3 => proptest::sample::select(TYPED).prop_map(str::to_owned),
        3 => "[a-z]{1,6}",
        1 => ".{0,8}",
    ]
}

fn actions() -> impl Strategy<Value = Action> {
    let plain = ACTIONS.iter().map(|(action, ..)| *action);
    let commands = COMMANDS.iter().map(|command| Action::Run(command.id));
    proptest::sample::select(plain.chain(commands).collect::<Vec<_>>())
}

fn clicks() -> impl Strategy<Value = Click> {
    let id = || (0_u32..6).prop_map(MessageId);
    prop_oneof![
        id().prop_map(Click::Message),
        id().prop_map(Click::VersionBefore),
        id().prop_map(Click::VersionAfter),
        id().prop_map(Click::Fold),
        id().prop_map(Click::Thinking),
        (0_usize..50).prop_map(Click::Row),
        (0_usize..50, 0_u16..1200).prop_map(|(row, along)| Click::Slider(row, along)),
        Just(Click::More),
        Just(Click::Composer),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Told(Event, Of),
    TypedAndSent(String),
    Other(Msg),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let views =
        any::<(u16, u16, u16, u16, u16)>().prop_map(|(transcript, viewport, top, overlay, overlay_viewport)| {
            ViewInfo {
                transcript: transcript.into(),
                viewport: viewport.into(),
                top: top.into(),
                overlay: overlay.into(),
                overlay_viewport: overlay_viewport.into(),
                reveal: (top < overlay).then_some((top.into(), overlay.into())),
                found: (viewport > 9).then_some(Found {
                    count: u32::from(viewport),
                    at: u32::from(top % 10),
                    line: top.into(),
                }),
                unfinished: top > viewport,
            }
        });
    let levels = proptest::sample::select(vec![Level::Info, Level::Warn, Level::Error]);
    let other = prop_oneof![
        2 => (0_u64..60_000).prop_map(|ms| Msg::Tick(Duration::from_millis(ms))),
        12 => actions().prop_map(Msg::Action),
        4 => texts().prop_map(Msg::Edited),
        2 => any::<i32>().prop_map(Msg::ScrollBy),
        2 => views.prop_map(Msg::Viewed),
        1 => (levels, texts()).prop_map(|(level, text)| Msg::Notice(level, text)),
        1 => any::<i32>().prop_map(Msg::Terminate),
        1 => Just(Msg::Engine(Event::Died { reason: "x".to_owned() })),
        6 => stored().prop_map(Msg::Store),
        1 => texts().prop_map(|text| Msg::TypedOver(Typed::Text(text))),
        1 => Just(Msg::TypedOver(Typed::Backspace)),
        1 => texts().prop_map(|text| Msg::Copied(Ok(text))),
        1 => texts().prop_map(|name| Msg::Shelf(Ok(shelf(name)))),
        1 => sought().prop_map(|found| Msg::Found("x.gguf".to_owned(), found)),
        1 => texts().prop_map(Msg::Marked),
        2 => clicks().prop_map(Msg::Click),
        1 => Just(Msg::Settled(Looks::default(), Vec::new())),
        1 => texts().prop_map(|text| Msg::EditedOutside(Ok(text))),
        1 => any::<(u64, u32)>().prop_map(|(revision, tokens)| Msg::Counted(revision, tokens)),
        1 => Just(Msg::Prospect(std::sync::Arc::default())),
    ];
    let step = prop_oneof![
        20 => (events(), of()).prop_map(|(event, of)| Step::Told(event, of)),
        10 => texts().prop_map(Step::TypedAndSent),
        20 => other.prop_map(Step::Other),
    ];
    proptest::collection::vec(step, 0..120)
}

/// The turn that an event names.
fn turn_of(event: &Event) -> Option<TurnId> {
    match *event {
        Event::Loading { turn, .. }
        | Event::Ready { turn, .. }
        | Event::Window { turn, .. }
        | Event::Shift { turn, .. }
        | Event::Forecast { turn, .. }
        | Event::Noted { turn, .. }
        | Event::Prompted { turn, .. }
        | Event::Changed { turn, .. }
        | Event::Resumable { turn, .. }
        | Event::Prefill { turn, .. }
        | Event::Resumed { turn, .. }
        | Event::Token { turn, .. }
        | Event::Finished { turn, .. }
        | Event::Looked { turn }
        | Event::Column { turn, .. }
        | Event::ColumnFinished { turn, .. }
        | Event::Compared { turn }
        | Event::Rendered { turn, .. }
        | Event::Benched { turn, .. }
        | Event::Failed { turn, .. } => Some(turn),
        Event::Died { .. } => None,
    }
}

/// The turns that are waited for.
fn current(state: &State) -> Vec<TurnId> {
    let answer = state.running.as_ref().filter(|running| running.phase != Phase::Queued);
    let load = match state.engine {
        Engine::Loading { turn, .. } => Some(turn),
        _ => None,
    };
    let prompt = match state.screen.overlay {
        Some(Overlay::Prompt { turn, .. }) => Some(turn),
        _ => None,
    };
    let aside = [
        state.replay.as_ref().map(|replay| replay.turn),
        state.titling.as_ref().map(|titling| titling.turn),
        state.resuming.map(|(turn, _)| turn),
    ];
    answer
        .map(|running| running.turn)
        .into_iter()
        .chain(aside.into_iter().flatten())
        .chain(load)
        .chain(prompt)
        .collect()
}

/// What was seen of a run so far.
#[derive(Default)]
struct Seen {
    /// All that people sent to a model.
    sent: BTreeSet<String>,
    /// The last turn that an effect gave out.
    turn: TurnId,
    /// The last ticket of a save.
    ticket: u64,
    /// What a store would have.
    kept: BTreeMap<SessionKey, Changes>,
}

/// One message, and all that must hold after it.
fn step(state: &mut State, seen: &mut Seen, msg: Msg) -> Result<(), TestCaseError> {
    let before = state.clone();
    let effects = update(state, msg.clone());
    let mut twin = before.clone();
    prop_assert_eq!(
        &update(&mut twin, msg.clone()),
        &effects,
        "equal inputs give equal outputs"
    );
    prop_assert_eq!(&twin, &*state);
    if let Msg::Engine(event) = &msg
        && let Some(turn) = turn_of(event)
        && !current(&before).contains(&turn)
    {
        prop_assert_eq!(&before, &*state, "a foreign turn changed something");
        prop_assert_eq!(&effects, &[]);
    }
    if let Msg::Viewed(_) = msg {
        prop_assert_eq!(&effects, &update(&mut twin, msg.clone()));
        prop_assert_eq!(&twin, &*state, "the same frame twice changed something");
    }
    if let Msg::Store(StoreEvent::Opened {
        key,
        opened: Ok(opened),
    }) = msg
        && before.keeping.opening.as_ref().is_some_and(|(asked, _)| *asked == key)
    {
        // It is on the disk already.
        let mut there = opened.conversation;
        there.keep_all();
        seen.kept.insert(key, there.changes(None));
    }
    check_effects(state, seen, &effects)?;
    check_answer(state)?;
    check_texts(state, seen)?;
    check_kept(state, seen)?;
    let _ = state.wakes_at();
    prop_assert!(state.screen.scroll != Scroll::At(state.screen.view.end()));
    Ok(())
}

fn check_effects(state: &State, seen: &mut Seen, effects: &[Effect]) -> Result<(), TestCaseError> {
    for effect in effects {
        match effect {
            Effect::Load { turn, .. }
            | Effect::Engine(
                Command::Generate { turn, .. } | Command::Render { turn, .. } | Command::Resume { turn, .. },
            ) => {
                prop_assert!(*turn > seen.turn, "turns grow");
                prop_assert!(current(state).contains(turn), "what is asked for is waited for");
                seen.turn = *turn;
            }
            Effect::Engine(Command::Tune(sampling)) => {
                prop_assert!(state.running.is_some());
                prop_assert_eq!(sampling, &state.tuning.sampling);
            }
            Effect::Engine(Command::EndThinking { turn }) => prop_assert!(current(state).contains(turn)),
            Effect::Cancel(turn) => {
                let ending = effects.iter().any(|effect| matches!(effect, Effect::Quit(_)));
                let stopping = state
                    .running
                    .as_ref()
                    .is_some_and(|running| running.phase == Phase::Stopping);
                let wanted = current(state).into_iter().any(|current| current <= *turn);
                prop_assert!(ending || stopping || !wanted, "a cancel hit what is wanted");
            }
            Effect::Engine(Command::Load { .. } | Command::Bench { .. }) => prop_assert!(false, "{effect:?}"),
            Effect::Store(StoreCommand::Save {
                ticket, key, changes, ..
            }) => {
                prop_assert!(*ticket > seen.ticket, "tickets grow");
                seen.ticket = *ticket;
                seen.kept.entry(*key).or_default().absorb(changes.clone());
            }
            Effect::Store(_)
            | Effect::Engine(Command::Keep { .. } | Command::Look { .. } | Command::Compare { .. } | Command::Unload)
            | Effect::SetDraft(_)
            | Effect::Fold(_)
            | Effect::ListModels
            | Effect::Download(_)
            | Effect::StopDownload
            | Effect::Seek(_)
            | Effect::Examine { .. }
            | Effect::WriteTokens(..)
            | Effect::Tokenize(_)
            | Effect::ReadFile(_)
            | Effect::EditOutside(_)
            | Effect::ReadGrammar { .. }
            | Effect::Save(_)
            | Effect::Theme(_)
            | Effect::Copy(_)
            | Effect::Watch(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Quit(_) => {}
        }
    }
    let set = effects.iter().rev().find_map(|effect| match effect {
        Effect::SetDraft(text) => Some(text),
        _ => None,
    });
    prop_assert!(
        set.is_none_or(|text| *text == state.draft.text),
        "the composer and the draft are one"
    );
    Ok(())
}

fn check_answer(state: &State) -> Result<(), TestCaseError> {
    let Some(running) = &state.running else {
        prop_assert_eq!(state.before, None);
        return Ok(());
    };
    prop_assert_eq!(state.conversation.tip(), Some(running.answer));
    let message = state.conversation.get(running.answer).unwrap();
    prop_assert!(message.role == Role::Assistant || message.is_summary());
    prop_assert!(message.answer.is_some());
    let waits = running.phase == Phase::Queued;
    prop_assert_eq!(waits, matches!(state.engine, Engine::Loading { .. }));
    prop_assert!(waits || state.engine.model().is_some());
    Ok(())
}

/// What is kept is what there is, but for the answer under way.
fn check_kept(state: &State, seen: &Seen) -> Result<(), TestCaseError> {
    if !state.keeping.on || state.running.is_some() || state.session.read_only {
        return Ok(());
    }
    let kept = seen.kept.get(&state.key()).cloned().unwrap_or_default();
    if kept.is_empty() {
        prop_assert!(state.conversation.messages().is_empty(), "nothing is kept");
        return Ok(());
    }
    let back = Conversation::restore(kept.messages, kept.head.unwrap_or_default()).unwrap();
    prop_assert_eq!(back.messages(), state.conversation.messages());
    prop_assert_eq!(back.head(), state.conversation.head());
    Ok(())
}

/// What was said in sessions that are opened.
const FROM_DISK: &str = "from the disk";

/// What a store could tell.
fn stored() -> impl Strategy<Value = StoreEvent> {
    let ids = (0_i64..3).prop_map(SessionId);
    let opened = (any::<bool>(), ids.clone()).prop_map(|(held, id)| {
        let mut conversation = Conversation::default();
        conversation.push(Role::User, FROM_DISK, 1);
        let _ = conversation.changes(None);
        Opened {
            id,
            details: Details::default(),
            conversation,
            held,
        }
    });
    prop_oneof![
        4 => (0_u64..9, 0_u32..4, ids).prop_map(|(ticket, key, id)| StoreEvent::Saved { ticket, key: SessionKey(key), id }),
        1 => (0_u64..9).prop_map(|ticket| StoreEvent::Unsaved { ticket, words: "full".to_owned() }),
        1 => Just(StoreEvent::Emptied { words: "damaged".to_owned() }),
        2 => (0_u32..6, opened).prop_map(|(key, opened)| {
            StoreEvent::Opened { key: SessionKey(key), opened: Ok(Box::new(opened)) }
        }),
        1 => (0_u32..6).prop_map(|key| {
            StoreEvent::Opened { key: SessionKey(key), opened: Err(NotOpened::Unknown("none".to_owned())) }
        }),
        1 => (0_u64..9).prop_map(|request| StoreEvent::Listed { request, sessions: Ok(vec![Summary::default()]) }),
        1 => (0_u64..9).prop_map(|request| StoreEvent::Found { request, hits: Ok(Vec::new()) }),
        1 => Just(StoreEvent::Done(Ok("done".to_owned()))),
    ]
}

fn check_texts(state: &State, seen: &mut Seen) -> Result<(), TestCaseError> {
    let asked = state
        .conversation
        .messages()
        .iter()
        // What came from the disk is there still.
        .filter(|message| message.role == Role::User && message.text != FROM_DISK);
    seen.sent.extend(asked.map(|message| message.text.clone()));
    for text in &seen.sent {
        let said = state
            .conversation
            .messages()
            .iter()
            .any(|message| message.text == *text);
        let kept =
            said || state.draft.text.contains(text) || state.draft.history().iter().any(|old| old.contains(text));
        prop_assert!(kept, "{text:?} is lost");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_happens(steps in steps(), kept in any::<bool>()) {
        let mut state = scene::loading();
        if kept {
            state.keep(1_000, None);
        }
        let mut seen = Seen { turn: state.turn, ..Seen::default() };
        for what in steps {
            match what {
                Step::Told(event, of) => {
                    let turn = of.turn(&state);
                    step(&mut state, &mut seen, Msg::Engine(named(event, turn)))?;
                }
                Step::TypedAndSent(text) => {
                    step(&mut state, &mut seen, Msg::Edited(text))?;
                    step(&mut state, &mut seen, Msg::Action(Action::Send))?;
                }
                Step::Other(msg) => step(&mut state, &mut seen, msg)?,
            }
        }
    }
}
