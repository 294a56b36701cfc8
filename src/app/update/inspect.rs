//! `/inspect`: walking the tokens of an answer, and going on from another candidate of one of them.

use std::path::Path;

use crate::app::effect::Effect;
use crate::app::inspector::{Inspector, Shade, UNSURE, Walk};
use crate::app::notice::Level;
use crate::app::sessions::Typed;
use crate::app::state::{Before, Overlay, State};
use crate::domain::inference::{Candidate, Command, LookRequest, Opening, Report, Token};
use crate::domain::inspection::{Piece, least_certain, pieces, record};
use crate::domain::session::{SessionKey, StoreCommand};
use crate::domain::{Answer, MessageId};

use super::{Outcome, Refusal, answer, prompt, select};

/// Tokens of a far step.
const FAR: i64 = 10;

/// `/inspect`: opens it, or writes what there is to see to a file. What is kept of an answer of another day is read first.
pub(super) fn command(state: &mut State, path: &str) -> Outcome {
    if let Some(asked) = ask_for(state, path) {
        return Ok(vec![asked]);
    }
    show(state, path)
}

fn show(state: &mut State, path: &str) -> Outcome {
    if path.is_empty() {
        open(state)
    } else {
        write(state, path)
    }
}

/// Asks for what an answer was drawn from where only the store may know.
fn ask_for(state: &mut State, path: &str) -> Option<Effect> {
    let (id, session) = (select::versioned(state)?, state.session.id?);
    let answer = state.conversation.get(id)?.answer.as_ref()?;
    if !answer.trace.is_empty()
        || answer.tokens.is_empty()
        || state.running.as_ref().is_some_and(|running| running.answer == id)
    {
        return None;
    }
    state.tracing = Some((id, path.to_owned()));
    Some(Effect::Store(StoreCommand::Trace {
        key: state.key(),
        session,
        message: id,
    }))
}

/// The store told what an answer was drawn from.
pub(super) fn recalled(state: &mut State, key: SessionKey, id: MessageId, trace: Vec<Report>) -> Outcome {
    let asked = state.tracing.take_if(|(asked, _)| *asked == id);
    let Some((_, path)) = asked.filter(|_| key == state.key()) else {
        return Ok(Vec::new());
    };
    // One that went on meanwhile has another.
    let fits = |answer: &Answer| answer.trace.is_empty() && trace.len() <= answer.tokens.len();
    let message = state.conversation.get(id);
    if message.and_then(|message| message.answer.as_ref()).is_some_and(fits) {
        state.conversation.recall_trace(id, trace);
    }
    show(state, &path)
}

/// Has all that is known of the tokens written to a file.
fn write(state: &State, path: &str) -> Outcome {
    let named = Path::new(path).extension().and_then(|end| end.to_str());
    if !matches!(named, Some("json" | "csv")) {
        let words = format!("'{path}' does not say how to write it: end it in .json or .csv");
        return Err(Refusal::new(Level::Warn, words));
    }
    let id = traced(state)?;
    let answer = state.conversation.get(id).and_then(|message| message.answer.as_ref());
    let record = answer.map(|answer| Effect::WriteTokens(path.to_owned(), Box::new(record(answer))));
    Ok(record.into_iter().collect())
}

/// The answer that is meant, where something is known of what it was drawn from.
fn traced(state: &State) -> Result<MessageId, Refusal> {
    let refused = |words| Err(Refusal::new(Level::Info, words));
    let Some(id) = select::versioned(state) else {
        return refused("there is no answer to inspect yet");
    };
    let answer = state.conversation.get(id).and_then(|message| message.answer.as_ref());
    if answer.is_some_and(|answer| answer.trace.iter().any(|report| !report.put_in)) {
        return Ok(id);
    }
    refused(if state.options.trace == 0 {
        "nothing is kept of what tokens are drawn from: set 'trace' in the configuration to a number of candidates"
    } else {
        "what this answer was drawn from is not at hand: /replay makes it again, /retry another"
    })
}

/// Opens it on the answer that is meant, at its last token.
fn open(state: &mut State) -> Outcome {
    if matches!(state.screen.overlay, Some(Overlay::Inspector(_))) {
        state.screen.overlay = None;
        return Ok(Vec::new());
    }
    let id = traced(state)?;
    let answer = state.conversation.get(id).and_then(|message| message.answer.as_ref());
    let last = answer.map_or(0, |answer| answer.tokens.len().saturating_sub(1));
    open_at(state, id, last);
    Ok(Vec::new())
}

/// Whether it is known what the token at this place of an answer was drawn from.
pub(super) fn is_known(state: &State, answer: MessageId, place: usize) -> bool {
    let answer = state
        .conversation
        .get(answer)
        .and_then(|message| message.answer.as_ref());
    answer.is_some_and(|answer| {
        pieces(answer)
            .iter()
            .any(|piece| piece.place == place && !piece.report.put_in)
    })
}

/// Opens it at a token of an answer.
pub(super) fn open_at(state: &mut State, answer: MessageId, place: usize) {
    let known = state
        .conversation
        .get(answer)
        .and_then(|message| message.answer.as_ref());
    let at = known.and_then(|known| pieces(known).iter().position(|piece| piece.place == place));
    let mut inspector = Inspector {
        answer,
        at: at.unwrap_or(0),
        candidate: 0,
        shade: Shade::default(),
    };
    inspector.candidate = said(state, &inspector);
    state.screen.overlay = Some(Overlay::Inspector(Box::new(inspector)));
    state.screen.forced = None;
}

fn inspector(state: &mut State) -> Option<&mut Inspector> {
    match &mut state.screen.overlay {
        Some(Overlay::Inspector(inspector)) => Some(inspector),
        _ => None,
    }
}

/// What is known of the answer's tokens.
fn known<'a>(state: &'a State, inspector: &Inspector) -> Vec<Piece<'a>> {
    let message = state.conversation.get(inspector.answer);
    let answer = message.and_then(|message| message.answer.as_ref());
    answer.map_or_else(Vec::new, pieces)
}

/// Which of the candidates was said.
fn said(state: &State, inspector: &Inspector) -> usize {
    let known = known(state, inspector);
    let said = known.get(inspector.at).and_then(|piece| {
        let candidates = &piece.report.candidates;
        candidates.iter().position(|candidate| candidate.token == piece.token)
    });
    said.unwrap_or(0)
}

/// Carries out what a key asks for.
pub(super) fn act(state: &mut State, step: Walk) {
    match step {
        Walk::Previous => walk(state, -1),
        Walk::Next => walk(state, 1),
        Walk::Back => walk(state, -FAR),
        Walk::On => walk(state, FAR),
        Walk::First => walk(state, i64::MIN),
        Walk::Last => walk(state, i64::MAX),
        Walk::Unsure => unsure(state),
        Walk::Shade => shade(state),
        Walk::Force => state.screen.forced = Some(String::new()),
    }
}

/// Goes to the least certain token, and from one of the least certain to the next.
fn unsure(state: &mut State) {
    let Some(mut open) = inspector(state).copied() else {
        return;
    };
    let places = least_certain(&known(state, &open), UNSURE);
    let next = places.iter().position(|at| *at == open.at).map_or(0, |here| here + 1);
    let Some(at) = places.get(next).or(places.first()) else {
        return;
    };
    open.at = *at;
    open.candidate = said(state, &open);
    state.screen.overlay = Some(Overlay::Inspector(Box::new(open)));
}

/// Goes so many tokens on; negative numbers go back.
fn walk(state: &mut State, tokens: i64) {
    let Some(mut open) = inspector(state).copied() else {
        return;
    };
    let last = known(state, &open).len().saturating_sub(1);
    open.at = (open.at as i64).saturating_add(tokens).clamp(0, last as i64) as usize;
    open.candidate = said(state, &open);
    state.screen.overlay = Some(Overlay::Inspector(Box::new(open)));
}

/// Goes so many candidates down. Says whether there is anything to go in.
pub(super) fn step(state: &mut State, rows: i64) -> bool {
    let Some(open) = inspector(state).copied() else {
        return false;
    };
    let known = known(state, &open);
    let candidates = known.get(open.at).map_or(0, |piece| piece.report.candidates.len());
    let last = candidates.saturating_sub(1) as i64;
    let to = (open.candidate as i64).saturating_add(rows).clamp(0, last) as usize;
    if let Some(inspector) = inspector(state) {
        inspector.candidate = to;
    }
    true
}

/// Has the selected token looked at again, to try settings on; `None` where no panel is open or the model is not at hand.
pub(super) fn look(state: &mut State) -> Option<Effect> {
    let open = inspector(state).copied()?;
    let (begun, said, _) = before(state, &open).ok()??;
    let question = state.conversation.get(open.answer)?.parent;
    let mut prompt = prompt::request(state, question, &begun.model);
    prompt.opening = Opening {
        text: begun.opening,
        said: begun.tokens,
    };
    let look = LookRequest {
        place: prompt.opening.said.len() as u32,
        prompt,
        said,
        sampling: state.tuning.sampling.clone(),
    };
    let turn = state.next_turn();
    Some(Effect::Engine(Command::Look {
        turn,
        look: Box::new(look),
    }))
}

/// Shades by the other measure.
fn shade(state: &mut State) {
    if let Some(inspector) = inspector(state) {
        inspector.shade = inspector.shade.other();
    }
}

/// Goes on from the selected candidate, as another version: all before it stays as it is, token by token, so that the model reads
/// no more than the one. Where a text is typed, goes on from that.
pub(super) fn take(state: &mut State) -> Outcome {
    let Some(open) = inspector(state).copied() else {
        return Ok(Vec::new());
    };
    if state.screen.forced.is_some() {
        return force(state);
    }
    let Some((mut begun, token, mut report)) = before(state, &open)? else {
        return Ok(Vec::new());
    };
    let Some(candidate) = report.candidates.get(open.candidate).cloned() else {
        return Ok(Vec::new());
    };
    if candidate.token == token {
        return Err(Refusal::new(
            Level::Info,
            "this one was said: choose another to go on from",
        ));
    }
    // What there was to draw from is the same; what was drawn is another.
    report.probability = candidate.before;
    report.after = candidate.after.unwrap_or_default();
    let likelier = |other: &&Candidate| other.logit > candidate.logit;
    report.rank = report.candidates.iter().filter(likelier).count() as u32;
    begun.tokens.push(candidate.token);
    begun.trace.push(report);
    begun.bytes.extend(candidate.text.as_bytes());
    Ok(branch(state, &open, begun))
}

/// Has the text that is typed cut into tokens, to go on from them.
fn force(state: &mut State) -> Outcome {
    let text = state.screen.forced.clone().unwrap_or_default();
    if text.is_empty() {
        state.screen.forced = None;
        return Ok(Vec::new());
    }
    answer::may_begin(state)?;
    Ok(vec![Effect::Tokenize(text)])
}

/// The typed text was cut into tokens: goes on from them in the place of the selected one.
pub(super) fn forced(state: &mut State, pieces: &[(Token, Vec<u8>)]) -> Outcome {
    let Some(open) = inspector(state).copied() else {
        return Ok(Vec::new());
    };
    if state.screen.forced.take().is_none() || pieces.is_empty() {
        return Ok(Vec::new());
    }
    let Some((mut begun, ..)) = before(state, &open)? else {
        return Ok(Vec::new());
    };
    for (token, bytes) in pieces {
        begun.tokens.push(*token);
        begun.trace.push(Report::put_in(*token, String::from_utf8_lossy(bytes)));
        begun.bytes.extend(bytes);
    }
    Ok(branch(state, &open, begun))
}

/// Something was typed while the panel is open.
pub(super) fn typed(state: &mut State, typed: &Typed) {
    if let Some(text) = &mut state.screen.forced {
        typed.to(text);
    }
}

/// Stops the typing. Says whether there was any.
pub(super) fn escape(state: &mut State) -> bool {
    state.screen.forced.take().is_some()
}

/// The answer up to the selected token, that token, and what it was drawn from.
fn before(state: &State, open: &Inspector) -> Result<Option<(Answer, Token, Report)>, Refusal> {
    answer::may_begin(state)?;
    let pieces = known(state, open);
    let message = state.conversation.get(open.answer);
    let said = message.and_then(|message| Some((&message.text, message.answer.as_ref()?)));
    let (Some(piece), Some((text, whole))) = (pieces.get(open.at), said) else {
        return Ok(None);
    };
    let model = state.engine.model();
    if model.is_none_or(|model| model.fingerprint != whole.model) {
        let words = format!(
            "'{}' said this, and another model has other tokens: load it to go on from here",
            whole.model_name
        );
        return Err(Refusal::new(Level::Warn, words));
    }
    let own = text.strip_prefix(whole.opening.as_str()).unwrap_or_default();
    let bytes = if whole.bytes.is_empty() {
        own.as_bytes()
    } else {
        &whole.bytes
    };
    // The engine's word on the text follows with the answer.
    let after: usize = pieces[open.at..].iter().map(|piece| piece.text.len()).sum();
    let takes = whole.takes.iter().filter(|take| take.from as usize <= piece.place);
    let begun = Answer {
        model: whole.model.clone(),
        model_name: whole.model_name.clone(),
        opening: whole.opening.clone(),
        tokens: whole.tokens[..piece.place].to_vec(),
        bytes: bytes[..bytes.len().saturating_sub(after)].to_vec(),
        takes: takes.cloned().collect(),
        trace: whole.trace[..open.at].to_vec(),
        ..Answer::default()
    };
    Ok(Some((begun, piece.token, piece.report.clone())))
}

/// Has this beginning go on as another version of the answer.
fn branch(state: &mut State, open: &Inspector, begun: Answer) -> Vec<Effect> {
    let (before, now) = (state.conversation.tip(), state.clock());
    state.conversation.begin_step();
    let text = format!("{}{}", begun.opening, String::from_utf8_lossy(&begun.bytes));
    let Some(id) = state.conversation.push_version(open.answer, text.clone(), now) else {
        return Vec::new();
    };
    if let Some(message) = state.conversation.get_mut(id) {
        message.answer = Some(begun.clone());
    }
    state.before = before;
    let begun = Before {
        text,
        answer: begun,
        kept: 0,
    };
    answer::start(state, id, Some(Box::new(begun)))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::Action;
    use crate::app::update::scene::{act, arrive, finish, last_notice, load_turn, ready, send};
    use crate::app::{CommandId, Msg, update};
    use crate::domain::inference::{Event, Finish, GenerateRequest, Said};
    use crate::domain::inspection::summary;
    use crate::domain::session::{SessionId, StoreEvent};

    /// The candidates of every token: what was said, and what could have been.
    fn report(said: (i32, &str), other: (i32, &str)) -> Report {
        let candidate = |(token, text): (i32, &str), before: f32| Candidate {
            token: Token(token),
            text: text.to_owned(),
            logit: before.ln(),
            before,
            after: Some(before),
            removed: None,
        };
        Report {
            probability: 0.25,
            after: 0.25,
            rank: 1,
            candidates: vec![candidate(other, 0.75), candidate(said, 0.25)],
            ..Report::default()
        }
    }

    /// An answer of three tokens, each of which was not the likeliest.
    fn said() -> State {
        let mut state = ready();
        state.options.trace = 5;
        send(&mut state, "hello");
        for (n, (text, other)) in [("It", "That"), (" is", " was"), (" so.", " not.")]
            .into_iter()
            .enumerate()
        {
            let n = n as i32;
            let said = Said {
                token: Some(Token(n)),
                bytes: text.as_bytes().to_vec(),
                text: text.to_owned(),
                report: Some(Box::new(report((n, text), (n + 10, other)))),
                ..Said::default()
            };
            let turn = answer::asked(&state).unwrap();
            update(&mut state, Msg::Engine(Event::Token { turn, said }));
        }
        finish(&mut state, Finish::EndOfTurn);
        act(&mut state, Action::Run(CommandId::Inspect));
        state
    }

    fn at(state: &mut State) -> (usize, usize) {
        let open = inspector(state).unwrap();
        (open.at, open.candidate)
    }

    #[test]
    fn tokens_and_candidates_are_walked() {
        let mut state = said();
        assert_eq!(at(&mut state), (2, 1), "the last token, and what was said");
        for (action, place) in [
            (Action::Walk(Walk::Previous), (1, 1)),
            (Action::LineUp, (1, 0)),
            (Action::LineUp, (1, 0)),
            (Action::Walk(Walk::Next), (2, 1)),
            (Action::Walk(Walk::Next), (2, 1)),
            (Action::Walk(Walk::Back), (0, 1)),
            (Action::Walk(Walk::Last), (2, 1)),
            (Action::Walk(Walk::First), (0, 1)),
        ] {
            act(&mut state, action);
            assert_eq!(at(&mut state), place, "{action:?}");
        }
        act(&mut state, Action::Walk(Walk::Shade));
        assert_eq!(inspector(&mut state).unwrap().shade, Shade::Entropy);
        act(&mut state, Action::Escape);
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn the_least_certain_are_walked_from_the_least() {
        let mut state = said();
        // The second was the least likely.
        let answer = state.conversation.messages().last().map(|message| message.id).unwrap();
        let answer = state.conversation.get_mut(answer).unwrap().answer.as_mut().unwrap();
        (answer.trace[1].probability, answer.trace[0].probability) = (0.01, 0.1);
        for place in [1, 0, 2, 1] {
            act(&mut state, Action::Walk(Walk::Unsure));
            assert_eq!(at(&mut state).0, place);
        }
    }

    #[test]
    fn what_was_put_in_keeps_its_place_and_counts_for_nothing() {
        let mut state = ready();
        state.options.trace = 5;
        send(&mut state, "hello");
        let turn = answer::asked(&state).unwrap();
        for (n, report) in [
            (0, Some(report((0, "It"), (10, "That")))),
            (1, None),
            (2, Some(report((2, " so"), (12, " not")))),
        ] {
            let said = Said {
                token: Some(Token(n)),
                bytes: b" is".to_vec(),
                text: " is".to_owned(),
                report: report.map(Box::new),
                ..Said::default()
            };
            update(&mut state, Msg::Engine(Event::Token { turn, said }));
        }
        let id = traced(&state).unwrap_or_else(|_| panic!("traced"));
        let answer = state
            .conversation
            .get(id)
            .and_then(|message| message.answer.as_ref())
            .unwrap();
        let seen: Vec<_> = pieces(answer)
            .iter()
            .map(|piece| (piece.place, piece.text, piece.report.put_in))
            .collect();
        assert_eq!(seen, [(0, "It", false), (1, " is", true), (2, " so", false)]);
        assert_eq!(summary(&pieces(answer)).unwrap().tokens, 2);
        assert_eq!(least_certain(&pieces(answer), 5), [0, 2]);
    }

    #[test]
    fn a_typed_text_stands_in_the_place_of_a_token() {
        let mut state = said();
        act(&mut state, Action::Walk(Walk::Previous));
        act(&mut state, Action::Walk(Walk::Force));
        for typed in [" wass", " was"] {
            update(&mut state, Msg::TypedOver(Typed::Clear));
            update(&mut state, Msg::TypedOver(Typed::Text(typed.to_owned())));
        }
        let effects = act(&mut state, Action::Take);
        assert_eq!(effects, [Effect::Tokenize(" was".to_owned())]);
        let pieces = vec![(Token(20), b" w".to_vec()), (Token(21), b"as".to_vec())];
        let request = asked(update(&mut state, Msg::Tokenized(pieces.clone())));
        assert_eq!(request.prompt.opening.said, [0, 20, 21].map(Token));
        assert_eq!(state.screen.overlay, None);
        let answer = state
            .conversation
            .messages()
            .last()
            .and_then(|message| message.answer.as_ref())
            .unwrap();
        assert_eq!(answer.bytes, b"It was");
        assert_eq!(
            answer.trace.iter().map(|report| report.put_in).collect::<Vec<_>>(),
            [false, true, true]
        );
        // What comes too late changes nothing.
        assert_eq!(update(&mut state, Msg::Tokenized(pieces)), []);
    }

    #[test]
    fn settings_are_tried_on_the_selected_token() {
        let mut state = said();
        act(&mut state, Action::Walk(Walk::Previous));
        let effects = act(&mut state, Action::Run(CommandId::Tune));
        let [Effect::Watch(true), Effect::Engine(Command::Look { look, .. })] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!((look.said, look.place), (Token(1), 1));
        assert_eq!(look.prompt.opening.said, [Token(0)]);
        assert_eq!(look.prompt.messages.len(), 1, "the question");
        assert!(state.screen.tune.is_some() && state.screen.overlay.is_none());
    }

    #[test]
    fn typing_is_left_before_the_panel_is() {
        let mut state = said();
        act(&mut state, Action::Walk(Walk::Force));
        assert_eq!(
            act(&mut state, Action::Take),
            [],
            "nothing typed is nothing to go on from"
        );
        assert_eq!(state.screen.forced, None);
        act(&mut state, Action::Walk(Walk::Force));
        act(&mut state, Action::Escape);
        assert!(state.screen.overlay.is_some() && state.screen.forced.is_none());
        act(&mut state, Action::Escape);
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn what_another_day_left_is_read_first() {
        let mut state = said();
        act(&mut state, Action::Escape);
        let id = traced(&state).unwrap_or_else(|_| panic!("traced"));
        let answer = state
            .conversation
            .get(id)
            .and_then(|message| message.answer.clone())
            .unwrap();
        // As a session is opened: without.
        state.session.id = Some(SessionId(7));
        state.conversation.recall_trace(id, Vec::new());
        let asked = act(&mut state, Action::Run(CommandId::Inspect));
        let (key, session) = (state.key(), SessionId(7));
        let trace = Effect::Store(StoreCommand::Trace {
            key,
            session,
            message: id,
        });
        assert_eq!((asked, &state.screen.overlay), (vec![trace], &None));
        let told = |state: &mut State, message, trace| {
            update(state, Msg::Store(StoreEvent::Traced { key, message, trace }));
        };
        // Of another answer.
        told(&mut state, MessageId(99), answer.trace.clone());
        assert_eq!(state.screen.overlay, None);
        told(&mut state, id, answer.trace.clone());
        assert_eq!(at(&mut state), (2, 1));
        let now = state.conversation.get(id).and_then(|message| message.answer.as_ref());
        assert_eq!(now, Some(&answer));

        // And where nothing is kept, that is said.
        act(&mut state, Action::Escape);
        state.conversation.recall_trace(id, Vec::new());
        act(&mut state, Action::Run(CommandId::Inspect));
        told(&mut state, id, Vec::new());
        assert_eq!(state.screen.overlay, None);
        assert!(
            last_notice(&state)
                .1
                .starts_with("what this answer was drawn from is not at hand")
        );
    }

    #[test]
    fn tokens_are_written_as_the_file_is_named() {
        let mut state = said();
        act(&mut state, Action::Escape);
        let effects = send(&mut state, "/inspect ~/tokens.csv");
        let written = effects.iter().find_map(|effect| match effect {
            Effect::WriteTokens(path, record) => Some((path.as_str(), record.tokens.len())),
            _ => None,
        });
        assert_eq!(written, Some(("~/tokens.csv", 3)));
        send(&mut state, "/inspect tokens.txt");
        let words = "'tokens.txt' does not say how to write it: end it in .json or .csv";
        assert_eq!(last_notice(&state).1, words);
        update(&mut state, Msg::Wrote(Ok("3 tokens are in 'tokens.csv'".to_owned())));
        assert_eq!(last_notice(&state), (Level::Info, "3 tokens are in 'tokens.csv'"));
    }

    /// What the engine is asked.
    fn asked(effects: Vec<Effect>) -> GenerateRequest {
        let asked = effects.into_iter().find_map(|effect| match effect {
            Effect::Engine(Command::Generate { request, .. }) => Some(request),
            _ => None,
        });
        asked.unwrap()
    }

    #[test]
    fn another_candidate_is_gone_on_from() {
        let mut state = said();
        let whole = state.conversation.tip().unwrap();
        act(&mut state, Action::Walk(Walk::Previous));
        act(&mut state, Action::LineUp);
        let request = asked(act(&mut state, Action::Take));
        assert_eq!(
            request.prompt.opening.said,
            [Token(0), Token(11)],
            "token by token, and no more"
        );
        let branch = state.conversation.tip().unwrap();
        assert_eq!(state.conversation.versions(whole), [whole, branch]);
        let message = state.conversation.get(branch).unwrap();
        let answer = message.answer.as_ref().unwrap();
        assert_eq!(message.text, "It was");
        assert_eq!(answer.bytes, b"It was");
        assert_eq!(answer.trace.len(), 2);
        assert_eq!(
            (answer.trace[1].rank, answer.trace[1].probability),
            (0, 0.75),
            "it is the likeliest"
        );
        // What is said then stands behind it, and is walked in its turn.
        let turn = answer::asked(&state).unwrap();
        let said = Said {
            token: Some(Token(7)),
            bytes: b" true.".to_vec(),
            text: " true.".to_owned(),
            report: Some(Box::new(report((7, " true."), (8, " false.")))),
            ..Said::default()
        };
        update(&mut state, Msg::Engine(Event::Token { turn, said }));
        finish(&mut state, Finish::EndOfTurn);
        let message = state.conversation.get(branch).unwrap();
        assert_eq!(message.text, "It was true.");
        let texts: Vec<_> = pieces(message.answer.as_ref().unwrap())
            .iter()
            .map(|piece| piece.text)
            .collect();
        assert_eq!(texts, ["It", " was", " true."]);
    }

    #[test]
    fn what_cannot_be_gone_on_from_says_why() {
        let mut state = said();
        act(&mut state, Action::Take);
        assert_eq!(last_notice(&state).1, "this one was said: choose another to go on from");
        // Another model has other tokens.
        act(&mut state, Action::Escape);
        send(&mut state, "/model other");
        let _ = load_turn(&state);
        arrive(&mut state, "puma");
        act(&mut state, Action::Run(CommandId::Inspect));
        act(&mut state, Action::LineUp);
        let versions = state.conversation.messages().len();
        act(&mut state, Action::Take);
        assert!(
            last_notice(&state).1.contains("another model has other tokens"),
            "{}",
            last_notice(&state).1
        );
        assert_eq!(state.conversation.messages().len(), versions);
    }

    #[test]
    fn an_answer_of_which_nothing_is_known_is_not_walked() {
        let mut state = ready();
        act(&mut state, Action::Run(CommandId::Inspect));
        assert_eq!(last_notice(&state).1, "there is no answer to inspect yet");
        let mut state = crate::app::update::scene::answered();
        act(&mut state, Action::Run(CommandId::Inspect));
        assert!(state.screen.overlay.is_none());
        assert!(
            last_notice(&state)
                .1
                .starts_with("nothing is kept of what tokens are drawn from")
        );
    }
}
