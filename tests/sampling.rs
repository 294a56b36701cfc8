//! Ring 7: the real engine and everything that decides which token is said.

use std::collections::HashSet;

use pretty_assertions::assert_eq;
use quipu::domain::Sampling;
use quipu::domain::inference::{
    Command, Event, FailureKind, Finish, GenerateRequest, LoadOptions, PromptRequest, Report, Token,
};
use quipu::domain::sampling::{Grammar, GrammarForm, PARAMETERS, Parameter, Seed, Stage};

use crate::engine::{Talk, cria, greedy, user};
use crate::gguf;

const CAPITAL: &str = "What is the capital of France?";
const STORY: &str = "Tell me a story about a llama.";

/// The default settings under a seed, with these changed.
fn settings(changes: &[(&str, &str)]) -> Sampling {
    let mut sampling = Sampling {
        seed: Seed::Fixed(11),
        ..Sampling::default()
    };
    for (name, value) in changes {
        Parameter::find(name).unwrap().set(&mut sampling, value).unwrap();
    }
    sampling
}

fn formed(form: GrammarForm, text: &str) -> Sampling {
    Sampling {
        grammar: Some(Grammar {
            name: "test.gbnf".to_owned(),
            form,
            text: text.to_owned(),
        }),
        ..settings(&[])
    }
}

fn said(sampling: Sampling, question: &str) -> (String, Finish) {
    let answer = Talk::with_cria().ask(&[user(question)], sampling, Some(160));
    (answer.text, answer.finish)
}

fn failure(sampling: Sampling) -> (FailureKind, String) {
    let mut talk = Talk::with_cria();
    talk.begin(&[user(CAPITAL)], sampling, Some(10));
    loop {
        match talk.event() {
            Event::Failed { failure, .. } => return (failure.kind, failure.message),
            Event::Prompted { .. } | Event::Prefill { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_grammar_is_followed_to_its_end() {
    let (text, finish) = said(formed(GrammarForm::Gbnf, "root ::= \"yes\" | \"no\""), CAPITAL);
    assert!(text == "yes" || text == "no", "{text}");
    assert_eq!(finish, Finish::EndOfTurn);
    let (text, _) = said(formed(GrammarForm::Gbnf, "root ::= [1-9] [0-9]? \" llamas.\""), STORY);
    let number = text.strip_suffix(" llamas.").expect("as the grammar has it");
    assert!(number.parse::<u8>().is_ok_and(|n| n < 100), "{text}");
}

#[test]
fn a_schema_makes_json() {
    let schema = r#"{"type":"object","properties":{"capital":{"type":"string","maxLength":12},"known":{"type":"boolean"}},
        "required":["capital","known"],"additionalProperties":false}"#;
    let (text, finish) = said(formed(GrammarForm::JsonSchema, schema), CAPITAL);
    assert_eq!(finish, Finish::EndOfTurn, "{text}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(json["capital"].is_string() && json["known"].is_boolean(), "{json}");
}

#[test]
fn what_is_no_grammar_is_named() {
    let deep = format!("root ::= {}", "(".repeat(1 << 20));
    for (form, text, why) in [
        (
            GrammarForm::Gbnf,
            "root ::= a\na ::= \"unfinished",
            "line 2: expected a closing quote for the text",
        ),
        (GrammarForm::Gbnf, "root ::= root \"x\"", "left recursion"),
        // Deep enough to overflow the stack of a parser that recurses.
        (GrammarForm::Gbnf, &deep, "groups within each other"),
        (GrammarForm::JsonSchema, "[]", "an object in braces"),
        (GrammarForm::JsonSchema, r##"{"$ref":"#"}"##, "cannot be used"),
        (
            GrammarForm::JsonSchema,
            r##"{"allOf":[{"$ref":"#"}]}"##,
            "cannot be used",
        ),
        (GrammarForm::Gbnf, "answer ::= \"yes\"", "no rule 'root"),
        (GrammarForm::Gbnf, "root ::= nothing", "there is no rule 'nothing'"),
        (GrammarForm::Gbnf, "", "no rule 'root"),
        (GrammarForm::JsonSchema, "{", "no JSON"),
        (GrammarForm::JsonSchema, r#"{"type":"nonsense"}"#, "llama.cpp"),
        (GrammarForm::JsonSchema, r##"{"$ref":"#/nowhere"}"##, "llama.cpp"),
    ] {
        let (kind, words) = failure(formed(form, text));
        assert_eq!(kind, FailureKind::Grammar, "{words}");
        assert!(words.contains("'test.gbnf'") && words.contains(why), "{text}: {words}");
    }
}

#[test]
fn a_stop_text_ends_the_answer_and_is_no_part_of_it() {
    let (whole, _) = said(greedy(), CAPITAL);
    assert_eq!(whole, "The capital of France is Paris.");
    let stop = |texts: &str| {
        let mut sampling = greedy();
        Parameter::find("stop").unwrap().set(&mut sampling, texts).unwrap();
        said(sampling, CAPITAL)
    };
    assert_eq!(
        stop("nce is,zebra"),
        ("The capital of Fra".to_owned(), Finish::StopText)
    );
    assert_eq!(stop("The"), (String::new(), Finish::StopText));
    // What only looked like the beginning of a stop comes out in the end.
    assert_eq!(stop("Paris. And"), (whole, Finish::EndOfTurn));
}

#[test]
fn banned_and_favoured_tokens() {
    let mut talk = Talk::with_cria();
    let plain = talk.ask(&[user(CAPITAL)], greedy(), Some(60));
    let paris = plain.tokens[plain.tokens.len() - 2];
    let mut ban = greedy();
    Parameter::find("logit-bias")
        .unwrap()
        .set(&mut ban, &format!("#{}=-inf", paris.0))
        .unwrap();
    let other = talk.ask(&[user(CAPITAL)], ban, Some(60));
    assert!(!other.tokens.contains(&paris), "{}", other.text);
    let mut push = greedy();
    Parameter::find("logit-bias")
        .unwrap()
        .set(&mut push, &format!("#{}=100", paris.0))
        .unwrap();
    let always = talk.ask(&[user(CAPITAL)], push, Some(5));
    assert_eq!(always.tokens, [paris; 5]);
    for (bad, why) in [
        ("#99999=1", "ends at '#4095'"),
        ("no single token at all=1", "tokens in this model's"),
    ] {
        let (kind, words) = failure(settings(&[("logit-bias", bad)]));
        assert!(kind == FailureKind::Grammar && words.contains(why), "{words}");
    }
}

#[test]
fn a_model_kept_from_ending_goes_on() {
    let (_, finish) = said(settings(&[("ignore-eos", "on")]), CAPITAL);
    assert_eq!(finish, Finish::MaxTokens);
}

#[test]
fn every_way_to_draw_draws_the_same_under_the_same_seed() {
    let ways: [&[(&str, &str)]; 5] = [
        &[("mirostat", "1")],
        &[("mirostat", "2"), ("mirostat-tau", "3")],
        &[("adaptive-target", "0.5"), ("adaptive-decay", "0.5")],
        &[("stages", "temperature,top-p"), ("temperature", "1.5")],
        &[
            ("dry", "0.8"),
            ("dry-breakers", "off"),
            ("repeat", "1.1"),
            ("xtc", "0.5"),
        ],
    ];
    let mut all = HashSet::new();
    for way in ways {
        let ask = || Talk::with_cria().ask(&[user(STORY)], settings(way), Some(40)).tokens;
        let tokens = ask();
        assert_eq!(tokens, ask(), "{way:?}");
        all.insert(tokens);
    }
    assert!(all.len() >= 4, "each way goes its own way");
}

/// All reports of an answer under these settings.
fn reports(sampling: Sampling) -> Vec<(Token, Report)> {
    let mut talk = Talk::with_cria();
    let turn = talk.next_turn();
    let request = GenerateRequest {
        prompt: PromptRequest {
            messages: vec![user(STORY)],
            max_tokens: Some(30),
            ..PromptRequest::default()
        },
        sampling,
        report: true,
        ..GenerateRequest::default()
    };
    talk.tell(Command::Generate { turn, request });
    let mut reports = Vec::new();
    talk.rest(|_, said| {
        let report = said.report.clone().map(|report| *report);
        reports.extend(said.token.zip(report));
    });
    reports
}

#[test]
fn a_report_tells_what_a_token_was_drawn_from() {
    let reports = reports(settings(&[("temperature", "1.2")]));
    assert!(reports.len() > 10);
    for (token, report) in &reports {
        assert_eq!(
            report.kept.iter().map(|(stage, _)| *stage).collect::<Vec<_>>(),
            [Stage::TopK, Stage::TopP, Stage::MinP, Stage::Temperature]
        );
        assert_eq!(report.kept[0].1, 40);
        assert!(report.kept.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{report:?}");
        let kept = report.kept.last().unwrap().1 as usize;
        let own = report.candidates.iter().find(|c| c.token == *token).expect("itself");
        assert_eq!(
            (own.before, own.after, own.removed),
            (report.probability, Some(report.after), None)
        );
        let tops = &report.candidates[..10];
        assert!(
            tops.windows(2)
                .all(|pair| pair[0].logit >= pair[1].logit && pair[0].before >= pair[1].before)
        );
        assert!(tops.iter().map(|c| c.before).sum::<f32>() <= 1.0001);
        assert_eq!(
            tops.iter().filter(|c| c.removed.is_none()).count(),
            kept.min(10),
            "{report:?}"
        );
        let share: f32 = tops.iter().filter_map(|c| c.after).sum();
        assert!(
            if kept <= 10 {
                (share - 1.0).abs() < 1e-3
            } else {
                share < 1.001
            },
            "{share} {kept}"
        );
        assert!(report.entropy >= 0.0 && report.entropy <= 12.0);
        let likelier = tops.iter().filter(|c| c.logit > own.logit).count() as u32;
        assert!(
            report.rank == likelier || (likelier == 10 && report.rank >= 10),
            "{report:?}"
        );
        assert!(!own.text.is_empty() || own.before > 0.0);
    }
}

#[test]
fn a_greedy_report_is_certain() {
    for (_, report) in reports(greedy()) {
        assert_eq!((report.after, report.rank), (1.0, 0));
        assert_eq!(report.candidates.iter().filter(|c| c.after.is_some()).count(), 1);
    }
}

#[test]
fn a_report_changes_nothing() {
    let told: Vec<_> = reports(settings(&[])).into_iter().map(|(token, _)| token).collect();
    let untold = Talk::with_cria().ask(&[user(STORY)], settings(&[]), Some(30)).tokens;
    assert_eq!(told, untold);
}

#[test]
fn what_cannot_be_followed_is_noted_and_the_answer_goes_on() {
    let mut talk = Talk::with_cria();
    talk.begin(&[user(STORY)], settings(&[]), Some(40));
    let mut tuned = false;
    let mut noted = None;
    loop {
        match talk.event() {
            Event::Token { .. } if !tuned => {
                tuned = true;
                talk.tell(Command::Tune(settings(&[("logit-bias", "#99999=1")])));
            }
            Event::Noted { words, .. } => noted = Some(words),
            Event::Finished { .. } => break,
            Event::Failed { failure, .. } => panic!("{failure}"),
            _ => {}
        }
    }
    assert!(noted.is_some_and(|words| words.contains("#99999")));
}

#[test]
fn every_parameter_reaches_the_draw_or_the_answer_unchanged() {
    // Each row set alone from its text gives settings that differ in that row only, and the engine takes them.
    for p in PARAMETERS {
        let text = match p.name {
            "stages" => "top-k,temperature",
            "logit-bias" => "#5=-1",
            "stop" => "zebra",
            "dry-breakers" => "x,y",
            "ignore-eos" => "true",
            "mirostat" => "2",
            _ => "0.5",
        };
        let mut sampling = settings(&[]);
        if p.set(&mut sampling, text).is_err() {
            p.set(&mut sampling, "3").unwrap();
        }
        let changed: Vec<_> = sampling.differences(&settings(&[])).map(|p| p.name).collect();
        assert_eq!(changed, [p.name]);
        Talk::with_cria().ask(&[user(CAPITAL)], sampling, Some(3));
    }
}

#[test]
fn what_a_model_recommends_is_read_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("advice.gguf");
    let mut file = gguf::tiny_qwen2(&cria(), 0, 1);
    file.set("general.sampling.temp", gguf::Meta::F32(0.6))
        .set("general.sampling.top_k", gguf::Meta::U32(20))
        .set("general.sampling.sequence", gguf::text("top_k;temperature"))
        .set("general.sampling.top_p", gguf::Meta::F32(7.5));
    file.write(&path);
    let talk = Talk::load(&path, LoadOptions::default());
    let expected = [("stages", "top-k,temperature"), ("temperature", "0.6"), ("top-k", "20")];
    assert_eq!(
        talk.model.recommended,
        expected.map(|(name, value)| (name, value.to_owned()))
    );
    let unused = "what the model recommends is not used: '7.5' is no value for top-p: give a number from 0 to 1";
    assert!(
        talk.model.warnings.iter().any(|warning| warning == unused),
        "{:?}",
        talk.model.warnings
    );
}
