//! Lists to choose from: the palette of commands, what was sent before, the themes. Opening one, looking through it, and what
//! taking a row does.

use crate::app::command::{COMMANDS, CommandId};
use crate::app::effect::{Effect, Keepable};
use crate::app::notice::Level;
use crate::app::picker::{Choice, Pick, Picker};
use crate::app::sessions::Typed;
use crate::app::state::{Overlay, State};
use crate::text::nearest;

use super::{Outcome, Refusal, caught, commands, composer};

/// Opens a list.
pub(super) fn open(state: &mut State, picker: Picker) {
    state.screen.overlay = Some(Overlay::Picker(Box::new(picker)));
}

fn picker(state: &mut State) -> Option<&mut Picker> {
    match &mut state.screen.overlay {
        Some(Overlay::Picker(picker)) => Some(picker),
        _ => None,
    }
}

/// Opens the palette.
pub(super) fn palette(state: &mut State) {
    let row = |command: &crate::app::Command| Pick {
        label: format!("{} {}", command.name, command.args).trim_end().to_owned(),
        note: command.help.to_owned(),
        what: Choice::Command(command.id),
    };
    open(state, Picker::new("commands", COMMANDS.iter().map(row).collect()));
}

/// Opens what was sent before, the newest first, each text once.
pub(super) fn history(state: &mut State) -> Outcome {
    let mut rows: Vec<Pick> = Vec::new();
    for text in state.draft.history().iter().rev() {
        let what = Choice::Sent(text.clone());
        if rows.iter().all(|row| row.what != what) {
            let label = text.split_whitespace().collect::<Vec<_>>().join(" ");
            rows.push(Pick {
                label,
                note: String::new(),
                what,
            });
        }
    }
    if rows.is_empty() {
        return Err(Refusal::new(Level::Info, "nothing was sent yet"));
    }
    let mut list = Picker::new("sent before", rows);
    // What stands in the composer is what one looks for.
    list.look_for(state.draft.text.trim().to_owned());
    if list.row().is_none() {
        list.look_for(String::new());
    }
    open(state, list);
    Ok(Vec::new())
}

/// `/theme`: opens the themes, or takes one.
pub(super) fn theme(state: &mut State, name: &str) -> Outcome {
    let themes = &state.looks.themes;
    if name.is_empty() {
        let row = |name: &String| Pick {
            label: name.clone(),
            note: String::new(),
            what: Choice::Theme(name.clone()),
        };
        let mut list = Picker::new("themes", themes.iter().map(row).collect());
        list.select(&Choice::Theme(state.looks.theme.clone()));
        list.before = Some(state.looks.theme.clone());
        open(state, list);
        return Ok(Vec::new());
    }
    let Some(known) = themes.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
        let near = nearest(name, themes.iter().map(String::as_str));
        let remedy = near.map_or("/theme lists them".to_owned(), |near| format!("did you mean {near}?"));
        return Err(Refusal::new(
            Level::Warn,
            format!("there is no theme '{name}': {remedy}"),
        ));
    };
    let known = known.clone();
    Ok(dress(state, known, true))
}

/// Shows a theme; for good, where it is to be kept.
fn dress(state: &mut State, name: String, keep: bool) -> Vec<Effect> {
    state.looks.theme.clone_from(&name);
    let mut effects = vec![Effect::Theme(name.clone())];
    if keep {
        effects.push(Effect::Save(Keepable::Theme(name)));
    }
    effects
}

/// The person types in the list.
pub(super) fn typed(state: &mut State, typed: &Typed) -> Vec<Effect> {
    let Some(picker) = picker(state) else { return Vec::new() };
    let mut query = std::mem::take(&mut picker.query);
    typed.to(&mut query);
    picker.look_for(query);
    preview(state)
}

/// Moves the selection. Says whether there is a list.
pub(super) fn step(state: &mut State, rows: i64) -> Option<Vec<Effect>> {
    picker(state)?.step(rows);
    Some(preview(state))
}

/// What is selected is what one sees, as far as it can be seen.
fn preview(state: &mut State) -> Vec<Effect> {
    let row = picker(state).and_then(|picker| picker.row().map(|row| row.what.clone()));
    match row {
        Some(Choice::Theme(name)) if name != state.looks.theme => dress(state, name, false),
        _ => Vec::new(),
    }
}

/// Closes the list; a theme that was only looked at goes. Says whether there was one.
pub(super) fn escape(state: &mut State) -> Option<Vec<Effect>> {
    let before = picker(state)?.before.take();
    state.screen.overlay = None;
    let other = before.filter(|before| *before != state.looks.theme);
    Some(other.map_or_else(Vec::new, |before| dress(state, before, false)))
}

/// Takes the selected row.
pub(super) fn take(state: &mut State) -> Outcome {
    let Some(picker) = picker(state) else {
        return Ok(Vec::new());
    };
    let Some(what) = picker.row().map(|row| row.what.clone()) else {
        return Ok(Vec::new());
    };
    state.screen.overlay = None;
    match what {
        Choice::Command(id) => command(state, id),
        Choice::Theme(name) => Ok(dress(state, name, true)),
        Choice::Sent(text) => Ok(vec![composer::set(state, text)]),
        Choice::Model(name) => commands::run(state, CommandId::Model, &name),
        Choice::Remedy(remedy) => caught::take(state, remedy),
    }
}

/// Runs a command, or begins to write it where it wants to be told something.
fn command(state: &mut State, id: CommandId) -> Outcome {
    let command = id.command();
    if command.args.is_empty() || command.args.starts_with('[') {
        return commands::run(state, id, "");
    }
    Ok(vec![composer::set(state, format!("/{} ", command.name))])
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{act, draft, last_notice, ready, send};
    use crate::app::{Action, Msg, update};

    fn type_over(state: &mut State, text: &str) -> Vec<Effect> {
        update(state, Msg::TypedOver(Typed::Text(text.to_owned())))
    }

    #[test]
    fn the_palette_runs_what_is_meant() {
        let mut state = ready();
        act(&mut state, Action::Palette);
        type_over(&mut state, "thoug");
        assert_eq!(act(&mut state, Action::Take), []);
        assert!(state.screen.thoughts && state.screen.overlay.is_none());
        act(&mut state, Action::Palette);
        type_over(&mut state, "exp");
        assert_eq!(act(&mut state, Action::Take), [draft("/export ")], "it wants a file");
    }

    #[test]
    fn what_was_sent_is_found_again() {
        let mut state = ready();
        act(&mut state, Action::SearchHistory);
        assert_eq!(last_notice(&state).1, "nothing was sent yet");
        for text in ["/seed 7", "/set top-k 5", "/seed 7"] {
            send(&mut state, text);
        }
        act(&mut state, Action::SearchHistory);
        type_over(&mut state, "topk");
        assert_eq!(act(&mut state, Action::Take), [draft("/set top-k 5")]);
    }

    #[test]
    fn a_theme_is_seen_before_it_is_taken() {
        let mut state = ready();
        state.looks.themes = ["quipu", "night", "paper"].map(str::to_owned).to_vec();
        state.looks.theme = "quipu".to_owned();
        let theme = |name: &str| Effect::Theme(name.to_owned());
        send(&mut state, "/theme");
        assert_eq!(act(&mut state, Action::LineDown), [theme("night")]);
        assert_eq!(act(&mut state, Action::LineDown), [theme("paper")]);
        assert_eq!(act(&mut state, Action::Escape), [theme("quipu")], "only looked at");
        send(&mut state, "/theme");
        assert_eq!(type_over(&mut state, "nig"), [theme("night")]);
        let kept = Effect::Save(Keepable::Theme("night".to_owned()));
        assert_eq!(act(&mut state, Action::Take), [theme("night"), kept.clone()]);
        assert_eq!(send(&mut state, "/theme Night"), [draft(""), theme("night"), kept]);
        assert_eq!(send(&mut state, "/theme papper"), []);
        assert_eq!(last_notice(&state).1, "there is no theme 'papper': did you mean paper?");
    }
}
