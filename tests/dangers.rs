//! Ring 7: models that are dangerous rather than damaged, through the real engine. Whatever they do, the answer is a failure in
//! words or an answer, and the engine lives.

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use quipu::domain::inference::{ChatMessage, Event, Failure, FailureKind, Finish, GpuLayers, LoadOptions};
use quipu::domain::sampling::{Parameter, Seed};
use quipu::domain::{Role, Sampling};

use crate::engine::{Talk, cria, greedy, user};
use crate::gguf::{self, Gguf, Meta, TINY, text, texts};

/// Writes what `change` makes of a working model.
fn changed(folder: &Path, change: impl FnOnce(&mut Gguf)) -> PathBuf {
    let mut file = gguf::random_qwen2(&cria(), 0, 1, TINY);
    change(&mut file);
    let path = folder.join("model.gguf");
    file.write(&path);
    path
}

fn with(settings: &[(&str, &str)]) -> Sampling {
    let mut sampling = Sampling {
        seed: Seed::Fixed(1),
        ..Sampling::default()
    };
    for (name, value) in settings {
        Parameter::find(name).unwrap().set(&mut sampling, value).unwrap();
    }
    sampling
}

/// Settings that take each way through the sampler: the shortcut, the leading top-k, the whole vocabulary, sorting, mirostat.
fn ways() -> Vec<Sampling> {
    vec![
        greedy(),
        with(&[]),
        with(&[("top-k", "0")]),
        with(&[("top-k", "0"), ("top-p", "0.5"), ("min-p", "0"), ("typical", "0.9")]),
        with(&[
            ("top-n-sigma", "1"),
            ("xtc-probability", "0.5"),
            ("repeat-penalty", "1.1"),
        ]),
        with(&[("mirostat", "1")]),
        with(&[("mirostat", "2")]),
    ]
}

/// The failure that a question ends with.
fn failure(talk: &mut Talk, messages: &[ChatMessage], sampling: Sampling) -> Failure {
    talk.begin(messages, sampling, Some(20));
    loop {
        match talk.event() {
            Event::Failed { failure, .. } => return failure,
            Event::Prompted { .. } | Event::Prefill { .. } | Event::Noted { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

fn set_floats(file: &mut Gguf, tensor: &str, value: f32) {
    for number in file.tensor(tensor).data.chunks_exact_mut(4) {
        number.copy_from_slice(&value.to_le_bytes());
    }
}

#[test]
fn weights_that_are_no_numbers_end_the_answer_in_words() {
    let folder = tempfile::tempdir().unwrap();
    for poison in [f32::NAN, f32::INFINITY] {
        let path = changed(folder.path(), |file| set_floats(file, "output_norm.weight", poison));
        let mut talk = Talk::load(&path, LoadOptions::default());
        for way in ways() {
            let failure = failure(&mut talk, &[user("hello")], way.clone());
            assert_eq!(failure.kind, FailureKind::Compute, "{way:?}");
            assert!(failure.message.contains("no numbers"), "{failure}");
        }
        assert!(!talk.render(&[user("hello")]).tokens.is_empty(), "the engine lives");
    }
}

#[test]
fn one_logit_that_is_no_number_stops_the_answer_and_the_engine_lives() {
    // A row of the table, which is the output too: the logit of that token alone is no number.
    const POISONED: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), |file| {
        let row = TINY[0] as usize * 2;
        for number in file.tensor("token_embd.weight").data[POISONED * row..][..row].chunks_exact_mut(2) {
            number.copy_from_slice(&gguf::half(f32::NAN).to_le_bytes());
        }
    });
    let mut talk = Talk::load(&path, LoadOptions::default());
    for way in ways() {
        let failure = failure(&mut talk, &[user("hello")], way.clone());
        assert_eq!(failure.kind, FailureKind::Compute, "{way:?}");
        assert!(failure.message.contains("no numbers"), "{failure}");
    }
}

#[test]
fn hostile_templates_end_in_words_and_the_engine_lives() {
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% set c = messages %}{% endfor %}{% endfor %}";
    let flood = "{% for a in range(9999) %}{{ 'messages' * 9999 }}{% endfor %}";
    let deep = "{% macro f(x) %}{{ f(messages) }}{% endmacro %}{{ f(1) }}";
    let refusing = "{{ messages }}{{ raise_exception('\u{1b}[2Jno way') }}";
    let folder = tempfile::tempdir().unwrap();
    for template in [endless, flood, deep, refusing] {
        let path = changed(folder.path(), |file| {
            file.set("tokenizer.chat_template", text(template));
        });
        let mut talk = Talk::load(&path, LoadOptions::default());
        for _ in 0..2 {
            let failure = failure(&mut talk, &[user("hello")], greedy());
            assert_eq!(failure.kind, FailureKind::Template, "{template}");
            assert!(!failure.message.contains(char::is_control), "{failure:?}");
        }
    }
}

#[test]
fn what_a_template_says_beside_the_messages_is_only_text() {
    let folder = tempfile::tempdir().unwrap();
    let hostile =
        "{{ messages[0].content }}\u{1b}]0;title\u{7}\u{202e}{{ '\\u0000' }}{{ bos_token }}{{ eos_token * 3 }}";
    let path = changed(folder.path(), |file| {
        file.set("tokenizer.chat_template", text(hostile));
    });
    let mut talk = Talk::load(&path, LoadOptions::default());
    let answer = talk.ask(&[user("hello")], greedy(), Some(3));
    assert!(answer.stats.prompt_tokens > 0);
    let empty = changed(folder.path(), |file| {
        file.set("tokenizer.chat_template", text("{% if messages %}{% endif %}"));
    });
    // A prompt of nothing has nothing to go on from.
    let mut talk = Talk::load(&empty, LoadOptions::default());
    let failure = failure(&mut talk, &[user("hello")], greedy());
    assert_eq!(failure.kind, FailureKind::Template, "{failure}");
}

#[test]
fn a_model_without_a_template_gets_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), |file| {
        file.remove("tokenizer.chat_template");
    });
    let mut talk = Talk::load(&path, LoadOptions::default());
    assert!(
        talk.model.template.contains("the model has none"),
        "{}",
        talk.model.template
    );
    assert!(talk.ask(&[user("hello")], greedy(), Some(3)).stats.generated > 0);
}

#[test]
fn an_answer_of_nothing_is_an_answer_and_the_talk_goes_on() {
    let mut talk = Talk::with_cria();
    let silent = with(&[("logit-bias", "<|im_end|>=100")]);
    let question = user("What is the capital of France?");
    let answer = talk.ask(std::slice::from_ref(&question), silent, None);
    assert_eq!((answer.text.as_str(), answer.finish), ("", Finish::EndOfTurn));
    assert_eq!(answer.stats.generated, 0);
    let silence = ChatMessage {
        tokens: Some(answer.tokens),
        ..ChatMessage::new(Role::Assistant, "")
    };
    let next = talk.ask(&[question.clone(), silence, question], greedy(), Some(20));
    assert!(next.stats.generated > 0);
}

#[test]
fn a_vocabulary_without_line_feeds_and_marks_is_talked_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), |file| {
        file.remove("tokenizer.ggml.bos_token_id")
            .remove("tokenizer.ggml.eos_token_id")
            .remove("tokenizer.ggml.eot_token_id")
            .remove("tokenizer.ggml.padding_token_id")
            .set("tokenizer.ggml.pre", text("default"))
            .set(
                "tokenizer.ggml.tokens",
                texts(&["a", "b", "c", "d", "ab", "bc", "abc", "x"]),
            )
            .set("tokenizer.ggml.token_type", Meta::I32s(vec![1; 8]))
            .set("tokenizer.ggml.merges", texts(&["a b", "b c", "ab c"]))
            .set("tokenizer.chat_template", text("{{ messages[0].content }}"));
        let width = TINY[0];
        let table = file.tensor("token_embd.weight");
        table.dims = vec![width, 8];
        table.data.truncate(width as usize * 8 * 2);
    });
    let mut talk = Talk::load(&path, LoadOptions::default());
    assert!(
        talk.model.warnings.iter().any(|w| w.contains("no end-of-generation")),
        "{:?}",
        talk.model.warnings
    );
    let answer = talk.ask(&[user("abcab")], greedy(), Some(5));
    assert_eq!((answer.finish, answer.stats.generated), (Finish::MaxTokens, 5));
    // Nothing of this is in the vocabulary, so nothing is left of the prompt.
    let failure = failure(&mut talk, &[user("1234 \n")], greedy());
    assert_eq!(failure.kind, FailureKind::Template, "{failure}");
}

#[test]
fn a_card_that_is_not_there_is_warned_of() {
    let options = LoadOptions {
        gpu_layers: GpuLayers::Count(99),
        ..LoadOptions::default()
    };
    let mut talk = Talk::load(&cria(), options);
    if talk.model.gpu_layers == 0 {
        assert!(
            talk.model.warnings.iter().any(|w| w.contains("no graphics card")),
            "{:?}",
            talk.model.warnings
        );
    }
    assert!(
        talk.ask(&[user("What is the capital of France?")], greedy(), Some(30))
            .text
            .contains("Paris")
    );
}
