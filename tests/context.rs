//! Ring 7: the real engine and its context: what is kept of it, how it is left when it is full, what is laid over a model.

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use quipu::domain::inference::{ChatMessage, Command, Event, FailureKind, Finish, LoadOptions, Overflow};
use quipu::domain::inference::{ModelSource, Window};
use quipu::domain::load_option::LoadOption;
use quipu::domain::loading::{Adapter, CacheType, FlashAttention, TemplateChoice};
use quipu::domain::sampling::{Parameter, Seed};
use quipu::domain::{Role, Sampling};

use crate::engine::{Answer, Talk, cria, greedy, user};
use crate::{gguf, shapes};

const CAPITAL: &str = "What is the capital of France?";

fn says(role: Role, content: &str) -> ChatMessage {
    ChatMessage { role, ..user(content) }
}

fn answered(answer: &Answer) -> ChatMessage {
    ChatMessage {
        tokens: Some(answer.tokens.clone()),
        ..says(Role::Assistant, &answer.text)
    }
}

/// What the engine says when it is to load this.
fn refusal(path: &Path, options: LoadOptions) -> String {
    let mut talk = Talk::with_cria();
    let turn = talk.next_turn();
    let source = ModelSource {
        notice: None,
        path: path.to_owned(),
        builtin: false,
    };
    talk.tell(Command::Load { turn, source, options });
    loop {
        match talk.event() {
            Event::Loading { .. } => {}
            Event::Failed { failure, .. } => return failure.message,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_way_to_keep_the_context_answers() {
    for kind in CacheType::ALL {
        let options = LoadOptions {
            cache_type_k: kind,
            cache_type_v: kind,
            ..LoadOptions::default()
        };
        let answer = Talk::load(&cria(), options).ask(&[user(CAPITAL)], greedy(), Some(30));
        assert!(answer.text.contains("Paris"), "{}: {}", kind.name(), answer.text);
    }
    for options in [
        LoadOptions {
            flash_attention: FlashAttention::Off,
            mmap: false,
            ..LoadOptions::default()
        },
        LoadOptions {
            flash_attention: FlashAttention::On,
            kv_offload: false,
            ..LoadOptions::default()
        },
    ] {
        let answer = Talk::load(&cria(), options).ask(&[user(CAPITAL)], greedy(), Some(30));
        assert!(answer.text.contains("Paris"), "{}", answer.text);
    }
}

#[test]
fn options_that_contradict_each_other_are_refused_by_name() {
    let words = refusal(
        &cria(),
        LoadOptions {
            cache_type_v: CacheType::Q8_0,
            flash_attention: FlashAttention::Off,
            ..LoadOptions::default()
        },
    );
    assert!(
        words.contains("--cache-type-v q8_0") && words.contains("--flash-attention off"),
        "{words}"
    );
    let words = refusal(
        &cria(),
        LoadOptions {
            devices: vec!["Vulkan9".to_owned()],
            ..LoadOptions::default()
        },
    );
    assert!(words.contains("'Vulkan9'"), "{words}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("narrow.gguf");
    gguf::tiny_qwen2(&cria(), 0, 1).write(&path);
    let words = refusal(
        &path,
        LoadOptions {
            cache_type_k: CacheType::Q4_0,
            ..LoadOptions::default()
        },
    );
    assert!(
        words.contains("16 numbers") && words.contains("--cache-type-k f16"),
        "{words}"
    );
}

/// A context of 256 tokens and a conversation that outgrows it.
fn crowded(overflow: Overflow) -> (Talk, Vec<ChatMessage>) {
    let options = LoadOptions {
        context: Some(256),
        ..LoadOptions::default()
    };
    let mut talk = Talk::load(&cria(), options);
    talk.overflow = overflow;
    let mut said = vec![says(Role::System, "Answer in one sentence.")];
    for city in ["Rome", "Oslo", "Lima", "Bern", "Riga", "Kyiv", "Baku", "Doha"] {
        said.push(user(&format!(
            "Tell me something about {city}, please, it interests me a lot."
        )));
        said.push(says(
            Role::Assistant,
            "It is a city that many people like to visit in summer and in winter.",
        ));
    }
    said.push(user(CAPITAL));
    (talk, said)
}

#[test]
fn the_oldest_turns_go_and_the_system_prompt_stays() {
    let (mut talk, mut said) = crowded(Overflow::DropOldest);
    let answer = talk.ask(&said, greedy(), Some(30));
    assert!(answer.text.contains("Paris"), "{}", answer.text);
    let Window {
        left_out,
        whole,
        inside,
        context,
    } = answer.window.expect("told before the prompt was read");
    assert!(left_out > 0 && left_out % 2 == 0, "whole turns: {left_out}");
    assert!(whole > context && inside <= context / 2, "{whole} {inside} {context}");
    assert_eq!(answer.stats.prompt_tokens, inside);
    let view = talk.render(&said);
    assert_eq!(view.window.left_out, left_out);
    let text: String = view.tokens.iter().map(|t| t.text.as_str()).collect();
    assert!(
        text.contains("Answer in one sentence.") && text.contains(CAPITAL),
        "{text}"
    );
    assert!(!text.contains("Rome"), "{text}");

    // The window stays where it is while it can, so that the next turn reads only what is new.
    said.push(answered(&answer));
    said.push(user("And of Spain?"));
    let next = talk.ask(&said, greedy(), Some(30));
    assert_eq!(next.window.map(|window| window.left_out), Some(left_out));
    assert_eq!(next.stats.reused_tokens, inside + answer.stats.generated);
}

#[test]
fn a_conversation_that_must_not_be_cut_is_refused_with_the_way_out() {
    let (mut talk, said) = crowded(Overflow::Stop);
    talk.begin(&said, greedy(), None);
    match talk.event() {
        Event::Failed { failure, .. } => {
            assert_eq!(failure.kind, FailureKind::TooLong);
            assert!(failure.message.contains("/overflow drop-oldest"), "{failure}");
        }
        other => panic!("{other:?}"),
    }
    let (mut talk, _) = crowded(Overflow::DropOldest);
    talk.begin(&[user(&"word ".repeat(600))], greedy(), None);
    match talk.event() {
        Event::Failed { failure, .. } => assert!(failure.message.contains("this message alone"), "{failure}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_shift_lets_an_answer_outgrow_the_context() {
    let (mut talk, _) = crowded(Overflow::Shift);
    let mut sampling = Sampling {
        temperature: 5.0,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        seed: Seed::Fixed(1),
        ..Sampling::default()
    };
    // Nothing but the limit ends it.
    let bias = Parameter::find("logit-bias").unwrap();
    bias.set(&mut sampling, "#0=-inf,#2=-inf").unwrap();
    let said = [says(Role::System, "Talk."), user("Tell me a story about a llama.")];
    let answer = talk.ask(&said, sampling, Some(400));
    assert_ne!(answer.finish, Finish::ContextFull);
    assert!(answer.stats.generated > 256, "{:?}", answer.stats);
    assert!(!answer.shifts.is_empty());
    for (keep, discard) in &answer.shifts {
        assert!(*keep > 0 && *discard > 0 && keep + discard <= 256, "{keep} {discard}");
    }
    assert!(answer.stats.context_used <= 256);

    // What was computed behind a shift saw tokens that are gone: of it nothing is reused, and the answer is the same as ever.
    let capital = [says(Role::System, "Talk."), user(CAPITAL)];
    let after = talk.ask(&capital, greedy(), Some(30));
    let (mut fresh, _) = crowded(Overflow::Stop);
    assert_eq!(after.tokens, fresh.ask(&capital, greedy(), Some(30)).tokens);
}

#[test]
fn a_context_that_runs_out_is_told_before_it_does() {
    let (mut talk, said) = crowded(Overflow::DropOldest);
    // Just short of the context, so that the answer fits and the next turn hardly does.
    let mut part = said[..1].to_vec();
    for pair in said[1..].chunks(2) {
        let with = [part.as_slice(), pair, &[user(CAPITAL)]].concat();
        if talk.render(&with).window.whole > 240 {
            break;
        }
        part.extend_from_slice(pair);
    }
    let mut question = CAPITAL.to_owned();
    while talk
        .render(&[part.as_slice(), &[user(&question)]].concat())
        .window
        .whole
        < 238
    {
        question += " Please.";
    }
    part.push(user(&question));
    talk.overflow = Overflow::Stop;
    let answer = talk.ask(&part, greedy(), Some(30));
    let forecast = answer.forecast.expect("told with the end of the answer");
    assert!(forecast.whole > 224 && forecast.left_out == 0, "{forecast:?}");
    talk.overflow = Overflow::DropOldest;
    let forecast = talk.ask(&part, greedy(), Some(30)).forecast.expect("told again");
    assert!(forecast.left_out > 0, "{forecast:?}");
}

#[test]
fn a_recurrent_model_goes_back_to_the_end_of_a_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mamba.gguf");
    shapes::mamba(&cria(), 3).write(&path);
    let draws = || Sampling {
        seed: Seed::Fixed(4),
        ..Sampling::default()
    };
    let fresh = |said: &[ChatMessage]| Talk::load(&path, LoadOptions::default()).ask(said, draws(), Some(20));
    let mut talk = Talk::load(&path, LoadOptions::default());
    let said = vec![user("One two three four five six seven.")];
    let first = talk.ask(&said, draws(), Some(20));
    assert_eq!(first.tokens, fresh(&said).tokens);

    // Another version: all but the last token of the prompt is there.
    let again = talk.ask(&said, draws(), Some(20));
    assert_eq!(again.tokens, first.tokens);
    assert_eq!(again.stats.reused_tokens, first.stats.prompt_tokens - 1);

    // The next turn goes on from the state itself.
    let next = [said.clone(), vec![answered(&again), user("And eight?")]].concat();
    let second = talk.ask(&next, draws(), Some(20));
    assert_eq!(
        second.stats.reused_tokens,
        again.stats.prompt_tokens + again.stats.generated - 1
    );
    assert_eq!(second.tokens, fresh(&next).tokens);

    // An edit of the last message goes back to a checkpoint before it, and an old branch to its own.
    let edited = [said.clone(), vec![answered(&again), user("And nine, then?")]].concat();
    let third = talk.ask(&edited, draws(), Some(20));
    assert!(
        third.stats.reused_tokens >= first.stats.prompt_tokens - 1,
        "{:?}",
        third.stats
    );
    assert_eq!(third.tokens, fresh(&edited).tokens);
    let back = talk.ask(&said, draws(), Some(20));
    assert_eq!(
        (back.tokens, back.stats.reused_tokens),
        (first.tokens, first.stats.prompt_tokens - 1)
    );
}

fn written(folder: &Path, name: &str, file: &gguf::Gguf) -> PathBuf {
    let path = folder.join(name);
    file.write(&path);
    path
}

fn with(path: PathBuf, scale: f32) -> Vec<Adapter> {
    vec![Adapter { path, scale }]
}

#[test]
fn a_lora_changes_what_is_said_as_much_as_its_scale() {
    let folder = tempfile::tempdir().unwrap();
    let lora = written(folder.path(), "lora.gguf", &shapes::lora("llama", CRIA_WIDTH, 5));
    let ask = |lora: Vec<Adapter>| {
        let options = LoadOptions {
            lora,
            ..LoadOptions::default()
        };
        let answer = Talk::load(&cria(), options).ask(&[user(CAPITAL)], greedy(), Some(30));
        answer.tokens
    };
    let plain = ask(Vec::new());
    assert_eq!(ask(with(lora.clone(), 0.0)), plain);
    assert_ne!(ask(with(lora.clone(), 1.0)), plain);
    let both = [with(lora.clone(), 1.0), with(lora, -1.0)].concat();
    assert_eq!(ask(both), plain, "two that undo each other");
}

#[test]
fn a_control_vector_steers_and_a_wrong_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let right = written(folder.path(), "right.gguf", &shapes::control_vector(CRIA_WIDTH, 1000.0));
    let wrong = written(
        folder.path(),
        "wrong.gguf",
        &shapes::control_vector(CRIA_WIDTH + 1, 3.0),
    );
    let options = |control_vectors| LoadOptions {
        control_vectors,
        ..LoadOptions::default()
    };
    let ask = |vectors| {
        let answer = Talk::load(&cria(), options(vectors)).ask(&[user(CAPITAL)], greedy(), Some(30));
        answer.tokens
    };
    let plain = ask(Vec::new());
    assert_ne!(ask(with(right.clone(), 1.0)), plain);
    assert_eq!(ask(with(right.clone(), 0.0)), plain);
    let beyond = LoadOptions {
        control_vector_layers: Some((3, 9)),
        ..options(with(right, 1.0))
    };
    let answer = Talk::load(&cria(), beyond).ask(&[user(CAPITAL)], greedy(), Some(30));
    assert_eq!(answer.tokens, plain, "no direction for these layers");
    let words = refusal(&cria(), options(with(wrong, 1.0)));
    assert!(
        words.contains("wrong.gguf") && words.contains("another model"),
        "{words}"
    );
}

#[test]
fn what_is_no_adapter_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = written(folder.path(), "foreign.gguf", &shapes::lora("qwen2", CRIA_WIDTH, 5));
    let narrow = written(folder.path(), "narrow.gguf", &shapes::lora("llama", CRIA_WIDTH / 2, 5));
    let words = |path: PathBuf| {
        let lora = with(path, 1.0);
        refusal(
            &cria(),
            LoadOptions {
                lora,
                ..LoadOptions::default()
            },
        )
    };
    let told = words(foreign);
    assert!(told.contains("foreign.gguf") && told.contains("'qwen2'"), "{told}");
    let told = words(narrow);
    assert!(told.contains("narrow.gguf"), "{told}");
    let told = words(cria());
    assert!(told.contains("not an adapter"), "{told}");
    let told = words(folder.path().join("nothing.gguf"));
    assert!(
        told.contains("nothing.gguf") && told.contains("does not exist"),
        "{told}"
    );
}

#[test]
fn a_template_is_taken_by_name_from_a_file_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loud.jinja");
    std::fs::write(&file, "{% for m in messages %}{{ m.content | upper }}{% endfor %}").unwrap();
    let named = |name: &str| LoadOptions {
        template: Some(TemplateChoice::Named(name.to_owned())),
        ..LoadOptions::default()
    };
    let text = |options| {
        let mut talk = Talk::load(&cria(), options);
        let view = talk.render(&[user("hello")]);
        let text: String = view.tokens.iter().map(|t| t.text.as_str()).collect();
        (talk.model.template, text)
    };
    let (words, shown) = text(named("zephyr"));
    assert!(
        words.contains("'zephyr'") && shown.contains("<|user|>"),
        "{words} {shown}"
    );
    let (words, shown) = text(named(file.to_str().unwrap()));
    assert!(
        words.contains("loud.jinja") && shown.contains("HELLO"),
        "{words} {shown}"
    );
    let words = refusal(&cria(), named("zephir"));
    assert!(words.contains("'zephir'") && words.contains("zephyr"), "{words}");
}

/// cria's embedding length.
const CRIA_WIDTH: u64 = 256;

#[test]
fn a_replaced_value_counts_and_a_wrong_one_is_named() {
    let load = |overrides: &str| {
        let mut options = LoadOptions::default();
        let option = LoadOption::find("override-kv").unwrap();
        option.set(&mut options, overrides).unwrap();
        options
    };
    // What the model thinks it was trained on.
    let talk = Talk::load(&cria(), load("llama.context_length=int:512"));
    assert_eq!((talk.model.context_trained, talk.model.context), (512, 512));
    // What llama.cpp is given: without the rotation's base it computes something else.
    let logits = |overrides| {
        let mut talk = Talk::load(&cria(), load(overrides));
        talk.ask(&[user("Tell me a story.")], greedy(), Some(30)).tokens
    };
    assert_ne!(logits("llama.rope.freq_base=float:10"), logits(""));
    for (overrides, words) in [
        (
            "llama.context_length=str:long",
            "'llama.context_length' has the wrong type",
        ),
        ("llama.attention.head_count=int:7", "'llama.attention.head_count'"),
        ("llama.block_count=int:0", "'llama.block_count'"),
        ("tokenizer.ggml.tokens=str:x", "a list, which cannot be replaced"),
        ("tokenizer.ggml.pre=str:perhaps", "'perhaps'"),
    ] {
        let failure = refusal(&cria(), load(overrides));
        assert!(failure.contains(words), "{overrides}: {failure}");
    }
}
