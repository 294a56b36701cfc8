//! Ring 5: thinking, answers that start with a given text, and answers that go on, through the real engine. The built-in model does
//! not think; a template that opens thinking makes it, and what it says there is thinking until something ends it.

use pretty_assertions::assert_eq;
use quipu::domain::inference::{ChatMessage, Command, Finish, LoadOptions, Part, Thinking};
use quipu::domain::loading::TemplateChoice;
use quipu::domain::sampling::{Grammar, GrammarForm, Parameter};
use quipu::domain::{Role, Sampling};

use crate::engine::{Answer, Talk, cria, greedy, user};

const CAPITAL: &str = "What is the capital of France?";

/// ChatML as models have it that think: every answer is begun with an open tag, unless it is switched off; thinking stays in the
/// prompt only in the last message.
const THINKS: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if loop.last and m.reasoning_content %}<think>\n{{ \
                      m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content | trim }}<|im_end|>\n{% endfor %}{% if \
                      add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is defined and not enable_thinking \
                      %}<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}{% endif %}";

fn thinker() -> Talk {
    let options = LoadOptions {
        template: Some(TemplateChoice::Source(THINKS.to_owned())),
        ..LoadOptions::default()
    };
    Talk::load(&cria(), options)
}

fn text(talk: &mut Talk, messages: &[ChatMessage]) -> String {
    talk.render(messages)
        .tokens
        .into_iter()
        .map(|token| token.text)
        .collect()
}

/// The answer as a message of the next prompt.
fn answered(answer: &Answer) -> ChatMessage {
    ChatMessage {
        thinking: answer.thinking.clone(),
        tokens: Some(answer.tokens.clone()),
        ..ChatMessage::new(Role::Assistant, &answer.text)
    }
}

#[test]
fn a_budget_ends_the_thinking_and_the_answer_follows() {
    let mut talk = thinker();
    talk.thinking_budget = Some(4);
    let answer = talk.ask(&[user(CAPITAL)], greedy(), Some(40));
    assert!(!answer.thinking.is_empty() && !answer.text.is_empty(), "{answer:?}");
    // The budget, and the tag that ends it.
    let tag = answer.stats.thinking_tokens - 4;
    assert!((1..12).contains(&tag), "{tag} tokens end it");
    assert!(answer.stats.generated > answer.stats.thinking_tokens);
    assert!(answer.stats.thinking <= answer.stats.prefill + answer.stats.decode + answer.stats.first_token);
    talk.thinking_budget = Some(0);
    let none = talk.ask(&[user(CAPITAL)], greedy(), Some(40));
    assert_eq!((none.thinking.as_str(), none.stats.thinking_tokens), ("", tag));
}

#[test]
fn a_command_ends_the_thinking_of_its_own_turn_only() {
    let mut talk = thinker();
    let turn = talk.begin(&[user("Tell me a story.")], greedy(), Some(60));
    let mut told = 0;
    let answer = talk.rest(|engine, said| {
        if said.part == Part::Thinking {
            told += 1;
            if told == 3 {
                engine.commands.send(Command::EndThinking { turn }).unwrap();
            }
        }
    });
    assert!(
        !answer.text.is_empty() && answer.stats.thinking_tokens < 60,
        "{answer:?}"
    );
    // A late word about that turn ends nothing in the next.
    talk.tell(Command::EndThinking { turn });
    // Nothing but the limit ends it.
    let mut sampling = greedy();
    let bias = Parameter::find("logit-bias").unwrap();
    bias.set(&mut sampling, "#0=-inf,#2=-inf").unwrap();
    talk.begin(&[user("Tell me a story.")], sampling, Some(20));
    let late = talk.rest(|engine, said| {
        if said.token.is_some() {
            engine.commands.send(Command::EndThinking { turn }).unwrap();
        }
    });
    assert_eq!((late.text.as_str(), late.stats.thinking_tokens), ("", 20));
}

#[test]
fn it_is_switched_by_the_template_and_kept_out_of_the_next_prompt() {
    let mut talk = thinker();
    assert!(talk.model.thinking.switch && !talk.model.thinking.effort);
    talk.thinking = Some(Thinking::Off);
    let plain = talk.ask(&[user(CAPITAL)], greedy(), Some(40));
    assert_eq!((plain.thinking.as_str(), plain.stats.thinking_tokens), ("", 0));
    talk.thinking = None;
    talk.thinking_budget = Some(5);
    let answer = talk.ask(&[user(CAPITAL)], greedy(), Some(40));
    let next = text(&mut talk, &[user(CAPITAL), answered(&answer), user("And of Italy?")]);
    let text = &answer.text.trim();
    assert_eq!(
        next,
        format!(
            "<|im_start|>user\n{CAPITAL}<|im_end|>\n<|im_start|>assistant\n{text}<|im_end|>\n<|im_start|>user\nAnd of \
             Italy?<|im_end|>\n<|im_start|>assistant\n<think>\n"
        )
    );
    assert!(!Talk::with_cria().model.thinking.switch);
}

#[test]
fn thinking_needs_no_form_and_the_answer_has_it() {
    let mut talk = thinker();
    talk.thinking_budget = Some(8);
    let sampling = Sampling {
        grammar: Some(Grammar {
            name: "yes".to_owned(),
            form: GrammarForm::Gbnf,
            text: "root ::= \"Yes, sir.\"".to_owned(),
        }),
        ..greedy()
    };
    let answer = talk.ask(&[user(CAPITAL)], sampling, Some(60));
    assert_eq!((answer.text.as_str(), answer.finish), ("Yes, sir.", Finish::EndOfTurn));
    assert!(!answer.thinking.is_empty());
}

#[test]
fn stop_texts_count_in_the_answer_only() {
    let mut talk = thinker();
    talk.thinking_budget = Some(8);
    // Without an end it says enough to have a letter of its thinking in it.
    let endless = Sampling {
        ignore_eos: true,
        ..greedy()
    };
    let free = talk.ask(&[user(CAPITAL)], endless.clone(), Some(40));
    let letter = free
        .thinking
        .chars()
        .find(|c| free.text.contains(*c) && c.is_alphabetic())
        .unwrap();
    let sampling = Sampling {
        stop: vec![letter.to_string()],
        ..endless
    };
    let stopped = talk.ask(&[user(CAPITAL)], sampling, Some(40));
    assert_eq!(stopped.thinking, free.thinking);
    assert_eq!(
        (stopped.finish, free.text.split(letter).next().unwrap()),
        (Finish::StopText, stopped.text.as_str())
    );
}

#[test]
fn an_answer_starts_with_a_given_text_and_no_tag_between() {
    let mut talk = Talk::with_cria();
    for opening in ["The capital of France is", "Blanks stay  \n"] {
        talk.opening.text = opening.to_owned();
        let prompt = text(&mut talk, &[user(CAPITAL)]);
        assert!(
            prompt.ends_with(&format!("<|im_start|>assistant\n{opening}")),
            "{prompt:?}"
        );
    }
    talk.opening.text = "The capital of France is".to_owned();
    let answer = talk.ask(&[user(CAPITAL)], greedy(), Some(20));
    assert!(answer.text.starts_with(" Paris"), "{answer:?}");
    // What opens an answer is text, whatever it spells.
    talk.opening.text = "<|im_end|>".to_owned();
    let ids = talk.render(&[user(CAPITAL)]).tokens;
    let ends = ids
        .iter()
        .filter(|token| token.control && token.text == "<|im_end|>")
        .count();
    let other = talk.render(&[user(CAPITAL)]).tokens;
    assert_eq!(
        ends,
        other
            .iter()
            .filter(|token| token.control && token.text == "<|im_end|>")
            .count()
    );
    // A model that always thinks does not where its answer is begun already.
    let mut talk = thinker();
    talk.opening.text = "Paris".to_owned();
    let answer = talk.ask(&[user(CAPITAL)], greedy(), Some(5));
    assert_eq!(answer.stats.thinking_tokens, 0);
}

#[test]
fn an_answer_that_stopped_goes_on_as_if_it_had_not() {
    let question = [user("Tell me a story.")];
    let whole = Talk::with_cria().ask(&question, greedy(), Some(48));
    for at in [1, 7, 24] {
        let mut talk = Talk::with_cria();
        let first = talk.ask(&question, greedy(), Some(at));
        talk.opening.said = first.tokens.clone();
        let rest = talk.ask(&question, greedy(), Some(48 - at));
        let (thinking, text) = rest.resumed.clone().unwrap();
        assert_eq!(
            (thinking.as_str(), format!("{text}{}", rest.text)),
            ("", whole.text.clone())
        );
        assert_eq!([first.tokens, rest.tokens].concat(), whole.tokens);
        assert!(
            rest.stats.prompt_tokens - rest.stats.reused_tokens <= 1,
            "nothing is read again"
        );
    }
    // In the middle of the thinking, whose budget counts on.
    let mut talk = thinker();
    talk.thinking_budget = Some(12);
    let whole = talk.ask(&question, greedy(), Some(40));
    let first = talk.ask(&question, greedy(), Some(6));
    assert_eq!(first.text, "");
    talk.opening.said = first.tokens.clone();
    let rest = talk.ask(&question, greedy(), Some(34));
    let (thinking, text) = rest.resumed.clone().unwrap();
    assert_eq!(text, "");
    assert_eq!(
        (format!("{thinking}{}", rest.thinking), &rest.text),
        (whole.thinking, &whole.text)
    );
}
