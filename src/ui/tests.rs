//! Rings 3 and 4: whole frames as text and as roles, at three sizes, and as bytes through a terminal emulator.

use std::time::Duration;

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::*;
use crate::app::inspector::Walk;
use crate::app::notice::Level;
use crate::app::sessions::{SessionList, Typed};
use crate::app::state::{Engine, Fetching, Options, Overlay, Phase, ViewInfo};
use crate::app::tuning::Tuning;
use crate::app::ward::Word;
use crate::app::{Action, CommandId, Msg, update};
use crate::domain::examination::{Check, Finding, Verdict};
use crate::domain::fetching::Sight;
use crate::domain::inference::{
    Candidate, Event, Failure, FailureKind, Finish, LoadStep, ModelInfo, Part, PrefillProgress, PromptToken,
    PromptView, Report, Said, Stats, Token, TurnId,
};

use crate::domain::prospect::Prospect;
use crate::domain::sampling::Stage;
use crate::domain::session::{Details, Hit, SessionId, Summary};
use crate::domain::shelf::{Facts, Memory, Origin, Room, Shelf, Shelved};
use crate::domain::{MessageId, Role as Speaker};

/// The screens that every state is drawn on.
const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// A model as an engine tells of it.
fn model() -> ModelInfo {
    ModelInfo {
        name: "cria".into(),
        quantization: "Q8_0".into(),
        parameters: 5_770_000,
        context: 1024,
        builtin: true,
        ..ModelInfo::default()
    }
}

/// A program whose model is loaded.
pub(in crate::ui) fn ready() -> State {
    let (mut state, _) = State::start(Tuning::default(), Options::default(), None, None);
    let turn = state.turn;
    update(
        &mut state,
        Msg::Engine(Event::Ready {
            turn,
            model: Box::new(model()),
        }),
    );
    state.notices.dismiss(Duration::ZERO);
    state
}

use crate::app::State;

/// Sends `question` and has `answer` said, ended where `finish` says how.
pub(in crate::ui) fn talk(state: &mut State, question: &str, answer: &str, finish: Option<Finish>) {
    update(state, Msg::Edited(question.into()));
    update(state, Msg::Action(Action::Send));
    let turn = state.turn;
    for (n, word) in answer.split_inclusive(' ').enumerate() {
        let said = Said {
            token: Some(Token(n as i32)),
            text: word.into(),
            ..Said::default()
        };
        update(state, Msg::Engine(Event::Token { turn, said }));
    }
    if let Some(finish) = finish {
        let figures = Stats {
            generated: 38,
            decode: Duration::from_millis(175),
            first_token: Duration::from_millis(120),
            context_used: 412,
            ..Stats::default()
        };
        update(
            state,
            Msg::Engine(Event::Finished {
                turn,
                finish,
                stats: figures,
            }),
        );
    }
}

/// The answer under way thinks this.
fn thinks(state: &mut State, text: &str) {
    let turn = state.turn;
    for (n, word) in text.split_inclusive(' ').enumerate() {
        let said = Said {
            token: Some(Token(n as i32)),
            part: Part::Thinking,
            text: word.into(),
            ..Said::default()
        };
        update(state, Msg::Tick(Duration::from_millis(400 * n as u64)));
        update(state, Msg::Engine(Event::Token { turn, said }));
    }
}

#[test]
fn thinking_is_folded_until_it_is_asked_for() {
    let mut state = ready();
    talk(&mut state, "Why is the sky blue?", "", None);
    thinks(
        &mut state,
        "Light scatters. Short waves scatter most, so **blue** light comes from everywhere.",
    );
    state.options.thinking_budget = Some(500);
    let under_way = shown(&state, 60, 12);
    assert!(
        under_way.contains("▸ thinking for 4.4 s (12 of 500 tokens)"),
        "{under_way}"
    );
    let narrow = shown(&state, 40, 12);
    assert!(narrow.contains("▸ 4.4 s, 12 of 500 tokens\n"), "{narrow}");
    let turn = state.turn;
    let said = Said {
        text: "Because of scattering.".into(),
        ..Said::default()
    };
    update(&mut state, Msg::Engine(Event::Token { turn, said }));
    insta::assert_snapshot!("thinking_folded_60", shown(&state, 60, 12));
    state.screen.thoughts = true;
    insta::assert_snapshot!("thinking_shown_60", shown(&state, 60, 14));
    insta::assert_snapshot!("thinking_shown_60_roles", roles(&state, 60, 14));
    insta::assert_snapshot!("thinking_shown_40", shown(&state, 40, 14));
}

pub(in crate::ui) fn frame(state: &State, columns: u16, rows: u16) -> (Buffer, ViewInfo) {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let mut composer = Composer::default();
    composer.set_text(&state.draft.text);
    let (theme, _) = theme::load("quipu", None);
    let mut info = ViewInfo::default();
    let mut view = View::default();
    terminal
        .draw(|frame| info = view.draw(state, &composer, &theme, &Keymap::default(), frame))
        .unwrap();
    (terminal.backend().buffer().clone(), info)
}

fn shown(state: &State, columns: u16, rows: u16) -> String {
    cells(&frame(state, columns, rows).0, |symbol, _| symbol.to_owned())
}

pub(in crate::ui) fn cells(buffer: &Buffer, cell: impl Fn(&str, Style) -> String) -> String {
    let Rect { width, height, .. } = buffer.area;
    let row = |y| {
        (0..width)
            .map(|x| cell(buffer[(x, y)].symbol(), buffer[(x, y)].style()))
            .collect::<String>()
    };
    (0..height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

/// One letter for the role that each cell is dressed as, the first letter of its name; a dot for running text.
fn roles(state: &State, columns: u16, rows: u16) -> String {
    let (theme, _) = theme::load("quipu", None);
    cells(&frame(state, columns, rows).0, |symbol, style| {
        let dressed = |role: &Role| {
            let wanted = Style::reset().patch(theme.style(*role));
            (style.fg, style.add_modifier) == (wanted.fg, wanted.add_modifier)
        };
        let letters = [
            (Role::Text, '.'),
            (Role::Dim, 'd'),
            (Role::Title, 'T'),
            (Role::Accent, 'a'),
            (Role::ModelName, 'M'),
            (Role::NoticeError, 'E'),
            (Role::NoticeWarn, 'W'),
            (Role::Emphasis, 'i'),
            (Role::Selection, 'S'),
            (Role::ControlToken, 'C'),
            (Role::TokenOdd, 'o'),
        ];
        if symbol == " " {
            return " ".to_owned();
        }
        letters
            .iter()
            .find(|(role, _)| dressed(role))
            .map_or('?', |(_, letter)| *letter)
            .to_string()
    })
}

/// Holds a state against its pictures at every size.
#[track_caller]
fn at_every_size(name: &str, state: &State) {
    for (columns, rows) in SIZES {
        insta::assert_snapshot!(format!("{name}_{columns}"), shown(state, columns, rows));
    }
}

#[test]
fn an_empty_chat_says_how_to_begin() {
    at_every_size("empty", &ready());
}

#[test]
fn a_model_that_is_loading_shows_how_far() {
    let (mut state, _) = State::start(Tuning::default(), Options::default(), None, None);
    let turn = state.turn;
    update(
        &mut state,
        Msg::Engine(Event::Loading {
            turn,
            step: LoadStep::default(),
            done: 3 << 30,
            total: 4 << 30,
        }),
    );
    at_every_size("loading", &state);
}

#[test]
fn a_talk_shows_who_said_what_and_how_fast() {
    let mut state = ready();
    let answer = "The capital of France is **Paris**.\n\n- *one* more thing\n- `code` too\n\n```sh\necho hello\n```\n";
    talk(
        &mut state,
        "What is the capital of France?",
        answer,
        Some(Finish::EndOfTurn),
    );
    talk(
        &mut state,
        "And of Peru? Tell me in Chinese: 日本語 👩‍👩‍👧",
        "利马 is the ",
        None,
    );
    at_every_size("talk", &state);
    insta::assert_snapshot!("talk_80_roles", roles(&state, 80, 24));
}

#[test]
fn scrolling_up_shows_that_there_is_more_below() {
    let mut state = ready();
    let long = (0..60).map(|n| format!("line {n}\n\n")).collect::<Vec<_>>().concat();
    talk(&mut state, "count", &long, Some(Finish::ContextFull));
    state.notices.dismiss(Duration::ZERO);
    for (columns, rows) in SIZES {
        update(&mut state, Msg::Action(Action::Follow));
        let (_, info) = frame(&state, columns, rows);
        update(&mut state, Msg::Viewed(info));
        update(&mut state, Msg::Action(Action::PageUp));
        insta::assert_snapshot!(format!("scrolled_{columns}"), shown(&state, columns, rows));
    }
    update(&mut state, Msg::Action(Action::Follow));
    assert!(shown(&state, 40, 12).contains("— context full"));
}

#[test]
fn what_lies_over_the_transcript_covers_it() {
    let mut state = ready();
    state.screen.overlay = Some(Overlay::Help { top: 0 });
    at_every_size("help", &state);
    let token = |n, text: &str, control| PromptToken {
        token: Token(n),
        text: text.into(),
        control,
    };
    let prompt = PromptView {
        tokens: vec![
            token(1, "<|im_start|>", true),
            token(2, "user", false),
            token(3, "\n", false),
            token(4, "Hello", false),
            token(5, " there", false),
            token(6, "<|im_end|>", true),
            token(3, "\n", false),
        ],
        template: "the model's own template".into(),
        cached: 3,
        ..PromptView::default()
    };
    state.screen.overlay = Some(Overlay::Prompt {
        turn: TurnId(9),
        prompt: Some(prompt),
        top: 0,
    });
    at_every_size("prompt", &state);
    insta::assert_snapshot!("prompt_80_roles", roles(&state, 80, 24));
}

#[test]
fn an_examination() {
    let mut state = ready();
    let tell = |state: &mut State, msg| drop(update(state, msg));
    tell(&mut state, Msg::Action(Action::Run(CommandId::Doctor)));
    let turn = state.turn;
    let finding = |check, verdict, evidence: &str, remedy: &str| {
        Word::Found(Finding {
            check,
            verdict,
            evidence: evidence.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    let remedy = "get a conversion in which both agree, for without it words come out that nobody can have been taught";
    for word in [
        finding(Check::File, Verdict::Ok, "llama Q8_0, 56 tensors within 6.0 MiB", ""),
        finding(
            Check::Vocabulary,
            Verdict::Failed,
            "4389 rows for 4096 tokens: 293 rows name no token",
            remedy,
        ),
        finding(
            Check::Merges,
            Verdict::NotApplicable,
            "this tokenizer does not merge pairs",
            "",
        ),
        finding(
            Check::Weights,
            Verdict::Warning,
            "'blk.4.attn_v.weight' holds nothing but zeros",
            "download it again",
        ),
        Word::Part(Check::Load, 0.4),
    ] {
        tell(&mut state, Msg::Examined(turn, Box::new(word)));
    }
    at_every_size("examination", &state);
    insta::assert_snapshot!("examination_80_roles", roles(&state, 80, 24));
    tell(&mut state, Msg::Examined(turn, Box::new(Word::Over)));
    at_every_size("examination_over", &state);
}

#[test]
fn a_comparison() {
    let mut state = ready();
    talk(
        &mut state,
        "What is the capital of France?",
        "Paris.",
        Some(Finish::EndOfTurn),
    );
    let tell = |state: &mut State, msg| drop(update(state, msg));
    tell(&mut state, Msg::Edited("/compare precise creative code".into()));
    tell(&mut state, Msg::Action(Action::Send));
    let turn = state.turn;
    let words = [
        &["The", " capital", " of", " France", " is", " Paris", "."][..],
        &[
            "The",
            " capital",
            " of",
            " light",
            ",",
            " love",
            " and",
            " 東京",
            " is",
            " of",
            " course",
            " Paris",
            "!\n\nOr so",
            " they say.",
        ],
        &["Paris"],
    ];
    for (column, words) in words.into_iter().enumerate() {
        for (n, text) in words.iter().enumerate() {
            let said = Said {
                token: Some(Token(
                    n as i32 + i32::from(text.starts_with("Par")) * 50 + if *text == " light" { 9 } else { 0 },
                )),
                text: (*text).to_owned(),
                ..Said::default()
            };
            tell(&mut state, Msg::Engine(Event::Column { turn, column, said }));
        }
    }
    let over = Event::ColumnFinished {
        turn,
        column: 0,
        finish: Finish::EndOfTurn,
        stats: Stats::default(),
    };
    tell(&mut state, Msg::Engine(over));
    at_every_size("compare", &state);
    insta::assert_snapshot!("compare_120_roles", roles(&state, 120, 24));
}

/// The panel over a talk, with titles that would do harm if they could.
fn sessions() -> State {
    let mut state = ready();
    state.keep(1_795_219_200_000, None);
    talk(
        &mut state,
        "What is a quipu?",
        "A cord of knots.",
        Some(Finish::EndOfTurn),
    );
    let session = |id, title: &str, age_hours: i64| Summary {
        id: SessionId(id),
        details: Details {
            title: title.into(),
            tags: vec!["andes".into()],
            ..Details::default()
        },
        used: 1_795_219_200_000 - age_hours * 3_600_000,
        messages: 4 * id as u32,
        bytes: 900 * id.unsigned_abs(),
        model: "condor 7B".into(),
        preview: "They counted with knots:\n\u{1b}[2J ones, tens, hundreds.".into(),
        ..Summary::default()
    };
    let mut pinned = session(3, "Knots and cords", 400);
    pinned.details.pinned = true;
    let hit = Hit {
        session: SessionId(2),
        title: "結縄 and \u{202e}other ways".into(),
        message: MessageId(1),
        role: Speaker::Assistant,
        at: 0,
        snippet: vec![
            (false, "they tied ".into()),
            (true, "knots".into()),
            (false, " into\u{1b}]0;x\u{7} cords".into()),
        ],
    };
    state.screen.overlay = Some(Overlay::Sessions(Box::new(SessionList {
        sessions: vec![
            pinned,
            session(1, "What is a quipu?", 0),
            session(
                2,
                "\u{1b}]0;pwned\u{7}結縄 and \u{202e}other ways to write without letters",
                30,
            ),
        ],
        hits: vec![hit],
        selected: 1,
        there: true,
        ..SessionList::default()
    })));
    state
}

#[test]
fn the_sessions_are_listed_and_searched() {
    let mut state = sessions();
    at_every_size("sessions", &state);
    insta::assert_snapshot!("sessions_80_roles", roles(&state, 80, 24));
    if let Some(Overlay::Sessions(list)) = &mut state.screen.overlay {
        "knots".clone_into(&mut list.query);
        list.selected = 1;
    }
    at_every_size("sessions_found", &state);
    if let Some(Overlay::Sessions(list)) = &mut state.screen.overlay {
        (list.sessions, list.hits) = (Vec::new(), Vec::new());
    }
    at_every_size("sessions_nothing", &state);
}

#[test]
fn a_selected_message_is_marked() {
    let mut state = ready();
    talk(
        &mut state,
        "What is a quipu?",
        "A cord of knots.",
        Some(Finish::EndOfTurn),
    );
    update(&mut state, Msg::Action(Action::SelectPrevious));
    at_every_size("selected", &state);
    insta::assert_snapshot!("selected_80_roles", roles(&state, 80, 24));
}

#[test]
fn a_loop_is_told_of_with_its_ways_out() {
    let mut state = ready();
    talk(&mut state, "What is the capital?", "The capital is ", None);
    let turn = state.turn;
    let said = Said {
        token: Some(Token(9)),
        text: "rect ".to_owned(),
        ..Said::default()
    };
    for _ in 0..70 {
        let said = said.clone();
        update(&mut state, Msg::Engine(Event::Token { turn, said }));
    }
    let (finish, figures) = (Finish::Stopped, Stats::default());
    let stopped = Event::Finished {
        turn,
        finish,
        stats: figures,
    };
    update(&mut state, Msg::Engine(stopped));
    at_every_size("loop", &state);
    update(&mut state, Msg::Action(Action::Run(CommandId::Loop)));
    at_every_size("loop_ways", &state);
}

#[test]
fn the_tokens_of_an_answer_are_walked() {
    let mut state = ready();
    state.options.trace = 5;
    talk(&mut state, "What is the capital of France?", "", None);
    let turn = state.turn;
    let candidate = |token, text: &str, logit, before, removed: Option<Stage>| Candidate {
        token: Token(token),
        text: text.to_owned(),
        logit,
        before,
        after: removed.is_none().then_some(before / 0.97),
        removed,
    };
    let words = [
        ("The", 0.93, 0),
        (" capital", 0.41, 0),
        (" is", 0.17, 2),
        (" Paris", 0.03, 4),
        (".\n", 0.99, 0),
    ];
    for (n, (text, probability, rank)) in words.into_iter().enumerate() {
        let report = Report {
            probability,
            after: probability,
            rank,
            entropy: 4.0 * (1.0 - probability),
            kept: vec![(Stage::TopK, 40), (Stage::TopP, 9), (Stage::Temperature, 9)],
            candidates: vec![
                candidate(n as i32, text, 17.25, probability, None),
                candidate(90, " Lyon", 12.5, 0.02, Some(Stage::TopP)),
                candidate(91, " 東京", 9.0, 0.001, Some(Stage::TopK)),
            ],
            ..Report::default()
        };
        let said = Said {
            token: Some(Token(n as i32)),
            text: text.to_owned(),
            report: Some(Box::new(report)),
            ..Said::default()
        };
        update(&mut state, Msg::Engine(Event::Token { turn, said }));
    }
    update(&mut state, Msg::Action(Action::Run(CommandId::Inspect)));
    update(&mut state, Msg::Action(Action::Walk(Walk::Previous)));
    update(&mut state, Msg::Action(Action::LineDown));
    at_every_size("inspect", &state);
    insta::assert_snapshot!("inspect_80_roles", roles(&state, 80, 24));
    update(&mut state, Msg::Action(Action::Walk(Walk::Force)));
    update(&mut state, Msg::TypedOver(Typed::Text(" Lyon, 東京".into())));
    at_every_size("inspect_typing", &state);
}

#[test]
fn completions_and_notices_stand_above_the_composer() {
    let mut state = ready();
    update(&mut state, Msg::Edited("/se".into()));
    update(
        &mut state,
        Msg::Notice(Level::Warn, "memory allows a context of 512 tokens".into()),
    );
    at_every_size("completion", &state);
    insta::assert_snapshot!("completion_80_roles", roles(&state, 80, 24));
    let mut failed = ready();
    let failure = Failure::new(
        FailureKind::Model,
        "no such model 'x.gguf'; give the path of a .gguf file",
    );
    failed.engine = Engine::Failed(failure.clone());
    update(&mut failed, Msg::Notice(Level::Error, failure.message));
    at_every_size("failed", &failed);
}

#[test]
fn a_screen_without_room_says_so() {
    insta::assert_snapshot!(shown(&ready(), 19, 3), @"


         too small
    ");
}

/// Text that tries everything: titles, the clipboard, colours, cursor moves, right-to-left overrides, hidden tags.
const HOSTILE: &str = "a\u{1b}]0;owned\u{7}b\u{1b}]52;c;ZXZpbA==\u{7}c\u{1b}[2J\u{1b}[31md\u{9b}1;1He\u{202e}f\u{e0041}g\u{1b}c\u{1b}]8;;http://x\u{1b}\\h\u{8}\u{7}\ti";

fn hostile() -> State {
    let (mut state, _) = State::start(Tuning::default(), Options::default(), None, None);
    let turn = state.turn;
    let model = ModelInfo {
        name: HOSTILE.into(),
        quantization: HOSTILE.into(),
        builtin: false,
        ..model()
    };
    update(
        &mut state,
        Msg::Engine(Event::Ready {
            turn,
            model: Box::new(model),
        }),
    );
    talk(&mut state, HOSTILE, HOSTILE, Some(Finish::EndOfTurn));
    update(&mut state, Msg::Notice(Level::Error, HOSTILE.into()));
    state
}

/// What a terminal must never be told by a text.
#[derive(Default)]
struct Alarm(Vec<String>);

impl vt100::Callbacks for Alarm {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0.push(format!("title {title:?}"));
    }
    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.0.push(format!("clipboard {data:?}"));
    }
    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        self.0.push(format!("osc {params:?}"));
    }
}

#[test]
fn no_text_reaches_the_terminal_as_a_command() {
    let (rows, columns) = (24.try_into().unwrap(), 80.try_into().unwrap());
    for (overlay, name) in [(false, "transcript"), (true, "overlay")] {
        let mut state = hostile();
        if overlay {
            state.screen.overlay = Some(Overlay::Text {
                title: HOSTILE.into(),
                text: HOSTILE.into(),
                top: 0,
            });
        }
        let (buffer, _) = frame(&state, 80, 24);
        let mut terminal = vt100::Parser::new_with_callbacks(rows, columns, 0, Alarm::default());
        let mut bytes = Vec::new();
        let blank = Buffer::empty(buffer.area);
        ratatui::backend::Backend::draw(&mut CrosstermBackend::new(&mut bytes), blank.diff(&buffer).into_iter())
            .unwrap();
        terminal.process(&bytes);
        assert_eq!(terminal.callbacks().0, Vec::<String>::new(), "{name}");
        // What the terminal shows is what was drawn, cell by cell: nothing moved the cursor or cleared anything.
        for y in 0..24_u16 {
            for x in 0..80_u16 {
                let seen = terminal.screen().cell(y, x).map_or("", |cell| cell.contents());
                assert_eq!(seen.trim(), buffer[(x, y)].symbol().trim(), "{name} at {x},{y}");
            }
        }
        let text = terminal.screen().contents();
        assert!(
            !text.contains('\u{202e}') && text.contains("U+202E"),
            "{name}: a hidden control is shown by its number"
        );
    }
}

#[test]
fn shrinking_and_growing_leaves_nothing_behind() {
    let mut state = ready();
    talk(&mut state, "hello", "one two three", Some(Finish::EndOfTurn));
    let mut view = View::default();
    let (theme, _) = theme::load("quipu", None);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    for (columns, rows) in [(80, 24), (30, 8), (120, 40), (80, 24)] {
        terminal.backend_mut().resize(columns, rows);
        let draw = |frame: &mut ratatui::Frame<'_>| {
            view.draw(&state, &Composer::default(), &theme, &Keymap::default(), frame);
        };
        terminal.draw(draw).unwrap();
        let seen = cells(terminal.backend().buffer(), |symbol, _| symbol.to_owned());
        assert_eq!(seen, shown(&state, columns, rows), "{columns}x{rows}");
    }
}

#[test]
fn long_names_are_shortened_and_never_hide_the_context() {
    let mut state = ready();
    let name = "Some-Very-Long-Name-of-a-Model-That-Was-Merged-Thrice-and-Tuned-on-Everything-Instruct";
    if let Engine::Ready(model) = &mut state.engine {
        model.name = name.to_owned();
    }
    for (columns, told) in [
        (40, "Some-Very-"),
        (80, "Some-Very-Long-Name-of-a-M"),
        (120, "Some-Very-Long-Name-of-a-Model"),
    ] {
        let top = shown(&state, columns, 24);
        let top = top.lines().next().unwrap();
        assert!(
            top.contains(told) && top.contains('…') && top.contains("/1024"),
            "{top}"
        );
    }
}

#[test]
fn a_notice_leaves_something_of_the_conversation_on_low_screens() {
    let mut state = ready();
    talk(&mut state, "first", "one", Some(Finish::EndOfTurn));
    state
        .notices
        .push(Level::Error, "a very long word to the person ".repeat(30), state.now);
    for (columns, rows) in [(40, 12), (80, 24), (30, 9)] {
        let screen = shown(&state, columns, rows);
        let above = screen.lines().position(|line| line.starts_with(" ×")).unwrap();
        assert!(above > 3, "{screen}");
        assert!(screen.contains('…') && screen.contains("ready"), "{screen}");
    }
}

#[test]
fn what_the_model_no_longer_sees_is_dim() {
    let mut state = ready();
    talk(&mut state, "first", "one", Some(Finish::EndOfTurn));
    talk(&mut state, "second", "two", Some(Finish::EndOfTurn));
    state.window.left_out = 2;
    let dressed = roles(&state, 80, 24);
    let shown = shown(&state, 80, 24);
    let of = |word: &str| {
        let (shown, dressed) = shown
            .lines()
            .zip(dressed.lines())
            .find(|(text, _)| text.trim() == word)
            .unwrap();
        dressed.chars().nth(shown.find(word).unwrap()).unwrap()
    };
    assert_eq!([of("first"), of("one"), of("second"), of("two")], ['d', 'd', '.', '.']);
}

#[test]
fn a_text_of_the_same_length_in_a_new_conversation_is_drawn_anew() {
    let mut state = ready();
    let mut view = View::default();
    let (theme, _) = theme::load("quipu", None);
    let mut terminal = Terminal::new(TestBackend::new(60, 20)).unwrap();
    let mut draw = |state: &State| {
        terminal
            .draw(|frame| {
                view.draw(state, &Composer::default(), &theme, &Keymap::default(), frame);
            })
            .unwrap();
        cells(terminal.backend().buffer(), |symbol, _| symbol.to_owned())
    };
    talk(&mut state, "first", "aaaa", Some(Finish::EndOfTurn));
    assert!(draw(&state).contains("aaaa"));
    update(&mut state, Msg::Action(Action::find("new").unwrap()));
    talk(&mut state, "other", "bbbb", Some(Finish::EndOfTurn));
    let seen = draw(&state);
    assert!(
        seen.contains("other") && seen.contains("bbbb") && !seen.contains("aaaa"),
        "{seen}"
    );
}

proptest! {
    #[test]
    fn no_size_of_screen_is_too_odd(columns in 0_u16..200, rows in 0_u16..60, what in 0..4_u8) {
        let mut state = if what == 0 { ready() } else { hostile() };
        match what {
            2 => state.screen.overlay = Some(Overlay::Help { top: 7 }),
            3 => { update(&mut state, Msg::Edited("/".into())); }
            _ => {}
        }
        frame(&state, columns, rows);
    }
}

/// A state in which sampling is tuned while an answer is written.
fn tuned() -> State {
    let mut state = ready();
    talk(
        &mut state,
        "What is the capital of France?",
        "The capital of France is **Paris**.",
        Some(Finish::EndOfTurn),
    );
    update(&mut state, Msg::Action(Action::Run(CommandId::Tune)));
    update(&mut state, Msg::Action(Action::Raise));
    let words = [" Paris", " the", " Lyon", "\n\n", " located", "\u{1b}[31m"];
    let named = |(id, text): (usize, &&str)| (Token(id as i32), (*text).to_owned());
    let prospect = Prospect {
        logits: vec![5.0, 1.5, 1.0, 0.5, -1.0, -4.0],
        texts: words.iter().enumerate().map(named).collect(),
        ..Prospect::default()
    };
    update(&mut state, Msg::Prospect(prospect.into()));
    state
}

#[test]
fn sampling_is_tuned_beside_the_conversation_or_over_it() {
    let mut state = tuned();
    at_every_size("tune", &state);
    insta::assert_snapshot!("tune_120_roles", roles(&state, 120, 40));
    update(&mut state, Msg::TypedOver(Typed::Text("1.25".to_owned())));
    assert!(shown(&state, 80, 24).contains("temperature       1.25"));
    update(&mut state, Msg::Action(Action::Escape));
    update(&mut state, Msg::Action(Action::NamePreset));
    assert!(shown(&state, 80, 24).contains("keep as:"));
}

#[test]
fn lists_to_choose_from_lie_over_the_conversation() {
    for (columns, rows) in SIZES {
        let mut state = ready();
        update(&mut state, Msg::Action(Action::Palette));
        insta::assert_snapshot!(format!("palette_{columns}"), shown(&state, columns, rows));
        update(&mut state, Msg::TypedOver(Typed::Text("thm".to_owned())));
        assert!(shown(&state, columns, rows).contains("theme"));
        let mut state = ready();
        state.looks.themes = theme::names(None);
        "quipu".clone_into(&mut state.looks.theme);
        update(&mut state, Msg::Action(Action::Run(CommandId::Theme)));
        insta::assert_snapshot!(format!("themes_{columns}"), shown(&state, columns, rows));
    }
}

#[test]
fn words_that_are_looked_for_stand_out() {
    let mut state = ready();
    let text = "one needle\n\ntwo\n\n- a Needle again\n\n```\nneedle()\n```\n";
    talk(&mut state, "Where is the needle?", text, Some(Finish::EndOfTurn));
    update(&mut state, Msg::Action(Action::Run(CommandId::Find)));
    update(&mut state, Msg::TypedOver(Typed::Text("needle".to_owned())));
    at_every_size("find", &state);
    insta::assert_snapshot!("find_80_roles", roles(&state, 80, 24));
}

#[test]
fn an_answer_as_it_was_written() {
    let mut state = ready();
    talk(
        &mut state,
        "Well?",
        "So **bold**, and $x^2$.\n\n- item\n",
        Some(Finish::EndOfTurn),
    );
    update(&mut state, Msg::Action(Action::Run(CommandId::Raw)));
    at_every_size("raw", &state);
}

#[test]
fn everything_of_ours_can_be_drawn_in_ascii() {
    let mut states = vec![ready(), tuned()];
    let mut talking = ready();
    talk(
        &mut talking,
        "hi",
        "- one\n- [x] two\n\n> three\n\n---\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nlong long long long long long long\n```\n",
        None,
    );
    thinks(&mut talking, "so it is");
    states.push(talking);
    let mut listing = ready();
    update(&mut listing, Msg::Action(Action::Palette));
    states.push(listing);
    for mut state in states {
        state.looks.ascii = true;
        for (columns, rows) in SIZES {
            let screen = shown(&state, columns, rows);
            assert!(screen.is_ascii(), "{screen}");
        }
    }
}

/// The answer under way is at this phase.
fn at_phase(phase: Phase) -> State {
    let mut state = ready();
    talk(&mut state, "What is a quipu?", "", None);
    if let Some(running) = &mut state.running {
        running.phase = phase;
    }
    state
}

#[test]
fn every_wait_says_what_is_waited_for() {
    let progress = PrefillProgress {
        done: 300,
        total: 1200,
        reused: 100,
    };
    let mut reading = at_phase(Phase::Prefill(progress));
    update(&mut reading, Msg::Tick(Duration::from_secs(2)));
    at_every_size("reading", &reading);
    at_every_size("queued", &at_phase(Phase::Queued));
    at_every_size("stopping", &at_phase(Phase::Stopping));
    let mut writing = at_phase(Phase::Queued);
    writing.looks.still = true;
    assert!(
        shown(&writing, 80, 24).contains("· waiting"),
        "nothing turns where nothing is to"
    );
}

#[test]
fn trouble_is_seen_at_every_size() {
    let mut dead = ready();
    talk(&mut dead, "hi", "hello", Some(Finish::EndOfTurn));
    update(
        &mut dead,
        Msg::Engine(Event::Died {
            reason: "out of memory".to_owned(),
        }),
    );
    at_every_size("dead", &dead);
    let mut unsaved = ready();
    talk(&mut unsaved, "hi", "hello", Some(Finish::MaxTokens));
    unsaved.keeping.trouble = true;
    unsaved.session.read_only = true;
    unsaved.session.details.title = "Knots".to_owned();
    at_every_size("unsaved", &unsaved);
}

#[test]
fn folds_and_what_the_model_no_longer_sees() {
    let mut state = ready();
    let question = "a line of it\n".repeat(40);
    talk(&mut state, &question, "one\n\ntwo\n\nthree", Some(Finish::EndOfTurn));
    talk(&mut state, "and?", "four", Some(Finish::Stopped));
    state.window.left_out = 1;
    let answer = state.conversation.path()[1].id;
    state.screen.folds.insert(answer);
    at_every_size("folded", &state);
}

#[test]
fn a_summary_stands_under_what_the_model_does_not_see_any_more() {
    let mut state = ready();
    talk(
        &mut state,
        "Who built the fortress above Cusco?",
        "The Inca, under Pachacuti.",
        Some(Finish::EndOfTurn),
    );
    talk(
        &mut state,
        "When?",
        "In the fifteenth century.",
        Some(Finish::EndOfTurn),
    );
    let summary = state.conversation.push(
        crate::domain::Role::System,
        "They spoke of **Sacsayhuamán**: the Inca built it.",
        0,
    );
    state.conversation.get_mut(summary).unwrap().answer = Some(crate::domain::Answer {
        finish: Some(Finish::EndOfTurn),
        tokens: vec![Token(1); 14],
        ..crate::domain::Answer::default()
    });
    talk(
        &mut state,
        "And who after them?",
        "The Spaniards took it down.",
        Some(Finish::EndOfTurn),
    );
    at_every_size("compacted", &state);
    insta::assert_snapshot!("compacted_80_roles", roles(&state, 80, 24));
}

#[test]
fn what_is_being_written_has_its_own_marks() {
    let mut state = ready();
    state.draft.tokens = Some((0, 2000));
    let mut composer = Composer::default();
    composer.set_vi(true);
    composer.set_text("a \u{202e}message");
    composer.fold("a file\nof two lines\n");
    composer.escape();
    update(&mut state, Msg::Edited(composer.text()));
    let (theme, _) = theme::load("quipu", None);
    for (columns, rows) in SIZES {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut view = View::default();
        let draw = |frame: &mut ratatui::Frame<'_>| {
            view.draw(&state, &composer, &theme, &Keymap::default(), frame);
        };
        terminal.draw(draw).unwrap();
        let screen = cells(terminal.backend().buffer(), |symbol, _| symbol.to_owned());
        insta::assert_snapshot!(format!("writing_{columns}"), screen);
    }
}

#[test]
fn what_is_fetched_is_told_beside_what_the_engine_does() {
    let mut state = ready();
    state.fetching = Some(Fetching {
        name: "ada/condor".to_owned(),
        sight: Some(Sight {
            label: "condor-Q4_K_M".to_owned(),
            done: 300 << 20,
            total: 1 << 30,
            rate: 5 << 20,
        }),
    });
    at_every_size("fetching", &state);
}

#[test]
fn models_are_listed_at_every_size() {
    let mut state = ready();
    update(&mut state, Msg::Action(Action::Run(CommandId::Models)));
    at_every_size("models_waiting", &state);
    let facts = Facts {
        architecture: "llama".to_owned(),
        parameters: 1_100_000_000,
        quantization: "Q4_K_M".to_owned(),
        bytes: 670 << 20,
        context_train: Some(2048),
        has_template: true,
        ..Facts::default()
    };
    let large = Facts {
        architecture: "qwen2".to_owned(),
        parameters: 70_600_000_000,
        bytes: 43 << 30,
        has_template: false,
        context_train: Some(131_072),
        ..facts.clone()
    };
    let model = |label: &str, facts, weights| Shelved {
        name: format!("/models/{label}.gguf"),
        label: label.to_owned(),
        repo: None,
        origin: Origin::HuggingFace,
        facts,
        room: Room {
            weights,
            context: 2048,
            largest_context: Some(if weights > 1 << 34 { 0 } else { 2048 }),
            ..Room::default()
        },
    };
    let models = vec![
        model("cria", Ok(facts.clone()), 1 << 30),
        model("Some-Model-70B-Instruct-with-a-long-name-Q4_K_M", Ok(large), 46 << 30),
        model("tinyllama-1.1b", Ok(facts), 1 << 30),
        model("wreck", Err("it ends in the middle of tensor 'blk.3'".to_owned()), 0),
    ];
    let memory = Memory {
        free: Some(16 << 30),
        on_cards: 0,
    };
    update(&mut state, Msg::Shelf(Ok(Shelf { models, memory })));
    at_every_size("models", &state);
}
