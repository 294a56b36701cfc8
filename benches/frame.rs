//! What a frame costs. The times are those of the machine at hand; what counts is their ratios: a long conversation against a
//! short one, the end of a long answer against its beginning, and each against a frame for which nothing was rendered before.

#![allow(clippy::unwrap_used, reason = "a failure here ends the benchmark")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quipu::app::state::{Options, Overlay, Scroll};
use quipu::app::tuning::Tuning;
use quipu::app::{Action, Msg, State, update};
use quipu::domain::inference::{Event, Finish, ModelInfo, PromptToken, PromptView, Said, Token, TurnId};
use quipu::domain::outlook::outlook;
use quipu::domain::prospect::Prospect;
use quipu::domain::{Answer, Role, Sampling};
use quipu::ui::{Composer, Keymap, Theme, View, theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// A usual window.
const SIZE: (u16, u16) = (120, 40);

/// Frames of a growing answer that are timed before it is taken back to its length: few against what it has.
const FRAMES: usize = 50;

/// A paragraph, a list and some code: what answers are made of.
const ANSWER: &str = "The **quipu** hangs from a main cord, and every knot on it has a value that its place decides; what was \
                      counted once can be read again by anyone who knows the cords.\n\n- a *long* knot for the units\n- a \
                      single knot for `tens`\n\n```rust\nfn read(cord: &Cord) -> u64 {\n\tcord.knots().sum()\n}\n```\n\n";

/// Code whose block never ends: a fence with a word behind it closes none.
const CODE: &str =
    "````rust\nfn knot(cord: &Cord) -> Option<u64> {\n\tcord.knots().map(|knot| knot.value * 10).sum()\n}\n\n";

/// All that draws.
struct Window {
    terminal: Terminal<TestBackend>,
    view: View,
    composer: Composer,
    theme: Theme,
    keymap: Keymap,
}

impl Window {
    fn new() -> Self {
        Self {
            terminal: Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap(),
            view: View::default(),
            composer: Composer::default(),
            theme: theme::load("quipu", None).0,
            keymap: Keymap::default(),
        }
    }

    /// Draws a frame and lets the state know, as the loop does.
    fn draw(&mut self, state: &mut State) {
        let (view, composer, theme, keymap) = (&mut self.view, &self.composer, &self.theme, &self.keymap);
        let mut info = state.screen.view;
        let frame = self.terminal.draw(|frame| {
            info = view.draw(state, composer, theme, keymap, frame);
        });
        black_box(frame.unwrap());
        if info != state.screen.view {
            let _ = update(state, Msg::Viewed(info));
        }
    }

    /// Draws until all that is out of sight is laid out too.
    fn settle(&mut self, state: &mut State) {
        self.draw(state);
        while state.screen.view.unfinished {
            self.draw(state);
        }
    }
}

/// A program whose model is loaded.
fn ready() -> State {
    let (mut state, _) = State::start(Tuning::default(), Options::default(), None, None);
    let turn = state.turn;
    let model = Box::new(ModelInfo {
        name: "cria".to_owned(),
        context: 4096,
        ..ModelInfo::default()
    });
    let _ = update(&mut state, Msg::Engine(Event::Ready { turn, model }));
    state
}

/// Whether this is a measurement, and not a look at whether it runs: that has no time for what is large.
fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// A conversation of so many messages.
fn talk(messages: usize) -> State {
    let mut state = ready();
    for n in 0..messages {
        if n % 2 == 0 {
            state
                .conversation
                .push(Role::User, format!("What does knot {n} stand for?"), 0);
        } else {
            let id = state.conversation.push(Role::Assistant, ANSWER, 0);
            state.conversation.get_mut(id).unwrap().answer = Some(Answer {
                finish: Some(Finish::EndOfTurn),
                ..Answer::default()
            });
        }
    }
    state
}

/// A question whose answer is as much of `text`, over and over, as has so many bytes, and goes on.
fn answering(text: &str, bytes: usize) -> State {
    let mut state = ready();
    let _ = update(&mut state, Msg::Edited("Tell me all about it".to_owned()));
    let _ = update(&mut state, Msg::Action(Action::Send));
    let text: String = text.chars().cycle().take(bytes).collect();
    say(&mut state, &text);
    state
}

fn say(state: &mut State, text: &str) {
    let said = Said {
        token: Some(Token(1)),
        text: text.to_owned(),
        ..Said::default()
    };
    let turn = state.turn;
    let _ = update(state, Msg::Engine(Event::Token { turn, said }));
}

/// A prompt of so many characters, four to a token.
fn prompt(characters: usize) -> State {
    let mut state = ready();
    let token = |n: usize| PromptToken {
        token: Token(n as i32),
        text: if n.is_multiple_of(25) { ".\n\n" } else { " cor" }.to_owned(),
        control: false,
    };
    state.screen.overlay = Some(Overlay::Prompt {
        turn: TurnId(7),
        prompt: Some(PromptView {
            tokens: (1..=characters / 4).map(token).collect(),
            template: "chatml".to_owned(),
            cached: 9,
            ..PromptView::default()
        }),
        top: 0,
    });
    state
}

/// A frame of a conversation that was drawn before, at its end and in its middle, against one that never was.
fn conversation(c: &mut Criterion) {
    let mut group = c.benchmark_group("conversation");
    let sizes: &[usize] = if is_measured() {
        &[10, 100, 1_000, 10_000]
    } else {
        &[10, 100]
    };
    for &messages in sizes {
        let mut state = talk(messages);
        let mut window = Window::new();
        window.settle(&mut state);
        let mut middle = state.screen.view.transcript / 2;
        group.bench_function(BenchmarkId::new("at its end", messages), |b| {
            b.iter(|| window.draw(&mut state));
        });
        group.bench_function(BenchmarkId::new("scrolled by a line", messages), |b| {
            // There and back, so that every frame differs from the one before.
            b.iter(|| {
                middle ^= 1;
                state.screen.scroll = Scroll::At(middle);
                window.draw(&mut state);
            });
        });
        // What is seen at once; the rest follows with the next frames.
        group.bench_function(BenchmarkId::new("never drawn before", messages), |b| {
            b.iter(|| Window::new().draw(&mut state));
        });
    }
    group.finish();
}

/// A token of an answer of some length, from the event to the frame.
fn streaming(c: &mut Criterion) {
    let mut group = c.benchmark_group("streaming");
    let cases = [
        ("prose and code", ANSWER, 1_000),
        ("prose and code", ANSWER, 100_000),
        // One block from the first line to the last.
        ("nothing but code", CODE, 1_000),
        ("nothing but code", CODE, 100_000),
    ];
    let long = [
        ("prose and code", ANSWER, 5_000_000),
        ("nothing but code", CODE, 5_000_000),
    ];
    let long = long.into_iter().filter(|_| is_measured());
    for (name, text, bytes) in cases.into_iter().chain(long) {
        group.bench_function(BenchmarkId::new(name, bytes), |b| {
            b.iter_custom(|iterations| {
                let mut spent = Duration::ZERO;
                let mut left = iterations as usize;
                while left > 0 {
                    let mut state = answering(text, bytes);
                    let mut window = Window::new();
                    window.draw(&mut state);
                    // A text that grows takes room ahead, once for very many tokens.
                    say(&mut state, " cord");
                    window.draw(&mut state);
                    for _ in 0..left.min(FRAMES) {
                        let begun = Instant::now();
                        say(&mut state, " cord");
                        window.draw(&mut state);
                        spent += begun.elapsed();
                    }
                    left = left.saturating_sub(FRAMES);
                }
                spent
            });
        });
    }
    group.finish();
}

/// A frame with the exact prompt over the transcript.
fn overlay(c: &mut Criterion) {
    let mut group = c.benchmark_group("prompt");
    for characters in [1_000, 100_000] {
        let mut state = prompt(characters);
        let mut window = Window::new();
        window.draw(&mut state);
        group.bench_function(BenchmarkId::new("characters", characters), |b| {
            b.iter(|| window.draw(&mut state));
        });
    }
    group.finish();
}

/// What the panel of sampling computes at every turn of a setting, over a vocabulary of the largest published size.
fn tuning(c: &mut Criterion) {
    let mut group = c.benchmark_group("outlook");
    // Knuth's multiplier: logits without a pattern, from -8 to 8.
    let noise = |id: u32| (id + 1).wrapping_mul(2_654_435_761) >> 16;
    let prospect = Prospect {
        logits: (0..151_936).map(|id| noise(id) as f32 / 4096.0 - 8.0).collect(),
        history: (0..512).map(|n| (Token(n % 97), "cord".to_owned())).collect(),
        ..Prospect::default()
    };
    let all = Sampling {
        repeat_penalty: 1.1,
        dry_multiplier: 0.8,
        typical_p: 0.9,
        top_n_sigma: 2.0,
        xtc_probability: 0.5,
        ..Sampling::default()
    };
    let bare = Sampling {
        top_k: 0,
        ..Sampling::default()
    };
    for (name, settings) in [
        ("the defaults", Sampling::default()),
        ("without top-k", bare),
        ("every stage", all),
    ] {
        group.bench_function(name, |b| b.iter(|| black_box(outlook(&prospect, &settings, 12))));
    }
    group.finish();
}

criterion_group!(benches, conversation, streaming, overlay, tuning);
criterion_main!(benches);
