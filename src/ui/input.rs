//! What the terminal told becomes messages: the keymap first, then the composer. Decides nothing beyond that.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use crate::app::click::Drag;
use crate::app::sessions::Typed;
use crate::app::state::Overlay;
use crate::app::tune::TunePanel;
use crate::app::{Action, CommandId, Msg, State};

use super::View;
use super::composer::Composer;
use super::keymap::{Context, KeyChord, Keymap};

/// Lines that one step of the wheel scrolls.
const WHEEL: i32 = 3;

/// Reads an event. The composer changes here, and what it then says goes with the messages.
pub fn read(event: &Event, state: &State, keymap: &Keymap, composer: &mut Composer, view: &View) -> Vec<Msg> {
    match event {
        Event::Key(key) => key_pressed(*key, state, keymap, composer),
        // A paste only ever writes: it sends nothing and is no key.
        Event::Paste(text) if is_typed_over(state) => vec![Msg::TypedOver(Typed::Text(text.clone()))],
        Event::Paste(text) if state.screen.overlay.is_none() => {
            if composer.paste(text) {
                vec![Msg::Edited(composer.text())]
            } else {
                Vec::new()
            }
        }
        Event::Mouse(mouse) => pointed(*mouse, state, view),
        _ => Vec::new(),
    }
}

/// What the mouse does. A click counts where the button is let go; between the two it marks what it is drawn over.
fn pointed(mouse: MouseEvent, state: &State, view: &View) -> Vec<Msg> {
    let at = (mouse.column, mouse.row);
    match mouse.kind {
        MouseEventKind::ScrollUp => vec![Msg::ScrollBy(-WHEEL)],
        MouseEventKind::ScrollDown => vec![Msg::ScrollBy(WHEEL)],
        MouseEventKind::Down(MouseButton::Left) => vec![Msg::Drag(Some(Drag { from: at, to: at }))],
        MouseEventKind::Drag(MouseButton::Left) => {
            let from = state.screen.drag.map_or(at, |drag| drag.from);
            vec![Msg::Drag(Some(Drag { from, to: at }))]
        }
        MouseEventKind::Up(MouseButton::Left) => {
            let Some(drag) = state.screen.drag else {
                return Vec::new();
            };
            if drag.from != at {
                let drag = Drag { to: at, ..drag };
                return vec![Msg::Marked(view.marked(drag).unwrap_or_default())];
            }
            let click = view.hit(mouse.column, mouse.row).map(Msg::Click);
            std::iter::once(Msg::Drag(None)).chain(click).collect()
        }
        _ => Vec::new(),
    }
}

fn key_pressed(key: KeyEvent, state: &State, keymap: &Keymap, composer: &mut Composer) -> Vec<Msg> {
    let Some(chord) = KeyChord::of(key) else {
        return Vec::new();
    };
    let writing = !is_typed_over(state) && state.screen.overlay.is_none() && tuned(state).is_none();
    if key.code == KeyCode::Esc
        && writing
        && state.draft.completion.is_none()
        && composer.wants_escape()
        && !composer.is_empty()
    {
        composer.escape();
        return Vec::new();
    }
    let covered = state.screen.overlay.is_some() || state.screen.find.is_some() || tuned(state).is_some();
    match keymap.lookup(&contexts(chord, state, composer), chord) {
        // What lies over the transcript takes the keyboard until it is closed: a hidden message is not sent or changed.
        Some(action) if covered && !acts_over(action) => Vec::new(),
        Some(Action::Newline) => {
            composer.newline();
            vec![Msg::Edited(composer.text())]
        }
        Some(action) => vec![Msg::Action(action)],
        None if is_typed_over(state) || begins_number(key, state) => {
            typed_over(key).into_iter().map(Msg::TypedOver).collect()
        }
        None if covered => Vec::new(),
        None => {
            if composer.key(key) {
                vec![Msg::Edited(composer.text())]
            } else {
                Vec::new()
            }
        }
    }
}

/// Whether one types into a panel, or into the words that are looked for, and not into the message.
fn is_typed_over(state: &State) -> bool {
    match &state.screen.overlay {
        Some(Overlay::Sessions(_) | Overlay::Picker(_)) => true,
        Some(Overlay::Inspector(_)) => state.screen.forced.is_some(),
        Some(_) => false,
        None => state.screen.find.is_some() || tuned(state).is_some_and(TunePanel::is_typed_in),
    }
}

/// The panel of sampling, while it has the keys.
fn tuned(state: &State) -> Option<&TunePanel> {
    let open = state.screen.overlay.is_none() && state.screen.find.is_none();
    state.screen.tune.as_ref().filter(|panel| panel.focused && open)
}

/// Whether a key begins a number in the panel of sampling.
fn begins_number(key: KeyEvent, state: &State) -> bool {
    tuned(state).is_some() && matches!(key.code, KeyCode::Char('0'..='9' | '.' | '-'))
}

/// What a key types there.
fn typed_over(key: KeyEvent) -> Option<Typed> {
    let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => Some(Typed::Clear),
        KeyCode::Char(letter) if plain => Some(Typed::Text(letter.to_string())),
        KeyCode::Backspace => Some(Typed::Backspace),
        _ => None,
    }
}

/// Whether an action has a meaning while something lies over the transcript.
fn acts_over(action: Action) -> bool {
    use Action::{
        Archive, Delete, Escape, Follow, Interrupt, LineDown, LineUp, PageDown, PageUp, Pin, Redraw, Rename,
        ShowArchived, Suspend, Take, Top,
    };
    let lists = matches!(
        action,
        Action::FindNext
            | Action::FindPrevious
            | Action::Lower
            | Action::Raise
            | Action::LowerFar
            | Action::RaiseFar
            | Action::ResetSetting
            | Action::ResetSettings
            | Action::NamePreset
            | Action::Unfocus
    );
    let inspects = matches!(
        action,
        Action::Walk(_) | Action::KeepAll | Action::Run(CommandId::Inspect)
    );
    let moves = matches!(action, LineUp | LineDown | PageUp | PageDown | Top | Follow);
    let sessions = matches!(action, Take | Pin | Archive | Rename | Delete | ShowArchived);
    moves
        || inspects
        || lists
        || sessions
        || matches!(
            action,
            Escape
                | Interrupt
                | Redraw
                | Suspend
                | Action::Run(CommandId::Help | CommandId::Quit | CommandId::Tune | CommandId::Retry)
        )
}

/// The contexts that are asked, the narrowest first.
fn contexts(chord: KeyChord, state: &State, composer: &Composer) -> Vec<Context> {
    match &state.screen.overlay {
        Some(Overlay::Sessions(_)) => return vec![Context::Sessions, Context::Chat],
        Some(Overlay::Picker(_)) => return vec![Context::Picker, Context::Chat],
        Some(Overlay::Inspector(_)) if state.screen.forced.is_some() => return vec![Context::Picker, Context::Chat],
        Some(Overlay::Inspector(_)) => return vec![Context::Inspect, Context::Chat],
        Some(Overlay::Compare(_)) => return vec![Context::Compare, Context::Chat],
        Some(_) => return vec![Context::Overlay, Context::Chat],
        None if state.screen.find.is_some() => return vec![Context::Find, Context::Chat],
        None if tuned(state).is_some_and(TunePanel::is_typed_in) => return vec![Context::Picker, Context::Chat],
        None if tuned(state).is_some() => return vec![Context::Tune, Context::Chat],
        None => {}
    }
    let mut contexts = Vec::with_capacity(5);
    // While one writes, letters are letters.
    if state.screen.selected.is_some() && composer.is_empty() {
        contexts.push(Context::Selected);
    }
    if state.draft.completion.is_some() {
        contexts.push(Context::Completion);
    }
    if composer.is_empty() {
        contexts.push(Context::Empty);
    }
    let name = chord.to_string();
    if (name == "up" && composer.at_first_row()) || (name == "down" && composer.at_last_row()) {
        contexts.push(Context::Edge);
    }
    contexts.push(Context::Chat);
    contexts
}
