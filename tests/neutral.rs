//! Ring 7: nothing that a person, a file or an earlier answer says becomes a special token. Over the special tokens of several
//! families of models, in byte-pair and in SentencePiece vocabularies, through llama.cpp's own tokenizer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use jiff::civil::date;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use quipu::domain::Role;
use quipu::engine::local::{Lexicon, Specials};
use quipu::gguf::ModelFile;
use quipu::prompt::{Message, Options, Template};

use crate::engine::cria;
use crate::vocabulary::{merged, pieces, with_specials};

/// Families of models: their control tokens, and what they have as user-defined tokens that structure a conversation.
const FAMILIES: [(&str, &[&str], &[&str]); 9] = [
    (
        "qwen",
        &["<|endoftext|>", "<|object_ref_start|>"],
        &["<think>", "</think>", "<tool_call>", "[PAD151646]"],
    ),
    (
        "llama 3",
        &[
            "<|begin_of_text|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eot_id|>",
            "<|reserved_special_token_0|>",
        ],
        &[],
    ),
    (
        "phi 3",
        &[
            "<|endoftext|>",
            "<|assistant|>",
            "<|end|>",
            "<|user|>",
            "<|system|>",
            "<|placeholder1|>",
        ],
        &[],
    ),
    (
        "gemma 4",
        &[
            "<pad>", "<eos>", "<bos>", "<mask>", "<|tool>", "<tool|>", "<|turn>", "<turn|>",
        ],
        &["<|tool_call>", "<tool_call|>", "<|\"|>", "<|channel>", "<channel|>"],
    ),
    (
        "deepseek",
        &[
            "<｜begin▁of▁sentence｜>",
            "<｜end▁of▁sentence｜>",
            "<｜User｜>",
            "<｜Assistant｜>",
        ],
        &["<｜tool▁calls▁begin｜>"],
    ),
    (
        "command",
        &["<BOS_TOKEN>", "<EOP_TOKEN>"],
        &[
            "<|START_OF_TURN_TOKEN|>",
            "<|END_OF_TURN_TOKEN|>",
            "<|USER_TOKEN|>",
            "<|YES_TOKEN|>",
        ],
    ),
    (
        "mistral",
        &[
            "[INST]",
            "[/INST]",
            "[SYSTEM_PROMPT]",
            "[THINK]",
            "[/THINK]",
            "[TOOL_CALLS]",
        ],
        &[],
    ),
    (
        "gpt-oss",
        &[
            "<|start|>",
            "<|end|>",
            "<|message|>",
            "<|channel|>",
            "<|return|>",
            "<|call|>",
            "<|constrain|>",
        ],
        &[],
    ),
    (
        "falcon",
        &[">>TITLE<<", ">>ABSTRACT<<", ">>ANSWER<<"],
        &["◁think▷", "◁/think▷"],
    ),
];

/// A vocabulary and its special tokens.
struct Case {
    name: String,
    lexicon: Lexicon,
    specials: Vec<String>,
    ids: BTreeSet<i32>,
}

impl Case {
    fn new(name: &str, path: &Path, specials: Vec<String>) -> Self {
        let lexicon = Lexicon::open(&ModelFile::open(path).unwrap()).unwrap();
        let id = |special: &String| {
            let tokens = lexicon.tokenize(special, Specials::Parsed, false);
            // SentencePiece may put a blank before.
            tokens.last().unwrap().token.0
        };
        Self {
            name: name.to_owned(),
            ids: specials.iter().map(id).collect(),
            lexicon,
            specials,
        }
    }

    /// How many special tokens a conversation comes to.
    fn count(&self, contents: &[String]) -> usize {
        let template = Template::built_in("chatml").unwrap();
        let roles = [Role::System, Role::User, Role::Assistant, Role::User];
        let said = contents.iter().zip(roles).map(|(content, role)| Message {
            thinking: if role == Role::Assistant { content } else { "" },
            ..Message::new(role, content)
        });
        let options = Options {
            thinking_in_content: false,
            ..Options::new(date(2026, 1, 15).at(12, 0, 0, 0))
        };
        let rendered = template.render(&said.collect::<Vec<_>>(), self.lexicon.markers(), &options);
        let tokens = self.lexicon.prompt(&rendered.unwrap());
        tokens
            .iter()
            .filter(|piece| piece.special || self.ids.contains(&piece.token.0))
            .count()
    }

    fn hold(&self, contents: &[String]) {
        let harmless: Vec<_> = contents.iter().map(|_| "hello".to_owned()).collect();
        assert_eq!(
            self.count(contents),
            self.count(&harmless),
            "{}: {contents:?}",
            self.name
        );
    }
}

/// The families' vocabularies, once on a byte-pair base and once on a SentencePiece one.
fn cases() -> Vec<Case> {
    let folder = tempfile::tempdir().unwrap();
    let (pairs, words) = (merged(&cria(), 4096), pieces(&cria(), 5000));
    let mut cases = Vec::new();
    for (name, control, user_defined) in FAMILIES {
        for (base, kind) in [(&pairs, "pairs"), (&words, "pieces")] {
            let path = folder.path().join("vocabulary.gguf");
            with_specials(base.clone(), control, user_defined).write(&path);
            let specials = control.iter().chain(user_defined).map(ToString::to_string);
            let specials = specials.chain(["<|im_start|>".to_owned(), "<|im_end|>".to_owned()]);
            cases.push(Case::new(&format!("{name}, {kind}"), &path, specials.collect()));
        }
    }
    cases
}

/// Every way to spell one special token: alone, inside words, between blanks, twice, and torn over two messages.
fn hold_each(case: &Case) {
    for special in &case.specials {
        let mut ways = vec![
            vec![special.clone()],
            vec![format!("a{special}b")],
            vec![format!(" {special}\n")],
            vec![special.repeat(2), special.clone()],
        ];
        for (at, _) in special.char_indices().skip(1) {
            let (left, right) = special.split_at(at);
            ways.push(vec![left.to_owned(), right.to_owned()]);
            ways.push(vec![format!("{left}{special}{right}")]);
        }
        for contents in ways {
            case.hold(&contents);
        }
    }
}

#[test]
fn no_special_token_of_any_family_can_be_spelled() {
    for case in cases() {
        assert!(
            case.ids.len() >= case.specials.len() - 1,
            "{}: every name is a token",
            case.name
        );
        hold_each(&case);
    }
}

#[test]
fn nothing_made_of_special_tokens_becomes_one() {
    let cases = cases();
    let words = prop_oneof![
        4 => (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(which, from, to)| (Some(which), from, to)),
        1 => any::<prop::sample::Index>().prop_map(|any| (None, any, any)),
    ];
    let content = proptest::collection::vec(words, 0..6);
    let contents = proptest::collection::vec(content, 1..5);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let outcome = runner.run(&(any::<prop::sample::Index>(), contents), |(case, contents)| {
        let case = case.get(&cases);
        let word = |(which, from, to): &(Option<prop::sample::Index>, prop::sample::Index, prop::sample::Index)| {
            let Some(which) = which else {
                return [" ", "\n", "x", "<", "|", "é"][from.index(6)].to_owned();
            };
            // The whole of a special token, or a stretch of it.
            let special = which.get(&case.specials);
            let letters: Vec<char> = special.chars().collect();
            let (from, to) = (from.index(letters.len() * 2), to.index(letters.len() * 2));
            match letters.get(from.min(to)..from.max(to)) {
                Some(part) => part.iter().collect(),
                None => special.clone(),
            }
        };
        let contents: Vec<String> = contents.iter().map(|words| words.iter().map(word).collect()).collect();
        case.hold(&contents);
        Ok(())
    });
    outcome.unwrap();
}

/// The same over whole published vocabularies, where a folder of them is at hand.
#[test]
#[ignore = "needs a folder of GGUF vocabularies, named by QUIPU_VOCABULARIES"]
fn no_special_token_of_a_published_vocabulary_can_be_spelled() {
    let folder = PathBuf::from(env::var_os("QUIPU_VOCABULARIES").expect("it names a folder"));
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(file) = ModelFile::open(&path) else { continue };
        let Ok(lexicon) = Lexicon::open(&file) else { continue };
        let specials: Vec<String> = lexicon.markers().iter().map(str::to_owned).collect();
        hold_each(&Case::new(&path.display().to_string(), &path, specials));
    }
}
