//! What a view keeps from frame to frame: it must never show in a frame, and a reader must not lose the place.

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::tests::{cells, ready, talk};
use super::*;
use crate::app::find::Find;
use crate::app::state::{Overlay, Scroll, ViewInfo};
use crate::app::{Action, Msg, State, update};
use crate::domain::inference::{Event, Finish, PrefillProgress, PromptToken, PromptView, Said, Stats, Token};

/// A program with a view that lives as long as it does.
struct Window {
    state: State,
    view: View,
    theme: Theme,
    size: (u16, u16),
}

impl Window {
    fn new(columns: u16, rows: u16) -> Self {
        Self {
            state: ready(),
            view: View::default(),
            theme: theme::load("quipu", None).0,
            size: (columns, rows),
        }
    }

    fn draw_with(&self, view: &mut View) -> (Buffer, ViewInfo) {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        let mut info = ViewInfo::default();
        terminal
            .draw(|frame| {
                info = view.draw(
                    &self.state,
                    &Composer::default(),
                    &self.theme,
                    &Keymap::default(),
                    frame,
                );
            })
            .unwrap();
        (terminal.backend().buffer().clone(), info)
    }

    /// Draws once and takes in what that taught, as the loop does.
    fn frame(&mut self) -> (Buffer, ViewInfo) {
        let mut view = std::mem::take(&mut self.view);
        let (buffer, info) = self.draw_with(&mut view);
        self.view = view;
        self.told(Msg::Viewed(info));
        (buffer, info)
    }

    /// Draws until a frame teaches nothing new, as the loop does.
    fn draw(&mut self) -> (Buffer, ViewInfo) {
        for _ in 0..5 {
            let before = self.state.screen.view;
            let (buffer, info) = self.frame();
            if info == before {
                return (buffer, info);
            }
        }
        panic!("the frames do not come to rest");
    }

    fn told(&mut self, msg: Msg) {
        update(&mut self.state, msg);
    }

    fn act(&mut self, name: &str) {
        self.told(Msg::Action(Action::find(name).unwrap()));
    }

    /// The words on the first line of the transcript.
    fn first_line(&mut self) -> String {
        let (buffer, _) = self.draw();
        cells(&buffer, |symbol, _| symbol.to_owned())
            .lines()
            .nth(1)
            .unwrap()
            .trim()
            .to_owned()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Ask(String),
    Reads(u32),
    Say(String),
    Finish(Finish),
    Act(&'static str),
    Scroll(i32),
    Resize(u16, u16),
    Theme(&'static str),
    Text(String),
    Prompt(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let texts = || "[a-z \n\t\u{1b}\r日*`é👩\u{200d}\u{202e}]{0,60}";
    let chunks = proptest::sample::select(vec![
        "\n\n",
        "```\n",
        "\tx = 1\n",
        "- item ",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "[x]: https://example.org\n",
        "see [x] and **more",
        "# head\n",
        "\u{1b}[31",
        "> quoted\r",
    ]);
    let ends = vec![Finish::EndOfTurn, Finish::MaxTokens, Finish::Stopped];
    let actions = vec![
        "retry",
        "retry",
        "version-previous",
        "version-next",
        "version-previous",
        "new",
        "escape",
        "help",
        "page-up",
        "top",
        "follow",
    ];
    prop_oneof![
        3 => "[a-z\n\t ]{1,80}".prop_map(Step::Ask),
        1 => (0_u32..9).prop_map(Step::Reads),
        6 => prop_oneof![texts().prop_map(Step::Say), chunks.prop_map(|chunk| Step::Say(chunk.to_owned()))],
        3 => proptest::sample::select(ends).prop_map(Step::Finish),
        6 => proptest::sample::select(actions).prop_map(Step::Act),
        3 => (-30_i32..30).prop_map(Step::Scroll),
        2 => (10_u16..90, 5_u16..30).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => proptest::sample::select(vec!["quipu", "night", "paper"]).prop_map(Step::Theme),
        1 => texts().prop_map(Step::Text),
        1 => (0_usize..3).prop_map(Step::Prompt),
    ]
}

impl Window {
    fn take(&mut self, step: Step) {
        let answer = self.state.running.as_ref().map(|running| running.turn);
        let turn = answer.unwrap_or(self.state.turn);
        match step {
            Step::Ask(words) => {
                self.told(Msg::Edited(words));
                self.told(Msg::Action(Action::Send));
            }
            Step::Reads(done) => {
                let progress = PrefillProgress {
                    done,
                    total: 9,
                    reused: 0,
                };
                self.told(Msg::Engine(Event::Prefill { turn, progress }));
            }
            Step::Say(text) => {
                let said = Said {
                    token: Some(Token(1)),
                    text,
                    ..Said::default()
                };
                self.told(Msg::Engine(Event::Token { turn, said }));
            }
            Step::Finish(finish) => {
                let stats = Stats::default();
                self.told(Msg::Engine(Event::Finished { turn, finish, stats }));
            }
            Step::Act(name) => self.act(name),
            Step::Scroll(lines) => self.told(Msg::ScrollBy(lines)),
            Step::Resize(columns, rows) => self.size = (columns, rows),
            Step::Theme(name) => self.theme = theme::load(name, None).0,
            Step::Text(text) => {
                self.state.screen.overlay = Some(Overlay::Text {
                    title: "some text".into(),
                    text,
                    top: 0,
                });
            }
            // A request for a prompt, then its answer.
            Step::Prompt(tokens) => {
                let token = PromptToken {
                    token: Token(1),
                    text: "a word".into(),
                    control: false,
                };
                let prompt = PromptView {
                    tokens: vec![token; tokens * 40],
                    template: "chatml".into(),
                    cached: 3,
                    ..PromptView::default()
                };
                self.act("prompt");
                self.draw();
                if let Some(Overlay::Prompt { turn, .. }) = self.state.screen.overlay {
                    self.told(Msg::Engine(Event::Rendered { turn, prompt }));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_kept_never_shows(steps in proptest::collection::vec((step(), proptest::bool::weighted(0.8)), 0..40)) {
        let mut window = Window::new(60, 16);
        for (step, drawn) in steps {
            window.take(step.clone());
            // Many things may happen between two frames.
            if !drawn {
                continue;
            }
            let kept = window.draw();
            let fresh = window.draw_with(&mut View::default());
            prop_assert_eq!(kept.1, fresh.1, "after {:?}", step);
            prop_assert_eq!(kept.0, fresh.0, "after {:?}", step);
        }
    }

    #[test]
    fn a_reader_stays_at_the_same_words_at_any_width(
        up in 60_i32..300,
        widths in proptest::collection::vec(20_u16..120, 1..6),
    ) {
        let mut window = Window::new(40, 12);
        for at in 0..6 {
            let words = |n: u32| format!("w{:04}{}", at * 500 + n, if n.is_multiple_of(37) { "\n\n" } else { " " });
            let text: String = (0..500).map(words).collect();
            talk(&mut window.state, "go on", &text, Some(Finish::EndOfTurn));
        }
        window.draw();
        window.told(Msg::ScrollBy(-up));
        let before = window.first_line();
        let place = window.state.screen.scroll;
        for width in widths {
            window.size.0 = width;
            let now = window.first_line();
            prop_assert!(matches!(window.state.screen.scroll, Scroll::At(_)));
            // The first word of the line is on the line that is the first now.
            if let Some(word) = before.split(' ').next() && word.starts_with('w') {
                prop_assert!(now.contains(word), "{:?} at {}: {:?}", before, width, now);
            }
        }
        window.size.0 = 40;
        prop_assert_eq!(window.first_line(), before);
        prop_assert_eq!(window.state.screen.scroll, place);
    }
}

/// So many questions and answers with all that makes a height differ from what a length lets one think.
fn long_talk(state: &mut State, exchanges: usize) {
    for at in 0..exchanges {
        let question = "why? \n".repeat(at % 40);
        let lines = (0..at % 23).map(|n| format!("- item{at:04}x{n:02} **of** many words that fill a line and more\n"));
        let table = "\n| knot | value |\n|---|---|\n| long | 2 |\n\n```rust\nlet cord = 1;\n```\n";
        let text = lines.collect::<String>() + table;
        talk(
            state,
            &format!("question {at}{question}"),
            &text,
            Some(Finish::EndOfTurn),
        );
    }
}

#[test]
fn a_long_conversation_is_laid_out_bit_by_bit_and_then_as_at_once() {
    let mut window = Window::new(80, 24);
    long_talk(&mut window.state, 200);
    let (first, info) = window.frame();
    assert!(info.unfinished, "nothing was left for later");
    let mut frames = 1;
    let mut last = (first.clone(), info);
    while last.1.unfinished {
        last = window.frame();
        frames += 1;
        assert!(frames < 100, "it comes to no end");
    }
    assert_eq!(last.0, first, "the end was there from the first frame on");
    // Who searches looks at every line, so that all of them have to be there at once.
    window.state.screen.find = Some(Find::default());
    let at_once = window.draw_with(&mut View::default()).1;
    assert_eq!((at_once.transcript, at_once.unfinished), (last.1.transcript, false));
}

#[test]
fn a_reader_stays_at_the_same_words_while_the_rest_is_laid_out() {
    for (up, width) in [(30, 80), (400, 50), (1500, 110), (3000, 33), (100_000, 60)] {
        let mut window = Window::new(80, 24);
        long_talk(&mut window.state, 200);
        window.frame();
        window.told(Msg::ScrollBy(-up));
        window.frame();
        window.size.0 = width;
        let (first, info) = window.frame();
        assert!(info.unfinished, "nothing was left for later");
        let mut last = (first.clone(), info);
        while last.1.unfinished {
            last = window.frame();
            assert_eq!(last.0, first, "{up} lines up at {width}");
        }
    }
}

#[test]
fn a_version_that_came_and_went_between_two_frames_is_counted() {
    let mut window = Window::new(60, 20);
    talk(&mut window.state, "hello", "first", Some(Finish::EndOfTurn));
    window.draw();
    window.act("retry");
    window.take(Step::Say("second".to_owned()));
    window.take(Step::Finish(Finish::EndOfTurn));
    window.act("version-previous");
    let (buffer, _) = window.draw();
    let seen = cells(&buffer, |symbol, _| symbol.to_owned());
    assert!(seen.contains("first") && seen.contains("‹ 1/2 ›"), "{seen}");
}

#[test]
fn what_follows_the_end_follows_it_at_any_size() {
    let mut window = Window::new(80, 24);
    talk(&mut window.state, "count", &"one two three ".repeat(200), None);
    for size in [(80, 24), (30, 10), (120, 40), (19, 3), (60, 20)] {
        window.size = size;
        window.draw();
        assert_eq!(window.state.screen.scroll, Scroll::Follow, "{size:?}");
    }
}

#[test]
fn a_screen_without_room_keeps_the_place() {
    let mut window = Window::new(60, 20);
    talk(
        &mut window.state,
        "count",
        &"one two three ".repeat(200),
        Some(Finish::EndOfTurn),
    );
    window.draw();
    window.act("top");
    window.told(Msg::ScrollBy(7));
    let before = window.first_line();
    window.size = (19, 3);
    window.draw();
    window.size = (60, 20);
    assert_eq!(window.first_line(), before);
    assert_eq!(window.state.screen.scroll, Scroll::At(7));
}

#[test]
fn an_overlay_of_very_many_lines_is_as_high_as_the_screen() {
    let mut window = Window::new(60, 20);
    window.state.screen.overlay = Some(Overlay::Text {
        title: "numbers".into(),
        text: "1\n".repeat(65_536),
        top: 0,
    });
    assert_eq!(window.draw().1.overlay_viewport, 17);
}
