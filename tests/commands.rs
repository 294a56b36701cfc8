//! Ring 6: commands without a screen, as the program itself carries them out.

use std::fs;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;

const MESSAGES: &str = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"#;

/// Exit code, standard output and standard error of `quipu prompt` with these arguments and messages.
fn prompt(args: &[&str], messages: &str) -> (Option<i32>, String, String) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("messages.json");
    fs::write(&file, messages).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .arg("prompt")
        .args(args)
        .arg("--messages")
        .arg(&file)
        .env("QUIPU_HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

#[test]
fn a_prompt_is_printed_byte_for_byte_and_nothing_else() {
    let (code, out, err) = prompt(&["--template", "chatml"], MESSAGES);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let expected = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(out, expected);
    let (_, own, _) = prompt(&[], MESSAGES);
    assert_eq!(own, expected, "the built-in model's own");
    let (_, out, _) = prompt(&["--template", "chatml", "--no-generation-prompt"], MESSAGES);
    assert_eq!(out, expected.strip_suffix("<|im_start|>assistant\n").unwrap());
}

#[test]
fn a_template_in_a_file_gets_tokens_time_thinking_and_every_field() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.jinja");
    let source = "{{ bos_token }}{{ strftime_now('%Y') }} {{ enable_thinking }} {% for m in messages %}{{ m.role }}:{{ m.content }}:\
                  {{ m.tool_calls | tojson }};{% endfor %}{{ tools | length }}{{ eos_token }}";
    fs::write(&file, source).unwrap();
    let messages =
        r#"{"messages":[{"role":"tool","content":"x","tool_calls":[{"b":1,"a":[true,null]}]}],"tools":[{"name":"t"}]}"#;
    let args = [
        "--template",
        file.to_str().unwrap(),
        "--now",
        "2026-01-31T12:00:00",
        "--bos-token",
        "<s>",
        "--eos-token",
        "</s>",
        "--thinking",
        "off",
    ];
    let (code, out, err) = prompt(&args, messages);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "<s>2026 False tool:x:[{\"b\": 1, \"a\": [true, null]}];1</s>");
}

#[test]
fn what_cannot_be_rendered_is_told() {
    let cases: [(&[&str], &str, i32, &str); 5] = [
        (&["--template", "chatml"], "{", 2, "no JSON"),
        (&["--template", "chatml"], "[1]", 2, "'role' and 'content'"),
        (&["--template", "chatmi"], MESSAGES, 2, "'chatmi'"),
        (
            &["--template", "chatml", "--thinking", "maybe"],
            MESSAGES,
            2,
            "'on', 'off', 'low'",
        ),
        (
            &["--template", "chatml", "--now", "yesterday"],
            MESSAGES,
            2,
            "yesterday",
        ),
    ];
    for (args, messages, exit, words) in cases {
        let (code, out, err) = prompt(args, messages);
        assert_eq!((code, out.as_str()), (Some(exit), ""), "{err}");
        assert!(err.contains(words), "{err}");
    }
}
