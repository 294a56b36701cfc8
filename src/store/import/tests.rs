//! Files of others, as they write them, and files that must be refused.

use pretty_assertions::assert_eq;

use crate::domain::session::{Details, Format, Titled};
use crate::domain::{Answer, MessageId, Take};
use crate::store::export;

use super::*;

fn one(text: &str) -> Whole {
    let mut read = read(text).unwrap();
    assert_eq!(read.sessions.len(), 1);
    read.sessions.remove(0)
}

fn words(session: &Whole) -> Vec<(Role, &str)> {
    let path = session.conversation.path();
    path.into_iter()
        .map(|message| (message.role, message.text.as_str()))
        .collect()
}

/// A tree with all there can be in it.
fn tree() -> Whole {
    let mut talk = Conversation::under(Some("Be kind.\u{1b}[31m".to_owned()));
    let question = talk.push(Role::User, "What is \"it\"?\n<b>\u{7}", 1_700_000_000_123);
    let first = talk.push(Role::Assistant, "It is 結縄.", 1_700_000_001_000);
    talk.get_mut(first).unwrap().answer = Some(Answer {
        model: "f00d".to_owned(),
        model_name: "condor".to_owned(),
        tokens: [1, -2, 3].map(crate::domain::inference::Token).to_vec(),
        bytes: vec![0xff, 0, 200],
        finish: Some(crate::domain::inference::Finish::EndOfTurn),
        takes: vec![Take {
            seed: u32::MAX - 1,
            ..Take::default()
        }],
        trace: vec![crate::domain::inference::Report {
            probability: 0.1,
            ..Default::default()
        }],
        ..Answer::default()
    });
    let second = talk.push_version(first, "No.", 0).unwrap();
    talk.push(Role::User, "Why?", 5);
    talk.select(first);
    talk.begin_step();
    talk.hide(second);
    talk.push_version(question, "edited", 6);
    talk.select(question);
    Whole {
        details: Details {
            title: "Knots & cords".to_owned(),
            titled: Titled::Person,
            pinned: true,
            archived: true,
            tags: vec!["andes".to_owned()],
        },
        created: 1_700_000_000_000,
        conversation: talk,
    }
}

#[test]
fn our_own_files_lose_nothing() {
    let session = tree();
    let text = export::write(std::slice::from_ref(&session), Format::Json).unwrap();
    assert!(!text.contains('\u{1b}'), "no control character stands there as it is");
    let back = one(&text);
    assert_eq!(back.details, session.details);
    assert_eq!(back.created, session.created);
    assert_eq!(back.conversation.messages(), session.conversation.messages());
    assert_eq!(back.conversation.head(), session.conversation.head());
    assert_eq!(words(&back), words(&session));
    let again = export::write(&[back], Format::Json).unwrap();
    assert_eq!(again, text);
}

#[test]
fn what_is_written_to_be_read_obeys_nobody() {
    let session = tree();
    let html = export::write(std::slice::from_ref(&session), Format::Html).unwrap();
    assert!(html.contains("What is &quot;it&quot;?\n&lt;b&gt;") && html.contains("<title>Knots &amp; cords</title>"));
    let markdown = export::write(&[session], Format::Markdown).unwrap();
    assert!(
        markdown.starts_with("# Knots & cords\n\n> Be kind.[31m\n\n## You\n"),
        "{markdown}"
    );
    for text in [html, markdown] {
        assert!(!text.contains(['\u{1b}', '\u{7}']));
    }
}

#[test]
fn lists_of_messages_are_read() {
    let text = r#"[{"role": "system", "content": "Be terse."}, {"role": "user", "content": [{"type": "text", "text": "Hello"},
        {"type": "image_url"}]}, {"role": "assistant", "content": "Hi."}, {"role": "tool", "content": "x"}]"#;
    let read = read(text).unwrap();
    let session = &read.sessions[0];
    assert_eq!(words(session), [(Role::User, "Hello"), (Role::Assistant, "Hi.")]);
    assert_eq!(session.conversation.system(), Some("Be terse."));
    assert_eq!((session.details.title.as_str(), read.left_out), ("Hello", 1));
    let lines = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n\n{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}]}\n";
    let read = super::read(lines).unwrap();
    assert_eq!(read.sessions.len(), 2);
    assert_eq!(words(&read.sessions[1]), [(Role::User, "b")]);
}

#[test]
fn sharegpt_is_read() {
    let text = r#"[{"id": "x", "conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi."}]},
        {"conversations": [{"from": "system", "value": "S"}, {"from": "human", "value": "B"}]}]"#;
    let read = read(text).unwrap();
    assert_eq!(
        words(&read.sessions[0]),
        [(Role::User, "Hello"), (Role::Assistant, "Hi.")]
    );
    assert_eq!(read.sessions[1].conversation.system(), Some("S"));
}

const CHATGPT: &str = r#"[{"title": "Knots", "create_time": 1700000000.5, "current_node": "a2",
  "mapping": {
    "root": {"id": "root", "message": null, "parent": null, "children": ["s"]},
    "s": {"parent": "root", "children": ["u"], "message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}}},
    "u": {"parent": "s", "children": ["a1", "a2"], "message": {"author": {"role": "user"}, "create_time": 1700000001,
          "content": {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "What is it?"]}}},
    "a1": {"parent": "u", "children": [], "message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["One."]},
          "metadata": {"model_slug": "gpt-4o"}}},
    "a2": {"parent": "u", "children": ["t"], "message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Two."]}}},
    "t": {"parent": "a2", "children": ["u2"], "message": {"author": {"role": "tool"}, "content": {"content_type": "text", "parts": ["secret"]}}},
    "u2": {"parent": "t", "children": [], "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["More?"]}}}
  }}]"#;

#[test]
fn the_tree_of_chatgpt_is_kept() {
    let read = read(CHATGPT).unwrap();
    let session = &read.sessions[0];
    assert_eq!(words(session), [(Role::User, "What is it?"), (Role::Assistant, "Two.")]);
    assert_eq!((session.created, read.left_out), (1_700_000_000_500, 1));
    let talk = &session.conversation;
    let versions = talk.versions(talk.tip().unwrap());
    assert_eq!(versions.len(), 2);
    let first = talk.get(versions[0]).unwrap();
    assert_eq!(first.answer.as_ref().unwrap().model_name, "gpt-4o");
    // What stood on a tool's words stands on what those stood on.
    let more = talk.messages().iter().find(|message| message.text == "More?").unwrap();
    assert_eq!(more.parent, talk.tip());
}

const WEBUI: &str = r#"[{"id": "c", "title": "Knots", "created_at": 1700000000, "pinned": true, "chat": {
  "system": "Be kind.", "tags": ["Work"],
  "history": {"currentId": "b", "messages": {
    "u": {"id": "u", "parentId": null, "childrenIds": ["a", "b"], "role": "user", "content": "What?", "timestamp": 1700000001},
    "a": {"id": "a", "parentId": "u", "childrenIds": [], "role": "assistant", "content": "One.", "model": "llama3"},
    "b": {"id": "b", "parentId": "u", "childrenIds": [], "role": "assistant", "content": "Two.", "model": "llama3"}}},
  "messages": []}}]"#;

#[test]
fn the_tree_of_open_webui_is_kept() {
    let session = one(WEBUI);
    assert_eq!(words(&session), [(Role::User, "What?"), (Role::Assistant, "Two.")]);
    assert_eq!(session.conversation.system(), Some("Be kind."));
    assert!(session.details.pinned && session.details.tags == ["work"]);
    assert_eq!(session.conversation.versions(MessageId(1)).len(), 2);
}

#[test]
fn bad_files_are_refused_whole_with_line_and_reason() {
    let ours = export::write(&[tree()], Format::Json).unwrap();
    let cases = [
        ("", 1, "EOF"),
        ("not json\n{}", 1, "expected"),
        (
            "[\n{\"role\": \"user\", \"content\": \"a\"},\n{\"role\": \"pope\", \"content\": \"b\"}\n]",
            3,
            "nobody is called 'pope'",
        ),
        (
            "{\"messages\": [\n{\"role\": \"user\"},\n{\"content\": 5}]}",
            3,
            "content",
        ),
        ("[]", 1, "empty"),
        ("{\"messages\": []}", 1, "without a message"),
        (
            "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n{\"messages\":\n",
            2,
            "EOF",
        ),
        ("{\"a\":\n 1}", 2, "missing field"),
        (
            &CHATGPT.replace(
                "\"parent\": \"u\", \"children\": [\"t\"]",
                "\"parent\": \"gone\", \"children\": [\"t\"]",
            ),
            9,
            "'gone'",
        ),
        (
            &CHATGPT.replace("\"role\": \"tool\"", "\"role\": \"mole\""),
            10,
            "'mole'",
        ),
        (
            &WEBUI.replace("\"childrenIds\": [\"a\", \"b\"]", "\"childrenIds\": [\"a\", \"a\"]"),
            5,
            "twice",
        ),
        (&ours.replace("\"version\": 1", "\"version\": 99"), 1, "newer quipu"),
        (
            &ours.replacen("\"parent\": 0", "\"parent\": 77", 1),
            0,
            "stands on none",
        ),
        (
            &ours.replacen("\"role\": \"assistant\"", "\"role\": \"pope\"", 1),
            0,
            "pope",
        ),
    ];
    for (text, line, why) in cases {
        let refused = read(text).unwrap_err();
        assert!(refused.why.contains(why), "{text:.60}: {refused:?}");
        if line > 0 {
            assert_eq!(refused.line, line, "{text:.60}: {refused:?}");
        } else {
            assert!(refused.line > 5, "{refused:?}");
        }
    }
}

#[test]
fn nodes_in_a_ring_are_refused() {
    let ring = CHATGPT
        .replace(
            "\"parent\": null, \"children\": [\"s\"]",
            "\"parent\": \"u2\", \"children\": [\"s\"]",
        )
        .replace(
            "\"parent\": \"t\", \"children\": []",
            "\"parent\": \"t\", \"children\": [\"root\"]",
        );
    assert!(read(&ring).unwrap_err().why.contains("stands on itself"));
}

#[test]
fn a_file_that_is_no_text_is_refused_by_its_line() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("x.json");
    std::fs::write(&file, b"[\n\n\xff]").unwrap();
    let words = read_file(&file).unwrap_err();
    assert!(words.contains("line 3 is no UTF-8"), "{words}");
    let words = read_file(folder.path()).unwrap_err();
    assert!(words.contains("it is no file"), "{words}");
}
