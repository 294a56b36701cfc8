//! Whatever a text says, and wherever it stands, a frame is made of the few sequences that frames are made of: random hostile text through
//! the real backend, read by a list of what is allowed and by a terminal emulator.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;

use super::tests::{frame, ready, talk};
use crate::app::notice::Level;
use crate::app::picker::{Choice, Pick, Picker};
use crate::app::sessions::{SessionList, Typed};
use crate::app::state::{Engine, Overlay};
use crate::app::{Action, CommandId, Msg, State, update};
use crate::domain::inference::{Failure, FailureKind, Finish, PromptToken, PromptView, Token, TurnId};
use crate::domain::prospect::Prospect;
use crate::domain::session::{Details, Hit, SessionId, Summary};
use crate::domain::shelf::{Facts, Shelf, Shelved};
use crate::domain::{MessageId, Role as Speaker};

#[path = "../../tests/support/allowed.rs"]
#[allow(unreachable_pub, reason = "shared with the tests of the whole program")]
mod allowed;

/// Pieces of the corpus between words and marks of markdown.
fn hostile() -> impl Strategy<Value = String> {
    let between = [
        "", " ", "word", "\n", "**", "`", "```\n", "| ", "$", "\\(", "[^1]", "](", "# ", "- ", "<b>",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(allowed::HOSTILE.to_vec()),
        2 => proptest::sample::select(between.to_vec()),
    ];
    proptest::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

/// Every place that shows a text which is not ours.
const PLACES: usize = 13;

fn state_with(place: usize, text: &str) -> State {
    let mut state = ready();
    let own = || text.to_owned();
    match place {
        0 => talk(&mut state, text, text, Some(Finish::EndOfTurn)),
        1 => {
            if let Engine::Ready(model) = &mut state.engine {
                (model.name, model.quantization) = (own(), own());
            }
            state.session.details.title = own();
            talk(&mut state, "hi", text, None);
        }
        2 => {
            update(&mut state, Msg::Notice(Level::Error, own()));
        }
        3 => {
            state.screen.overlay = Some(Overlay::Text {
                title: own(),
                text: own(),
                top: 0,
            });
        }
        4 => state.screen.overlay = Some(Overlay::Sessions(Box::new(sessions(text)))),
        5 => {
            let row = |what| Pick {
                label: own(),
                note: own(),
                what,
            };
            let rows = vec![row(Choice::Theme(own())), row(Choice::Sent(own()))];
            let mut picker = Picker::new("themes", rows);
            picker.look_for(own());
            if picker.row().is_none() {
                picker.look_for(String::new());
            }
            state.screen.overlay = Some(Overlay::Picker(Box::new(picker)));
        }
        6 => {
            state.engine = Engine::Failed(Failure::new(FailureKind::Model, text));
            update(&mut state, Msg::Notice(Level::Warn, own()));
        }
        7 => {
            let token = |control| PromptToken {
                token: Token(1),
                text: own(),
                control,
            };
            let tokens = vec![token(false), token(true)];
            let prompt = PromptView {
                tokens,
                template: own(),
                ..PromptView::default()
            };
            state.screen.overlay = Some(Overlay::Prompt {
                turn: TurnId(9),
                prompt: Some(prompt),
                top: 0,
            });
        }
        8 => {
            update(&mut state, Msg::Action(Action::Run(CommandId::Tune)));
            let prospect = Prospect {
                logits: vec![1.0, 0.5],
                texts: vec![(Token(0), own()), (Token(1), own())],
                ..Prospect::default()
            };
            update(&mut state, Msg::Prospect(prospect.into()));
            update(&mut state, Msg::TypedOver(Typed::Text(own())));
        }
        9 => {
            talk(&mut state, text, text, Some(Finish::EndOfTurn));
            update(&mut state, Msg::Action(Action::Run(CommandId::Find)));
            update(&mut state, Msg::TypedOver(Typed::Text(own())));
        }
        10 => {
            talk(&mut state, "hi", text, Some(Finish::EndOfTurn));
            update(&mut state, Msg::Action(Action::Run(CommandId::Raw)));
        }
        11 => {
            update(&mut state, Msg::Action(Action::Run(CommandId::Models)));
            let model = |facts| Shelved {
                name: own(),
                label: own(),
                facts,
            };
            let facts = Facts {
                architecture: own(),
                quantization: own(),
                ..Facts::default()
            };
            let models = vec![model(Ok(facts)), model(Err(own()))];
            update(&mut state, Msg::Shelf(Ok(Shelf { models, free: None })));
        }
        _ => {
            update(&mut state, Msg::Edited(format!("/theme {text}")));
            state.looks.themes = vec![own()];
            state.draft.tokens = Some((0, 7));
        }
    }
    state
}

fn sessions(text: &str) -> SessionList {
    let details = Details {
        title: text.to_owned(),
        tags: vec![text.to_owned()],
        ..Details::default()
    };
    let session = Summary {
        id: SessionId(1),
        details,
        model: text.to_owned(),
        preview: text.to_owned(),
        ..Summary::default()
    };
    let hit = Hit {
        session: SessionId(1),
        message: MessageId(0),
        role: Speaker::User,
        title: text.to_owned(),
        snippet: vec![(true, text.to_owned()), (false, text.to_owned())],
        at: 0,
    };
    SessionList {
        query: String::new(),
        sessions: vec![session],
        hits: vec![hit],
        there: true,
        ..SessionList::default()
    }
}

/// What a terminal was told that no text may tell it.
#[derive(Default)]
struct Alarm(Vec<String>);

impl vt100::Callbacks for Alarm {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0.push(format!("title {title:?}"));
    }
    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, name: &[u8]) {
        self.0.push(format!("icon {name:?}"));
    }
    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.0.push(format!("clipboard {data:?}"));
    }
    fn paste_from_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.0.push("asked for the clipboard".to_owned());
    }
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.0.push("bell".to_owned());
    }
    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        self.0.push(format!("osc {params:?}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn frames_are_made_of_what_is_allowed(
        text in hostile(),
        place in 0..PLACES,
        size in proptest::sample::select(vec![(120_u16, 40_u16), (80, 24), (40, 12), (23, 7)]),
    ) {
        let state = state_with(place, &text);
        let (buffer, _) = frame(&state, size.0, size.1);
        let mut bytes = Vec::new();
        let blank = Buffer::empty(buffer.area);
        CrosstermBackend::new(&mut bytes).draw(blank.diff(&buffer).into_iter()).unwrap();
        prop_assert_eq!(allowed::breaches(&bytes), BTreeSet::default(), "in place {}", place);
        let (rows, columns) = (size.1.try_into().unwrap(), size.0.try_into().unwrap());
        let mut terminal = vt100::Parser::new_with_callbacks(rows, columns, 0, Alarm::default());
        terminal.process(&bytes);
        prop_assert_eq!(&terminal.callbacks().0, &Vec::<String>::new(), "in place {}", place);
    }
}

#[test]
fn the_list_lets_frames_through_and_nothing_else() {
    for good in [
        "text",
        "\x1b[1;2H",
        "\x1b[38;2;1;2;3m",
        "\x1b[0m",
        "\x1b[?2026h",
        "\x1b[?25l",
        "\x1b[2J",
    ] {
        assert!(allowed::breaches(good.as_bytes()).is_empty(), "{good:?}");
    }
    for bad in allowed::HOSTILE.iter().filter(|piece| piece.contains('\x1b')) {
        let harmless = [
            "\x1b[2J",
            "\x1b[H",
            "\x1b[31m",
            "\x1b[8m",
            "\x1b[1;1H",
            "\x1b[?1049l",
            "\x1b[?2004l",
            "\x1b[?1003h",
        ];
        assert_eq!(
            allowed::breaches(bad.as_bytes()).is_empty(),
            harmless.contains(bad),
            "{bad:?}"
        );
    }
}
