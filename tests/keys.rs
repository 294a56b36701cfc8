//! Keys in, screen out: the whole program on the scripted engine, without a terminal. What each message does to the state is
//! tested beside `update`; here it is shown that the parts are joined.

use std::time::Duration;

use pretty_assertions::assert_eq;
use quipu::app::state::{Engine, Phase};
use quipu::domain::inference::{Failure, FailureKind, Finish};
use quipu::run::Happening;

use crate::harness::Harness;

/// An engine that says what it was asked.
const ECHO: &str = "[[answer]]\necho = true\ntext = \" indeed\"";

/// An engine that says this word for as long as any test waits.
fn endless(word: &str) -> String {
    let words = format!("{word} ").repeat(20_000);
    format!("[model]\ncontext = 100_000\n[[answer]]\ntext = \"{words}\"\ntoken-ms = 5\n")
}

#[test]
fn what_is_typed_reaches_the_engine_and_what_it_says_the_screen() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("Is it <lt>true>?<enter>");
    assert_eq!(quipu.said(), ["Is it <true>?", "Is it <true>? indeed"]);
    quipu.shows("Is it <true>? indeed");
    assert_eq!(quipu.shell.composed(), "", "the composer is empty again");
}

#[test]
fn the_first_frame_waits_for_no_model() {
    let mut quipu = Harness::starting("[model]\nload-ms = 3_600_000\n[[answer]]\ntext = \"never\"", Ok(()));
    assert_eq!(quipu.shell.surface().frames(), 1);
    quipu.press("meanwhile");
    quipu.until(|shell| shell.composed() == "meanwhile" && shell.surface().frames() > 1);
    quipu.shows("meanwhile");
    quipu.press("<enter>");
    quipu.until(|shell| shell.state().running.as_ref().is_some_and(|r| r.phase == Phase::Queued));
}

#[test]
fn a_retry_is_another_version_and_both_can_be_seen() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"the first answer\"\n[[answer]]\ntext = \"the second answer\"");
    quipu.keys("Well?<enter>").keys("<alt-r>");
    quipu.shows("the second answer").shows("2/2");
    quipu.keys("<alt-,>");
    quipu.shows("the first answer").shows("1/2");
}

#[test]
fn an_answer_can_be_stopped_and_the_chat_goes_on() {
    let mut quipu = Harness::new(&(endless("word") + "[[answer]]\ntext = \"over\""));
    quipu.press("Talk<enter>");
    quipu.until_said(|text| text.len() > 20);
    quipu.keys("<ctrl-c>");
    let path = quipu.state().conversation.path();
    assert!("word ".repeat(20_000).starts_with(&path[1].text));
    assert_eq!(path[1].answer.as_ref().unwrap().finish, Some(Finish::Stopped));
    quipu.keys("And now?<enter>");
    assert_eq!(quipu.said()[3], "over");
    assert_eq!(quipu.shell.exit(), None);
}

#[test]
fn lines_are_broken_without_sending() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("one<shift-enter>two<ctrl-j>three<alt-enter>four");
    assert_eq!(quipu.shell.composed(), "one\ntwo\nthree\nfour");
    assert!(quipu.state().conversation.is_empty());
    quipu.keys("<enter>");
    assert_eq!(quipu.said()[0], "one\ntwo\nthree\nfour");
}

#[test]
fn what_was_sent_comes_back_by_the_arrows() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("first<enter>").keys("second<enter>").keys("draft<up><up>");
    assert_eq!(quipu.shell.composed(), "first");
    quipu.keys("<down><down>");
    assert_eq!(quipu.shell.composed(), "draft");
}

#[test]
fn a_setting_is_completed_and_reaches_the_sampler() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"drawn at {temperature}\"");
    quipu.keys("/se");
    quipu.shows("/set");
    quipu.keys("<tab>temp<tab>1.5<enter>");
    assert_eq!(quipu.state().tuning.sampling.temperature, 1.5);
    quipu.keys("Well?<enter>");
    quipu.shows("drawn at 1.5").shows("balanced*");
}

#[test]
fn a_setting_made_while_the_answer_runs_holds_from_the_next_word_on() {
    let mut quipu = Harness::new(&endless("{temperature}"));
    quipu.press("Well?<enter>");
    quipu.until_said(|text| text.contains("0.8"));
    quipu.press("/set temperature 1.5<enter>");
    quipu.until_said(|text| text.contains("0.8 1.5"));
    quipu.keys("<esc>");
}

#[test]
fn the_exact_prompt_is_shown_and_closed() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("Hello<enter>").keys("/prompt<enter>");
    quipu.shows("<|user|>").shows("<|assistant|>");
    quipu.keys("<esc>");
    assert_eq!(quipu.state().screen.overlay, None);
}

#[test]
fn a_paste_of_a_megabyte_is_taken_whole_and_sends_nothing() {
    let mut quipu = Harness::new(ECHO);
    let text = "All work and no play makes llamas dull.\n".repeat(26_000);
    let frames = quipu.shell.surface().frames();
    quipu.paste(&text);
    assert_eq!(quipu.shell.composed().len(), text.len());
    assert!(quipu.state().conversation.is_empty());
    assert!(
        quipu.shell.surface().frames() - frames <= 3,
        "one change, one frame or two"
    );
    quipu.keys("<ctrl-c>");
    assert_eq!(quipu.shell.composed(), "");
}

#[test]
fn a_key_out_of_a_paste_presses_nothing() {
    let mut quipu = Harness::new(ECHO);
    quipu.happen(Happening::Input(crossterm::event::Event::Paste("rm -rf".to_owned())));
    quipu.keys("<enter>");
    assert!(quipu.state().conversation.is_empty());
    quipu.advance(Duration::from_millis(60)).keys("<enter>");
    assert_eq!(quipu.said()[0], "rm -rf");
}

#[test]
fn a_dead_engine_costs_no_word_of_the_conversation() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"as I was saying\"\nthen = \"panic\"\nwords = \"out of luck\"");
    quipu.keys("Go on<enter>");
    assert_eq!(quipu.said(), ["Go on", "as I was saying"]);
    assert!(matches!(&quipu.state().engine, Engine::Dead(reason) if reason == "out of luck"));
    quipu.shows("out of luck").shows("as I was saying");
    quipu.keys("still here");
    assert_eq!(quipu.shell.composed(), "still here");
}

#[test]
fn a_model_that_cannot_be_loaded_is_told() {
    let mut quipu = Harness::new("[model]\nfail = \"the script has no luck\"");
    quipu.shows("the script has no luck");
    let failure = Failure::new(FailureKind::Model, "there is no file 'x.gguf'");
    quipu = Harness::starting(ECHO, Err(failure));
    quipu.rest();
    quipu.shows("there is no file 'x.gguf'");
}

#[test]
fn a_failed_answer_is_told_and_keeps_what_was_said() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"half an\"\nthen = \"fail\"\nwords = \"the sums went wrong\"");
    quipu.keys("Well?<enter>");
    quipu.shows("half an").shows("the sums went wrong");
}

#[test]
fn any_size_of_screen_is_survived() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("Hello<enter>").keys("/help<enter>");
    for (columns, rows) in [(1, 1), (0, 0), (2000, 1), (1, 500), (19, 5), (40, 12)] {
        quipu.resize(columns, rows);
    }
    quipu.keys("<esc>").resize(80, 24);
    quipu.shows("Hello indeed");
}

#[test]
fn another_width_keeps_the_words_that_are_read() {
    let words = (0..600).map(|n| format!("word{n:03} ")).collect::<Vec<_>>().concat();
    let mut quipu = Harness::new(&format!("[model]\ncontext = 100_000\n[[answer]]\ntext = \"{words}\""));
    quipu.keys("Talk<enter>").keys("<pageup><pageup>");
    let first_line = |quipu: &Harness| quipu.screen().lines().nth(1).unwrap().trim().to_owned();
    let before = first_line(&quipu);
    let word = before.split(' ').next().unwrap();
    assert!(word.starts_with("word"), "{before}");
    for (columns, rows) in [(50, 24), (120, 20), (10, 4), (33, 24)] {
        quipu.resize(columns, rows);
        let now = first_line(&quipu);
        assert!(columns < 20 || now.contains(word), "'{word}' at {columns}: {now}");
    }
    quipu.resize(80, 24);
    assert_eq!(first_line(&quipu), before);
}

#[test]
fn a_storm_of_sizes_costs_a_frame_and_not_one_each() {
    let mut quipu = Harness::new(ECHO);
    let frames = quipu.shell.surface().frames();
    for columns in 40..240 {
        quipu.happen(Happening::Input(crossterm::event::Event::Resize(columns, 24)));
    }
    quipu.rest();
    assert!(quipu.shell.surface().frames() - frames <= 2);
}

#[test]
fn where_nothing_moves_nothing_is_drawn() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("Hello<enter>").advance(Duration::from_mins(1));
    let frames = quipu.shell.surface().frames();
    assert_eq!(quipu.state().wakes_at(), None, "no timer either");
    quipu.advance(Duration::from_mins(1));
    assert_eq!(quipu.shell.surface().frames(), frames);
}

#[test]
fn the_terminal_is_lent_and_taken_back() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("Hel<ctrl-z>");
    assert!(!quipu.shell.surface().is_held());
    let frames = quipu.shell.surface().frames();
    quipu.keys("lo");
    assert_eq!(
        quipu.shell.surface().frames(),
        frames,
        "nothing is drawn on a lent terminal"
    );
    quipu.happen(Happening::Continue);
    quipu.rest();
    assert!(quipu.shell.surface().is_held());
    quipu.shows("Hello");
}

#[test]
fn every_way_out_has_its_code() {
    let mut quipu = Harness::new(ECHO);
    quipu.keys("<ctrl-d>");
    assert_eq!(quipu.shell.exit(), Some(0));
    let mut quipu = Harness::new(ECHO);
    quipu.keys("<ctrl-c>");
    assert_eq!(quipu.shell.exit(), None);
    quipu.keys("<ctrl-c>");
    assert_eq!(quipu.shell.exit(), Some(0));
    let mut quipu = Harness::new("[model]\nload-ms = 10\n[[answer]]\ntext = \"x\"\nprefill-ms = 3_600_000");
    quipu.press("Well?<enter>");
    quipu.until(|shell| shell.state().running.is_some());
    quipu.happen(Happening::Terminate(15));
    quipu.rest();
    assert_eq!(quipu.shell.exit(), Some(143));
}

#[test]
fn an_engine_that_is_busy_for_an_hour_is_let_go_at_once() {
    let mut quipu = Harness::new("[[answer]]\ntext = \"never\"\nprefill-ms = 3_600_000");
    quipu.press("Well?<enter>");
    quipu.until(|shell| {
        let running = shell.state().running.as_ref();
        running.is_some_and(|r| matches!(r.phase, Phase::Prefill(read) if read.total > 0))
    });
    assert!(quipu.farewell(), "its thread has ended");
}

#[test]
fn the_scripts_for_demonstrations_can_be_played() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    assert!(scripts.len() >= 3, "{scripts:?}");
    for path in scripts {
        let text = std::fs::read_to_string(&path).unwrap();
        let script = quipu::engine::scripted::Script::parse(&text);
        assert!(script.is_ok(), "{}: {}", path.display(), script.unwrap_err());
    }
}

#[test]
fn nothing_is_sent_from_under_an_overlay() {
    let mut quipu = Harness::new(ECHO);
    quipu
        .keys("waiting")
        .keys("<f1>")
        .keys("<enter>")
        .keys("<alt-r>")
        .keys("typed");
    assert_eq!(quipu.said(), Vec::<String>::new());
    quipu.keys("<esc>");
    assert_eq!(quipu.shell.composed(), "waiting", "neither sent nor changed");
}
