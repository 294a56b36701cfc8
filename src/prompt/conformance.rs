//! Compares renderings with those of the reference engine, byte for byte, where the cases are at hand.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{MarkerKind, Markers, Message, Options, Template};
use crate::domain::Role;
use crate::domain::thinking::Thinking;

#[derive(Deserialize)]
struct Cases {
    now: String,
    bos_token: String,
    eos_token: String,
    conversations: Map<String, Value>,
    expected: Map<String, Value>,
}

#[derive(Deserialize)]
struct Given {
    role: Role,
    content: String,
}

fn folder() -> PathBuf {
    std::env::var_os("QUIPU_CONFORMANCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/templates"),
        PathBuf::from,
    )
}

#[test]
fn published_templates_render_as_the_reference_does() {
    let folder = folder();
    let Ok(cases) = std::fs::read_to_string(folder.join("expected.json")) else {
        println!("skipped: no conformance cases in {}", folder.display());
        return;
    };
    let cases: Cases = serde_json::from_str(&cases).unwrap();
    let markers = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<think>"];
    let markers = Markers::new(markers.map(|text| (text, MarkerKind::Control))).unwrap();
    let mut compared = 0;
    let mut differing = Vec::new();
    for (file, expected) in &cases.expected {
        let template = Template::new(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        for (case, expected) in expected.as_object().unwrap() {
            let (name, variant) = case.split_once('+').map_or((case.as_str(), ""), |both| both);
            let given: Vec<Given> = serde_json::from_value(cases.conversations[name].clone()).unwrap();
            let messages: Vec<Message<'_>> = given
                .iter()
                .map(|given| Message::new(given.role, &given.content))
                .collect();
            let options = Options {
                bos_token: cases.bos_token.clone(),
                eos_token: cases.eos_token.clone(),
                thinking: (variant == "nothink").then_some(Thinking::Off),
                ..Options::new(cases.now.parse().unwrap())
            };
            let rendered = template.render(&messages, &markers, &options);
            // Where the reference refuses we may find another way.
            let Some(text) = expected.get("text") else { continue };
            compared += 1;
            let found =
                |message| matches!(&rendered, Ok(r) if r.contents.iter().any(|content| content.message == message));
            match &rendered {
                Ok(rendered) if text == &rendered.text && rendered.cuts.is_empty() => {
                    let missing: Vec<_> = (0..messages.len()).filter(|&index| !found(index)).collect();
                    if !missing.is_empty() {
                        println!("{file} [{case}]: contents not found: {missing:?}");
                    }
                }
                Ok(rendered) => differing.push(format!("{file} [{case}]\n want {text}\n have {:?}", rendered.text)),
                Err(error) => differing.push(format!("{file} [{case}]: {error}")),
            }
        }
    }
    println!("{} of {compared} cases agree", compared - differing.len());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Every published template at hand, with its name.
fn templates() -> Vec<(String, Template)> {
    let Ok(files) = std::fs::read_dir(folder()) else {
        println!("skipped: no templates in {}", folder().display());
        return Vec::new();
    };
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let jinja = paths.filter(|path| path.extension().is_some_and(|ending| ending == "jinja"));
    jinja
        .map(|path| {
            let template = Template::new(&std::fs::read_to_string(&path).unwrap()).unwrap();
            (path.file_name().unwrap().to_string_lossy().into_owned(), template)
        })
        .collect()
}

fn options() -> Options {
    Options {
        bos_token: "<s>".to_owned(),
        eos_token: "</s>".to_owned(),
        thinking_in_content: false,
        ..Options::new("2026-01-15T12:00:00".parse().unwrap())
    }
}

#[test]
fn an_open_answer_is_a_closed_one_cut_short() {
    let said = [
        Message::new(Role::User, "What is it?"),
        Message::new(Role::Assistant, "It is, I believe, a"),
    ];
    let closed = Options {
        add_generation_prompt: false,
        ..options()
    };
    for (name, template) in templates() {
        let Ok(whole) = template.render(&said, &Markers::none(), &closed) else {
            println!("{name} does not end with an answer");
            continue;
        };
        let open = template.render_open(&said, &Markers::none(), &options()).unwrap();
        assert!(open.text.ends_with("It is, I believe, a"), "{name}: {:?}", open.text);
        assert!(
            whole.text.starts_with(&open.text),
            "{name}: {:?} {:?}",
            open.text,
            whole.text
        );
    }
}

#[test]
fn thinking_given_apart_goes_where_the_reference_puts_it() {
    let mut compared = 0;
    for (name, template) in templates()
        .into_iter()
        .filter(|(_, t)| t.source().contains("reasoning_content"))
    {
        let answer = |content, thinking| Message {
            thinking,
            ..Message::new(Role::Assistant, content)
        };
        let said = [
            Message::new(Role::User, "a"),
            answer("b", "because"),
            Message::new(Role::User, "c"),
            answer("d", "so"),
        ];
        let object = |m: &Message<'_>| {
            let mut object = serde_json::json!({ "role": m.role, "content": m.content });
            if !m.thinking.is_empty() {
                object["reasoning_content"] = m.thinking.into();
            }
            object
        };
        let both: [(usize, bool); 2] = [(3, true), (4, false)];
        for (count, add_generation_prompt) in both {
            let options = Options {
                add_generation_prompt,
                ..options()
            };
            let given = serde_json::json!({ "messages": said[..count].iter().map(object).collect::<Vec<_>>() });
            let Ok(reference) = template.render_json(&given, &options) else {
                continue;
            };
            let rendered = template.render(&said[..count], &Markers::none(), &options).unwrap();
            assert_eq!(rendered.text, reference.text, "{name}");
            compared += 1;
        }
    }
    println!("{compared} prompts agree");
}
