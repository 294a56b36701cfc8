//! One question, one answer: the real binary with pipes for a terminal, and every kind of bad input with its words and its exit
//! code.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs quipu with everything it keeps below `home`, `input` on standard input.
fn quipu(home: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .args(args)
        .env("QUIPU_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments closes the pipe before it is written to.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Exit code, standard output, standard error.
fn said(home: &Path, args: &[&str], input: &[u8]) -> (i32, String, String) {
    let output = quipu(home, args, input);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn scripted(home: &Path, script: &str) -> String {
    let path = home.join("script.toml");
    fs::write(&path, script).unwrap();
    format!("scripted:{}", path.display())
}

#[test]
fn bad_input_is_refused_with_words_and_a_code() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), "[[answer]]\necho = true\n");
    let engine = ["--engine", engine.as_str()];
    let cases: [(&[&str], &[u8], i32, &str); 5] = [
        (&[], b"abc\xff", 2, "not UTF-8"),
        (&[], b"  \n", 2, "nothing was asked"),
        (&["--top-p", "7", "hello"], b"", 2, "'7' is no value for top-p"),
        (
            &["--preset", "nonsense", "hello"],
            b"",
            2,
            "there is no preset 'nonsense'",
        ),
        (
            &["--config", "/no/such/file.toml", "hello"],
            b"",
            2,
            "/no/such/file.toml",
        ),
    ];
    for (args, input, code, words) in cases {
        let (found, out, err) = said(home.path(), &[&engine[..], args].concat(), input);
        assert_eq!((found, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(words), "{args:?}: {err}");
    }
}

#[test]
fn a_mistake_in_the_usual_configuration_costs_only_itself() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), "[[answer]]\ntext = \"fine\"\n");
    let (code, out, err) = said(home.path(), &["--engine", &engine, "hello"], b"");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "fine\n", ""));
    let folder = home.path().join("config");
    fs::create_dir_all(&folder).unwrap();
    for place in [home.path().join("config.toml"), folder.join("config.toml")] {
        fs::write(place, "[sampling]\ntop-kk = 5\n").unwrap();
    }
    let (code, out, err) = said(home.path(), &["--engine", &engine, "hello"], b"");
    assert_eq!((code, out.as_str()), (0, "fine\n"));
    assert!(
        err.contains(":2") && err.contains("top-kk") && err.contains("top-k"),
        "{err}"
    );
}

#[test]
fn an_answer_that_goes_round_in_circles_ends_there_unless_it_may_go_on() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(
        home.path(),
        &format!("[[answer]]\ntext = \"{}\"\ntoken-ms = 1\n", "rect ".repeat(3000)),
    );
    let answer = |session: &[&str], guard: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.args(["--engine", &engine]).args(session).arg("hello");
        command.env("QUIPU_HOME", home.path()).env("QUIPU_LOOP_GUARD", guard);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (out.matches("rect").count(), err)
    };
    for (session, why) in [
        (&[][..], "nothing penalises repetition"),
        // What is kept with a session tells more.
        (&["--session", "circles"], "whatever was said: 'quipu doctor' tells"),
    ] {
        let (times, words) = answer(session, "pause");
        assert!((64..3000).contains(&times), "{times}");
        for part in ["'rect' 64 times since token 2", why, "--dry-multiplier"] {
            assert!(words.contains(part), "{words}");
        }
        assert!(!words.contains("/loop"), "{words}");
    }
    let (times, words) = answer(&[], "warn");
    assert!(times == 3000 && words.contains("circles"), "{times} {words}");
    let (times, words) = answer(&[], "off");
    assert!(times == 3000 && !words.contains("circles"), "{times} {words}");
}

#[test]
fn an_answer_is_plain_text_and_escapes_do_not_come_through() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(
        home.path(),
        "[[answer]]\ntext = \"red \\u001b[31mtext\\u001b]0;title\\u0007 end\"\n",
    );
    let (code, out, _) = said(home.path(), &["--engine", &engine, "hello"], b"");
    assert_eq!((code, out.as_str()), (0, "red text end\n"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    let engine = scripted(home.path(), "[[answer]]\ntext = \"one\\ntwo\\nthree\"\ntoken-ms = 20\n");
    let quipu = env!("CARGO_BIN_EXE_quipu");
    let line = format!("'{quipu}' --engine '{engine}' hello </dev/null | head -1; echo ${{PIPESTATUS[0]}}");
    let output = Command::new("bash")
        .args(["-c", &line])
        .env("QUIPU_HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\n0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(feature = "llama")]
mod with_llama {
    use super::*;
    use crate::engine::cria;

    #[test]
    fn it_answers_from_an_argument_and_from_a_pipe() {
        let home = tempfile::tempdir().unwrap();
        let question = "What is the capital of France?";
        let (code, out, err) = said(home.path(), &["--temperature", "0", question], b"");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(out.contains("Paris") && !out.contains('\u{1b}'), "{out}");
        assert_eq!(said(home.path(), &["--temperature", "0"], question.as_bytes()).1, out);
    }

    #[test]
    fn the_same_seed_gives_the_same_json() {
        let home = tempfile::tempdir().unwrap();
        let ask = || {
            let (code, out, _) = said(home.path(), &["--json", "--seed", "5", "Tell me a story."], b"");
            assert_eq!(code, 0);
            serde_json::from_str::<serde_json::Value>(&out).unwrap()
        };
        let (one, two) = (ask(), ask());
        assert_eq!(one["tokens"], two["tokens"]);
        assert_eq!(one["sampling"]["seed"], 5);
        assert!(one["tokens"][0]["probability"].as_f64().unwrap() > 0.0);
    }

    #[test]
    fn models_that_cannot_be_used_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
        let whole = fs::read(cria()).unwrap();
        fs::write(at("empty.gguf"), "").unwrap();
        fs::write(at("text.gguf"), "this is no model at all, whatever its name says").unwrap();
        fs::write(at("half.gguf"), &whole[..whole.len() / 2]).unwrap();
        let mut blocks = crate::gguf::sound();
        blocks.set("llama.block_count", crate::gguf::Meta::U32(0x00ff_ffff));
        blocks.write(Path::new(&at("blocks.gguf")));
        let mut strange = crate::gguf::sound();
        strange.set("general.architecture", crate::gguf::text("zorgon"));
        strange.write(Path::new(&at("strange.gguf")));
        let cases = [
            ("missing.gguf", "no such model"),
            ("", "is a folder"),
            ("empty.gguf", "empty"),
            ("text.gguf", "GGUF"),
            ("half.gguf", "MiB"),
            ("blocks.gguf", "block_count"),
            ("strange.gguf", "zorgon"),
        ];
        for (name, words) in cases {
            let (code, out, err) = said(home.path(), &["--model", &at(name), "hello"], b"");
            assert_eq!((code, out.as_str()), (3, ""), "{name}: {err}");
            assert!(err.contains(words), "{name}: {err}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_numbers() {
        let home = tempfile::tempdir().unwrap();
        let (code, _, err) = said(home.path(), &["--context", "1000000000", "hello"], b"");
        assert_eq!(code, 3, "{err}");
        assert!(err.contains("1000000000") && err.contains("--context"), "{err}");
        let long = "word ".repeat(3000);
        let (code, _, err) = said(home.path(), &[], long.as_bytes());
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("1024"), "{err}");
    }

    #[test]
    fn a_cache_that_cannot_be_used_costs_nothing_but_a_moment() {
        let home = tempfile::tempdir().unwrap();
        // A file where the folder should be: not even root can write below it.
        fs::write(home.path().join("cache"), "in the way").unwrap();
        let (code, out, _) = said(
            home.path(),
            &["--temperature", "0", "What is the capital of France?"],
            b"",
        );
        assert_eq!(code, 0);
        assert!(out.contains("Paris"), "{out}");
    }

    #[test]
    fn bench_prints_figures() {
        let home = tempfile::tempdir().unwrap();
        let args = [
            "bench",
            "--prompt",
            "32",
            "--generate",
            "8",
            "--repetitions",
            "1",
            "--depth",
            "0,300",
            "--turns",
            "--sampling",
            "--json",
        ];
        let (code, out, err) = said(home.path(), &args, b"");
        assert_eq!(code, 0, "{err}");
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        let number = |path: &str| report.pointer(path).unwrap().as_f64().unwrap();
        for depth in 0..2 {
            assert!(number(&format!("/speeds/{depth}/generate/median_tokens_per_second")) > 0.0);
            assert!(number(&format!("/speeds/{depth}/prompt/median_tokens_per_second")) > 0.0);
        }
        let (old, new) = (number("/turns/conversation_tokens"), number("/turns/new_tokens"));
        assert!(
            (100.0..300.0).contains(&old) && (5.0..60.0).contains(&new),
            "{old} {new}"
        );
        for wait in [
            "next_turn",
            "decode_of_new_tokens",
            "full_prefill",
            "branch_switch",
            "other_token",
            "decode_of_one_token",
        ] {
            assert!(number(&format!("/turns/{wait}_seconds")) > 0.0, "{wait}");
        }
        let draws = report.pointer("/sampling/draws").unwrap().as_array().unwrap();
        assert!(
            draws.len() > 10
                && draws
                    .iter()
                    .all(|draw| draw["median_milliseconds"].as_f64() > Some(0.0))
        );
    }
}
