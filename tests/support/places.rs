//! Every place of the screen that shows a text which is not ours, drawn with any text, and what a terminal makes of the bytes. Only the
//! public interface is used: tests and the fuzz target share it.
#![allow(clippy::unwrap_used, reason = "test support: a failure here fails the test")]

use quipu::app::notice::Level;
use quipu::app::picker::{Choice, Pick, Picker};
use quipu::app::sessions::{SessionList, Typed};
use quipu::app::state::{Engine, Options, Overlay};
use quipu::app::tuning::Tuning;
use quipu::app::ward::Word;
use quipu::app::{Action, CommandId, Msg, State, update};
use quipu::domain::examination::{Check, Finding, Verdict};
use quipu::domain::inference::{
    Candidate, Event, Failure, FailureKind, Finish, ModelInfo, PromptToken, PromptView, Report, Said, Stats, Token,
    TurnId,
};
use quipu::domain::prospect::Prospect;
use quipu::domain::session::{Details, Hit, SessionId, Summary};
use quipu::domain::shelf::{Facts, Memory, Origin, Room, Shelf, Shelved};
use quipu::domain::{MessageId, Role};
use quipu::ui::{Composer, Keymap, View, theme};
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend, TestBackend};
use ratatui::buffer::Buffer;

/// Sizes of windows, from usual to hardly one.
pub const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (40, 12), (23, 7)];

/// Every place that shows a text which is not ours.
pub const PLACES: usize = 16;

/// A program that shows `text` in one of the [`PLACES`].
pub fn state_with(place: usize, text: &str) -> State {
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
            tell(&mut state, Msg::Notice(Level::Error, own()));
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
            tell(&mut state, Msg::Notice(Level::Warn, own()));
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
            tell(&mut state, Msg::Action(Action::Run(CommandId::Tune)));
            let prospect = Prospect {
                logits: vec![1.0, 0.5],
                texts: vec![(Token(0), own()), (Token(1), own())],
                ..Prospect::default()
            };
            tell(&mut state, Msg::Prospect(prospect.into()));
            tell(&mut state, Msg::TypedOver(Typed::Text(own())));
        }
        9 => {
            talk(&mut state, text, text, Some(Finish::EndOfTurn));
            tell(&mut state, Msg::Action(Action::Run(CommandId::Find)));
            tell(&mut state, Msg::TypedOver(Typed::Text(own())));
        }
        10 => {
            talk(&mut state, "hi", text, Some(Finish::EndOfTurn));
            tell(&mut state, Msg::Action(Action::Run(CommandId::Raw)));
        }
        11 => inspected(&mut state, text),
        12 => shelved(&mut state, text),
        13 => examined(&mut state, text),
        14 => compared(&mut state, text),
        _ => {
            tell(&mut state, Msg::Edited(format!("/theme {text}")));
            state.looks.themes = vec![own()];
            state.draft.tokens = Some((0, 7));
        }
    }
    state
}

/// Shows the tokens of an answer, all of which are `text`.
fn inspected(state: &mut State, text: &str) {
    state.options.trace = 5;
    tell(state, Msg::Edited("hi".into()));
    tell(state, Msg::Action(Action::Send));
    let candidate = |token| Candidate {
        token: Token(token),
        text: text.to_owned(),
        ..Candidate::default()
    };
    let report = Report {
        candidates: vec![candidate(1), candidate(2)],
        ..Report::default()
    };
    let said = Said {
        token: Some(Token(1)),
        text: text.to_owned(),
        report: Some(Box::new(report)),
        ..Said::default()
    };
    let turn = state.turn;
    tell(state, Msg::Engine(Event::Token { turn, said }));
    tell(state, Msg::Action(Action::Run(CommandId::Inspect)));
}

/// Lists models of which everything is `text`.
fn shelved(state: &mut State, text: &str) {
    tell(state, Msg::Action(Action::Run(CommandId::Models)));
    let model = |facts| Shelved {
        name: text.to_owned(),
        label: text.to_owned(),
        repo: Some(text.to_owned()),
        origin: Origin::Ollama,
        facts,
        room: Room::default(),
    };
    let facts = Facts {
        architecture: text.to_owned(),
        quantization: text.to_owned(),
        ..Facts::default()
    };
    let models = vec![model(Ok(facts)), model(Err(text.to_owned()))];
    tell(
        state,
        Msg::Shelf(Ok(Shelf {
            models,
            memory: Memory::default(),
        })),
    );
}

/// Has the model examined, of which only `text` can be said.
fn examined(state: &mut State, text: &str) {
    tell(state, Msg::Action(Action::Run(CommandId::Doctor)));
    let finding = Finding {
        check: Check::Load,
        verdict: Verdict::Failed,
        evidence: text.to_owned(),
        remedy: text.to_owned(),
    };
    let turn = state.turn;
    for word in [Word::Found(finding), Word::Failed(text.to_owned())] {
        tell(state, Msg::Examined(turn, Box::new(word)));
    }
}

/// Compares answers that say nothing but `text`.
fn compared(state: &mut State, text: &str) {
    talk(state, "hi", "ho", Some(Finish::EndOfTurn));
    tell(state, Msg::Edited("/compare precise creative".into()));
    tell(state, Msg::Action(Action::Send));
    let turn = state.turn;
    for column in 0..2 {
        let said = Said {
            token: Some(Token(column as i32)),
            text: text.to_owned(),
            ..Said::default()
        };
        tell(state, Msg::Engine(Event::Column { turn, column, said }));
    }
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
        role: Role::User,
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

/// What is to be done about it is nobody's business here.
fn tell(state: &mut State, msg: Msg) {
    let _ = update(state, msg);
}

/// A program whose model is loaded.
fn ready() -> State {
    let (mut state, _) = State::start(Tuning::default(), Options::default(), None, None);
    let turn = state.turn;
    let model = Box::new(ModelInfo {
        context: 1024,
        ..ModelInfo::default()
    });
    tell(&mut state, Msg::Engine(Event::Ready { turn, model }));
    state
}

/// Sends `question` and has `answer` said word by word, ended where `finish` says how.
fn talk(state: &mut State, question: &str, answer: &str, finish: Option<Finish>) {
    tell(state, Msg::Edited(question.into()));
    tell(state, Msg::Action(Action::Send));
    let turn = state.turn;
    for word in answer.split_inclusive(' ') {
        let said = Said {
            token: Some(Token(1)),
            text: word.into(),
            ..Said::default()
        };
        tell(state, Msg::Engine(Event::Token { turn, said }));
    }
    if let Some(finish) = finish {
        let figures = Stats::default();
        tell(
            state,
            Msg::Engine(Event::Finished {
                turn,
                finish,
                stats: figures,
            }),
        );
    }
}

/// The bytes that a terminal of `columns` by `rows` gets for this state.
pub fn written(state: &State, (columns, rows): (u16, u16)) -> Vec<u8> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let mut composer = Composer::default();
    composer.set_text(&state.draft.text);
    let (theme, _) = theme::load("quipu", None);
    let mut view = View::default();
    terminal
        .draw(|frame| {
            view.draw(state, &composer, &theme, &Keymap::default(), frame);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let blank = Buffer::empty(buffer.area);
    let mut bytes = Vec::new();
    CrosstermBackend::new(&mut bytes)
        .draw(blank.diff(buffer).into_iter())
        .unwrap();
    bytes
}

/// What a terminal of that size was told in these bytes that no text may tell it.
pub fn alarms(bytes: &[u8], (columns, rows): (u16, u16)) -> Vec<String> {
    let (rows, columns) = (rows.try_into().unwrap(), columns.try_into().unwrap());
    let mut terminal = vt100::Parser::new_with_callbacks(rows, columns, 0, Alarm::default());
    terminal.process(bytes);
    terminal.callbacks().0.clone()
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
