//! Whether texts become the right tokens: what ends an answer, what the template makes of a conversation, what the tokenizer makes
//! of hard texts, and whether the publisher's does the same.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::domain::inference::{Token, TurnEnd};
use crate::engine::local::{Patient, Piece};
use crate::gguf::Metadata;
use crate::prompt::{Message, Rendered, TRIAL};

use super::chart::Opinion;
use super::corpus::HARD;

/// Whether something ends an answer that is not a word.
pub(super) fn specials(patient: &Patient) -> Opinion {
    let endings: Vec<Piece> = patient
        .endings()
        .into_iter()
        .map(|token| patient.piece(token))
        .collect();
    let named = |pieces: &[&Piece]| {
        let names = pieces
            .iter()
            .map(|piece| format!("'{}' ({})", text(piece), piece.token.0));
        names.collect::<Vec<_>>().join(", ")
    };
    let remedy = "answers will not end by themselves: get a conversion that names its end-of-generation token, or set it by \
                  '--override-kv tokenizer.ggml.eos_token_id=int:ID', or end them by '--stop-at'";
    let (real, words): (Vec<_>, Vec<_>) = endings.iter().partition(|piece| piece.special);
    match (real.as_slice(), words.as_slice()) {
        ([], []) => Opinion::failed("no token ends an answer", remedy),
        ([], words) => Opinion::failed(format!("only ordinary text ends an answer: {}", named(words)), remedy),
        (real, []) => Opinion::ok(format!("answers end with {}", named(real))),
        (real, words) => Opinion::warning(
            format!(
                "answers end with {}, but also with ordinary text: {}",
                named(real),
                named(words)
            ),
            "answers may break off at those words: get another conversion",
        ),
    }
}

fn text(piece: &Piece) -> String {
    String::from_utf8_lossy(&piece.bytes).into_owned()
}

/// Whether the template renders, keeps what was said, writes special tokens as such, and ends an answer as the model does.
pub(super) fn template(patient: &Patient, metadata: &Metadata) -> Opinion {
    let messages = TRIAL.map(|(role, said)| Message::new(role, said));
    let rendered = match patient.render(&messages) {
        Ok(rendered) => rendered,
        Err(error) => {
            let remedy = "choose another by '--template NAME', or get a conversion with a newer template";
            return Opinion::failed(error.to_string(), remedy);
        }
    };
    if let Some((_, said)) = TRIAL.iter().find(|(_, said)| !rendered.text.contains(said)) {
        return Opinion::failed(
            format!("the template drops '{said}' from a conversation"),
            "the model will not hear all that is said: choose another by '--template NAME'",
        );
    }
    let unknown = unknown_markers(patient, &rendered);
    if let Some(marker) = unknown.first() {
        let pieces = patient.tokenize(marker, false, true).len();
        return Opinion::failed(
            format!("the template writes '{marker}', which this vocabulary spells with {pieces} tokens"),
            "template and vocabulary are of two models: choose another by '--template NAME', or get another conversion",
        );
    }
    let own = metadata.chat_template().is_some();
    let found = match patient.turn_end() {
        TurnEnd::Reached(token) => {
            let end = text(&patient.piece(token));
            return if own {
                Opinion::ok(format!(
                    "{}; it ends an answer with '{end}', as the model does",
                    rendered.path
                ))
            } else {
                Opinion::warning(
                    format!(
                        "the model has no template, and {} ends answers with '{end}'",
                        rendered.path
                    ),
                    "if answers are odd, name the right one by '--template NAME'",
                )
            };
        }
        TurnEnd::Elsewhere(end) if end.is_empty() => "with nothing, and the model with a token".to_owned(),
        TurnEnd::Elsewhere(end) => format!("with '{end}', which is no end-of-generation token"),
        TurnEnd::Missing => "and the model has no end-of-generation token".to_owned(),
        TurnEnd::Unknown => "somehow, which cannot be seen".to_owned(),
    };
    Opinion::failed(
        format!("the template ends an answer {found}"),
        "the model was not taught to stop as quipu waits for it: choose another by '--template NAME', or end answers by \
         '--stop-at'",
    )
}

/// Markers of the form that special tokens have, written by the template, which are none here.
fn unknown_markers<'t>(patient: &Patient, rendered: &'t Rendered) -> Vec<&'t str> {
    let starts = rendered.text.match_indices("<|");
    let markers = starts.filter_map(|(at, _)| {
        let rest = rendered.text.get(at..)?;
        let end = rest.find("|>")? + 2;
        rest.get(..end).filter(|marker| !marker.contains(char::is_whitespace))
    });
    markers
        .filter(|marker| patient.tokenize(marker, false, true).len() != 1)
        .collect()
}

/// The share of texts that do not survive from which on the tokenizer is broken and not only peculiar.
const LOST: usize = 4;

/// Whether texts can be read back from their tokens.
pub(super) fn round_trip(patient: &Patient) -> Opinion {
    let lost = |said: &&&str| {
        let back = patient.spell(&patient.tokenize(said, false, false));
        let back = String::from_utf8_lossy(&back).into_owned();
        // Some vocabularies put a space before a text.
        back != **said && back.strip_prefix(' ') != Some(**said)
    };
    let lost: Vec<_> = HARD.iter().filter(lost).collect();
    let evidence = format!(
        "{} of {} hard texts come back as they were",
        HARD.len() - lost.len(),
        HARD.len()
    );
    match lost.first() {
        None => Opinion::ok(evidence),
        Some(first) => {
            let back = patient.spell(&patient.tokenize(first, false, false));
            let evidence = format!(
                "{evidence}; '{first}' comes back as '{}'",
                String::from_utf8_lossy(&back)
            );
            if lost.len() * LOST >= HARD.len() {
                Opinion::failed(evidence, "the vocabulary is damaged: get another conversion")
            } else {
                Opinion::warning(
                    evidence,
                    "this tokenizer does not keep every text: mind it where spelling counts",
                )
            }
        }
    }
}

/// Whether the publisher's tokenizer makes the same tokens.
pub(super) fn published(patient: &Patient, path: &Path) -> Opinion {
    let theirs = match Tokenizer::from_file(path) {
        Ok(tokenizer) => tokenizer,
        Err(error) => {
            let evidence = format!("'{}' cannot be read: {error}", path.display());
            return Opinion::failed(evidence, "give the 'tokenizer.json' of the model's repository");
        }
    };
    let mut differing = Vec::new();
    for said in HARD {
        let here = patient.tokenize(said, false, false);
        let there = match theirs.encode(*said, false) {
            Ok(encoding) => encoding
                .get_ids()
                .iter()
                .map(|id| Token(*id as i32))
                .collect::<Vec<_>>(),
            Err(error) => {
                return Opinion::failed(format!("'{}' fails: {error}", path.display()), "get another copy of it");
            }
        };
        if here != there {
            differing.push((said, here, there));
        }
    }
    let (entries, all) = (theirs.get_vocab_size(true), patient.vocabulary());
    let same = HARD.len() - differing.len();
    let evidence = format!(
        "{same} of {} hard texts have the same tokens; {entries} entries there, {all} here",
        HARD.len()
    );
    match differing.first() {
        None => Opinion::ok(evidence),
        Some((said, here, there)) => Opinion::failed(
            format!("{evidence}; '{said}' is {} here and {} there", ids(here), ids(there)),
            "the model reads other words than it was taught: its tokenizer was converted wrongly; get another conversion",
        ),
    }
}

/// Ids as a list, the first few of them.
fn ids(tokens: &[Token]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<_> = tokens.iter().take(SHOWN).map(|token| token.0.to_string()).collect();
    let more = if tokens.len() > SHOWN { " …" } else { "" };
    format!("[{}{more}]", shown.join(" "))
}
