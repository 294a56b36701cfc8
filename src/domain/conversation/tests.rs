//! What holds of the tree whatever is done to it.

use proptest::prelude::*;

use super::*;

/// The words of the path on the screen.
fn words(talk: &Conversation) -> Vec<&str> {
    talk.path().iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn a_retry_is_a_version_beside_the_first() {
    let mut talk = Conversation::default();
    let question = talk.push(Role::User, "hello", 0);
    let first = talk.push(Role::Assistant, "hi", 0);
    let second = talk.push_version(first, "hello!", 0).unwrap();
    assert_eq!(talk.versions(first), [first, second]);
    assert_eq!(talk.path().iter().map(|m| m.id).collect::<Vec<_>>(), [question, second]);
    talk.push(Role::User, "and now?", 0);
    talk.select(first);
    assert_eq!(words(&talk), ["hello", "hi"]);
    talk.select(second);
    assert_eq!(words(&talk), ["hello", "hello!", "and now?"]);
}

#[test]
fn a_branch_is_shown_as_it_was_left() {
    let mut talk = Conversation::default();
    let question = talk.push(Role::User, "a", 0);
    let answer = talk.push(Role::Assistant, "b", 0);
    talk.push(Role::User, "c", 0);
    talk.select_exactly(answer);
    talk.push(Role::User, "d", 0);
    let c = talk.versions(talk.tip().unwrap())[0];
    talk.select(c);
    talk.push_version(question, "A", 0);
    assert_eq!(words(&talk), ["A"]);
    talk.select(question);
    assert_eq!(words(&talk), ["a", "b", "c"], "and not the newest, which is 'd'");
    let back = Conversation::restore(talk.messages().to_vec(), talk.head()).unwrap();
    assert_eq!(words(&back), ["a", "b", "c"]);
}

#[test]
fn what_is_deleted_can_be_brought_back() {
    let mut talk = Conversation::default();
    talk.push(Role::User, "a", 0);
    let first = talk.push(Role::Assistant, "b", 0);
    let second = talk.push_version(first, "B", 0).unwrap();
    talk.push(Role::User, "c", 0);
    talk.begin_step();
    assert!(talk.hide(second));
    assert_eq!(words(&talk), ["a", "b"]);
    assert_eq!(talk.versions(first), [first]);
    assert!(!talk.hide(second), "it is hidden already");
    assert!(talk.undo());
    assert_eq!(words(&talk), ["a", "B", "c"]);
    assert!(talk.redo());
    assert_eq!(words(&talk), ["a", "b"]);
}

#[test]
fn a_fork_has_the_path_and_its_record_alone() {
    let mut talk = Conversation::under(Some("Be kind.".to_owned()));
    talk.push(Role::User, "a", 1);
    let answer = talk.push(Role::Assistant, "b", 2);
    talk.get_mut(answer).unwrap().answer = Some(Answer::default());
    talk.push_version(answer, "B", 3);
    let fork = talk.fork(answer);
    assert_eq!(words(&fork), ["a", "b"]);
    assert_eq!(fork.messages().len(), 2);
    assert_eq!(fork.messages()[1].answer, Some(Answer::default()));
    assert_eq!(fork.messages()[1].at, 2);
    assert_eq!(fork.system(), Some("Be kind."));
}

#[test]
fn messages_that_make_no_tree_are_refused() {
    let mut talk = Conversation::default();
    talk.push(Role::User, "a", 0);
    let b = talk.push(Role::Assistant, "b", 0);
    let mut orphan = talk.messages().to_vec();
    orphan.remove(0);
    assert_eq!(Conversation::restore(orphan, talk.head()), Err(NoTree(b)));
    let mut twice = talk.messages().to_vec();
    twice.push(twice[1].clone());
    assert_eq!(Conversation::restore(twice, talk.head()), Err(NoTree(b)));
    let mut itself = talk.messages().to_vec();
    itself[1].parent = Some(b);
    assert_eq!(Conversation::restore(itself, talk.head()), Err(NoTree(b)));
}

#[test]
fn undoing_a_continued_answer_gives_back_what_stood() {
    let mut talk = Conversation::default();
    talk.push(Role::User, "a", 0);
    let answer = talk.push(Role::Assistant, "once", 0);
    talk.begin_step();
    talk.keep_content(answer);
    talk.get_mut(answer).unwrap().text.push_str(" more");
    assert!(talk.undo());
    assert_eq!(words(&talk), ["a", "once"]);
    assert!(talk.redo());
    assert_eq!(words(&talk), ["a", "once more"]);
}

/// Something that a person does to a conversation.
#[derive(Clone, Debug)]
enum Op {
    Append,
    Exchange,
    Version(usize),
    Select(usize),
    Exactly(usize),
    Hide(usize),
    GoOn,
    TakeBack,
    Undo,
    Redo,
    Keep,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => Just(Op::Append),
        2 => Just(Op::Exchange),
        3 => any::<usize>().prop_map(Op::Version),
        2 => any::<usize>().prop_map(Op::Select),
        1 => any::<usize>().prop_map(Op::Exactly),
        2 => any::<usize>().prop_map(Op::Hide),
        1 => Just(Op::GoOn),
        1 => Just(Op::TakeBack),
        3 => Just(Op::Undo),
        1 => Just(Op::Redo),
        2 => Just(Op::Keep),
    ];
    proptest::collection::vec(op, 0..60)
}

/// What a person sees: the path, and beside each of its messages the versions there are.
fn seen(talk: &Conversation) -> Vec<(String, Vec<MessageId>)> {
    let path = talk.path();
    let seen = path
        .iter()
        .map(|message| (message.text.clone(), talk.versions(message.id)));
    seen.collect()
}

/// Does it as one step; says whether it was one that can be undone.
fn act(talk: &mut Conversation, op: &Op, n: usize) -> bool {
    let ids: Vec<_> = talk.messages().iter().map(|message| message.id).collect();
    let pick = |k: &usize| (!ids.is_empty()).then(|| ids[k % ids.len()]);
    let text = n.to_string();
    match op {
        Op::Append => {
            talk.begin_step();
            talk.push(Role::User, text, 0);
        }
        Op::Exchange => {
            talk.begin_step();
            talk.push(Role::User, &text, 0);
            talk.push(Role::Assistant, text + "!", 0);
        }
        Op::Version(k) => {
            let Some(id) = pick(k).filter(|id| talk.is_visible(*id)) else {
                return false;
            };
            talk.begin_step();
            talk.push_version(id, text, 0);
        }
        Op::Select(k) | Op::Exactly(k) => {
            let Some(id) = pick(k) else { return false };
            talk.begin_step();
            if matches!(op, Op::Select(_)) {
                talk.select(id);
            } else {
                talk.select_exactly(id);
            }
        }
        Op::Hide(k) => {
            let Some(id) = pick(k) else { return false };
            talk.begin_step();
            talk.hide(id);
        }
        Op::GoOn => {
            let Some(tip) = talk.tip() else { return false };
            talk.begin_step();
            talk.keep_content(tip);
            talk.get_mut(tip).unwrap().text.push('+');
        }
        Op::TakeBack | Op::Undo | Op::Redo | Op::Keep => return false,
    }
    true
}

proptest! {
    #[test]
    fn no_message_is_lost_every_path_is_a_path_and_undo_undoes(ops in ops()) {
        let mut talk = Conversation::default();
        // What the disk would have.
        let mut kept = Changes::default();
        let mut behind: Vec<Vec<(String, Vec<MessageId>)>> = Vec::new();
        let mut ahead: Vec<Vec<(String, Vec<MessageId>)>> = Vec::new();
        let mut said = BTreeSet::new();
        for (n, op) in ops.iter().enumerate() {
            let before = seen(&talk);
            match op {
                Op::Undo => {
                    prop_assert_eq!(talk.undo(), !behind.is_empty());
                    if let Some(was) = behind.pop() {
                        prop_assert_eq!(seen(&talk), was);
                        ahead.push(before);
                    }
                }
                Op::Redo => {
                    prop_assert_eq!(talk.redo(), !ahead.is_empty());
                    if let Some(was) = ahead.pop() {
                        prop_assert_eq!(seen(&talk), was);
                        behind.push(before);
                    }
                }
                Op::TakeBack => {
                    // As an answer that said nothing: asked for, and unsaid at once.
                    let tip = talk.tip();
                    talk.begin_step();
                    let id = talk.push(Role::Assistant, "", 0);
                    prop_assert!(talk.take_back(id).is_some());
                    prop_assert_eq!(talk.tip(), tip);
                    prop_assert_eq!(seen(&talk), before);
                    ahead.clear();
                }
                Op::Keep => kept.absorb(talk.changes(None)),
                op => if act(&mut talk, op, n) {
                    behind.push(before);
                    ahead.clear();
                },
            }
            let path = talk.path();
            prop_assert_eq!(path.last().map(|m| m.id), talk.tip());
            prop_assert!(path.first().is_none_or(|m| m.parent.is_none()));
            prop_assert!(path.windows(2).all(|w| w[1].parent == Some(w[0].id)));
            prop_assert!(path.iter().all(|m| !m.hidden && talk.versions(m.id).contains(&m.id)));
            said.extend(talk.messages().iter().map(|m| m.id));
            prop_assert!(said.iter().all(|id| talk.get(*id).is_some()), "a message is lost");
        }
        kept.absorb(talk.changes(None));
        prop_assert!(talk.is_kept());
        let head = kept.head.clone().unwrap_or_default();
        let back = Conversation::restore(kept.messages, head).unwrap();
        prop_assert_eq!(back.messages(), talk.messages());
        prop_assert_eq!(back.tip(), talk.tip());
        prop_assert_eq!(back.head(), talk.head());
    }
}
