//! Sessions through the whole program without a terminal: what is said is kept, found again and gone on with, also where the disk
//! or another quipu stands in the way.

use std::fs;
use std::path::Path;
use std::time::Duration;

use quipu::domain::session::{SessionId, Which};
use quipu::store::{Archive, StoreHandle, StoreOptions};
use tempfile::TempDir;

use crate::harness::Harness;

const SCRIPT: &str = "[model]\nname = \"condor\"\n[[answer]]\ntext = \"one\"\n[[answer]]\ntext = \"two\"\n[[answer]]\ntext = \"three\"\n";

fn archive(folder: &Path) -> Archive {
    let options = StoreOptions {
        folder: folder.to_owned(),
        trace_days: 30,
        states: None,
    };
    Archive::open(&options).unwrap()
}

#[test]
fn a_session_goes_on_where_it_was_left() {
    let folder = TempDir::new().unwrap();
    let mut chat = Harness::keeping(SCRIPT, folder.path(), None);
    chat.keys("hello<enter>").keys("<alt-r>").keys("and now?<enter>");
    assert_eq!(chat.said(), ["hello", "two", "and now?", "three"]);
    // Another version of the first answer, and back: each branch is as it was.
    chat.keys("<alt-up><alt-up><alt-up><left>");
    assert_eq!(chat.said(), ["hello", "one"]);
    chat.keys("<right>");
    assert_eq!(chat.said(), ["hello", "two", "and now?", "three"]);
    chat.keys("<left><esc>");
    assert!(chat.farewell(), "all is written");
    let mut again = Harness::keeping(SCRIPT, folder.path(), Some(Which::Latest));
    assert_eq!(again.said(), ["hello", "one"], "the path that was shown");
    again.shows("‹ 1/2 ›");
    again.keys("<alt-.>");
    assert_eq!(again.said(), ["hello", "two", "and now?", "three"]);
}

#[test]
fn messages_are_edited_removed_and_forked_by_keys() {
    let folder = TempDir::new().unwrap();
    let mut chat = Harness::keeping(SCRIPT, folder.path(), None);
    chat.keys("hello<enter>").keys("<alt-up><alt-up>e");
    assert_eq!(chat.shell.composed(), "hello");
    chat.keys(" there<enter>");
    assert_eq!(chat.said(), ["hello there", "two"]);
    chat.keys("<alt-up>d");
    assert_eq!(chat.said(), ["hello there"]);
    chat.keys("<alt-u>");
    assert_eq!(chat.said(), ["hello there", "two"]);
    chat.keys("<alt-u>");
    assert_eq!(chat.said(), ["hello", "one"]);
    chat.keys("<alt-up><alt-up>f").keys("<alt-r>");
    assert_eq!(chat.said(), ["hello", "three"]);
    assert!(chat.farewell());
    let archive = archive(folder.path());
    assert_eq!(archive.list(false).unwrap().len(), 2);
    let (first, talk) = archive.read(&Which::Id(SessionId(1))).unwrap();
    assert_eq!(
        (first.details.title.as_str(), talk.messages().len()),
        ("hello", 4),
        "nothing is lost in it"
    );
}

#[test]
fn the_panel_finds_a_message_and_jumps_to_it() {
    let folder = TempDir::new().unwrap();
    let mut chat = Harness::keeping(SCRIPT, folder.path(), None);
    chat.keys("about knots<enter>")
        .keys("<ctrl-n>")
        .keys("about cords<enter>");
    chat.keys("<ctrl-s>").shows("about knots").shows("about cords");
    chat.keys("kno");
    chat.shows("about knots ·");
    chat.keys("<down><enter>");
    assert_eq!(chat.said(), ["about knots", "one"]);
    assert!(chat.state().screen.selected.is_some());
    // Renamed, pinned, archived, deleted and brought back from there.
    chat.keys("<esc><ctrl-s>")
        .keys("<alt-e><ctrl-u>On knots<enter>")
        .until_shown("On knots");
    chat.keys("<alt-p>").until_shown("▲");
    chat.keys("<alt-a>").until_gone("On knots");
    chat.keys("<alt-h>").until_shown("On knots");
    chat.keys("<esc>");
    chat.keys("/delete<enter>").keys("<alt-u>");
    assert_eq!(chat.said(), ["about knots", "one"]);
}

#[test]
fn what_cannot_be_kept_is_said_on_screen_and_kept_later() {
    let folder = TempDir::new().unwrap();
    // Nobody can make a folder where a file stands.
    let data = folder.path().join("data");
    fs::write(&data, "in the way").unwrap();
    let mut chat = Harness::keeping(SCRIPT, &data, None);
    chat.keys("hello<enter>");
    assert_eq!(chat.said(), ["hello", "one"], "the chat goes on");
    chat.shows("not saved").shows("cannot be written to");
    fs::remove_file(&data).unwrap();
    chat.keys("<esc>and now?<enter>");
    chat.shows("everything is saved again");
    assert_eq!(chat.said(), ["hello", "one", "and now?", "two"]);
    assert!(chat.farewell());
    let (_, talk) = archive(&data).read(&Which::Latest).unwrap();
    assert_eq!(talk.messages().len(), 4, "with what was said before");
}

#[test]
fn what_was_never_kept_is_said_at_the_end() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    fs::write(&data, "in the way").unwrap();
    let mut chat = Harness::keeping(SCRIPT, &data, None);
    chat.keys("hello<enter>");
    let words = chat.part().unsaved.unwrap();
    assert!(words.contains("cannot be written to"), "{words}");
}

#[test]
fn a_store_that_died_stops_no_chat() {
    // One that is gone before anything is asked of it, and one that dies over the first question.
    for listens in [false, true] {
        let (commands, taken) = std::sync::mpsc::channel();
        let (told, events) = tokio::sync::mpsc::unbounded_channel();
        let thread = listens.then(|| {
            std::thread::spawn(move || {
                let first = taken.recv();
                drop(told);
                first
            })
        });
        let mut chat = Harness::with_store(SCRIPT, StoreHandle { commands, events });
        chat.keys("hello<enter>");
        assert_eq!(chat.said(), ["hello", "one"], "{listens}");
        chat.shows("what keeps the sessions has stopped");
        if let Some(thread) = thread {
            assert!(thread.join().unwrap().is_ok());
        }
    }
}

#[test]
fn a_session_that_is_open_elsewhere_is_read_or_forked() {
    let folder = TempDir::new().unwrap();
    let mut first = Harness::keeping(SCRIPT, folder.path(), None);
    first.keys("hello<enter>");
    let mut second = Harness::keeping(SCRIPT, folder.path(), Some(Which::Latest));
    second.shows("another quipu has this session open");
    assert_eq!(second.said(), ["hello", "one"]);
    second.keys("<esc>hi<enter>");
    assert_eq!(second.said(), ["hello", "one"], "nothing is said there");
    assert_eq!(second.shell.composed(), "hi", "and nothing is lost");
    second.keys("<ctrl-c>/fork<enter>").keys("hi<enter>");
    assert_eq!(second.said(), ["hello", "one", "hi", "one"]);
    first.keys("and now?<enter>");
    assert!(first.farewell() && second.farewell());
    let archive = archive(folder.path());
    let of = |id| archive.read(&Which::Id(SessionId(id))).unwrap().1.messages().len();
    assert_eq!((of(1), of(2)), (4, 4));
}

#[test]
fn an_answer_is_made_again_in_the_chat() {
    let folder = TempDir::new().unwrap();
    let mut chat = Harness::keeping("[[answer]]\ntext = \"one\"\n", folder.path(), None);
    chat.keys("hello<enter>").keys("/replay<enter>");
    chat.shows("the same token came again");
    assert_eq!(chat.said(), ["hello", "one"], "nothing of it enters the conversation");
    drop(chat);
    let mut other = Harness::keeping(
        "[model]\nname = \"llama\"\n[[answer]]\ntext = \"uno\"\n",
        folder.path(),
        Some(Which::Latest),
    );
    other.keys("<esc>/replay<enter>");
    other.shows("another answer came").shows("is another: fingerprint");
}

#[test]
fn a_title_is_made_by_the_model_when_it_is_asked() {
    let folder = TempDir::new().unwrap();
    let script = "[[answer]]\ntext = \"one\"\n[[answer]]\ntext = \"**On greetings.**\\nMore.\"\n";
    let mut chat = Harness::keeping(script, folder.path(), None);
    chat.keys("hello<enter>").keys("/title auto<enter>");
    chat.shows("this session is 'On greetings' now");
    assert_eq!(chat.said(), ["hello", "one"]);
    assert!(chat.farewell());
    assert_eq!(
        archive(folder.path()).list(false).unwrap()[0].details.title,
        "On greetings"
    );
}

#[test]
fn a_session_is_written_to_a_file_and_read_back() {
    let folder = TempDir::new().unwrap();
    let mut chat = Harness::keeping(SCRIPT, folder.path(), None);
    let file = folder.path().join("talk.json");
    chat.keys("hello<enter>")
        .keys(&format!("/export {}<enter>", file.display()));
    chat.until_shown("written to");
    chat.keys(&format!("<esc>/export {}<enter>", file.display()));
    chat.until_shown("is there already");
    chat.keys(&format!("<esc>/import {}<enter>", file.display()));
    chat.until_shown("one session was imported, as number 2");
    chat.keys("/sessions 2<enter>");
    assert_eq!(chat.said(), ["hello", "one"]);
}

#[test]
fn a_draft_outlives_the_program_and_stays_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let mut quipu = Harness::keeping(SCRIPT, folder.path(), None);
    quipu.keys("What is a quipu?<enter>").keys("half a thought");
    // A second later it is on the disk, whatever becomes of the process.
    quipu.advance(Duration::from_secs(2));
    drop(quipu);
    let mut again = Harness::keeping(SCRIPT, folder.path(), Some(Which::Latest));
    again.until(|shell| shell.composed() == "half a thought");
    again.keys("<ctrl-n>");
    again.until(|shell| shell.composed() == "half a thought");
    assert!(
        again.state().session.id.is_none(),
        "it comes along into a new conversation"
    );
    again.keys("<ctrl-c>/sessions 1<enter>");
    again.until(|shell| shell.state().session.id.is_some());
    again.keys("of another kind");
    again.advance(Duration::from_secs(2));
    assert!(again.farewell());
    let mut last = Harness::keeping(SCRIPT, folder.path(), Some(Which::Latest));
    last.until(|shell| shell.composed() == "of another kind");
    last.keys("<ctrl-c><ctrl-r>quipu").shows("What is a quipu?");
}
