//! From a command to what does it. The names are in `app/command/table.rs`.

use crate::app::command::CommandId;
use crate::app::notice::Level;
use crate::app::state::{Overlay, State};
use crate::domain::sampling::GrammarForm;
use crate::domain::session::Which;

use CommandId::{Grammar, Preset, SavePreset, Schema, Seed, Set, StopAt, Tune};

use super::{
    Outcome, Refusal, answer, attach, caught, compact, compare, copy, describe, doctor, download, escape, find,
    inspect, model, persona, pick, prompt, replay, sampling, select, session, sessions, shelf, stats, talk, thinking,
    tune, window,
};

/// Runs a command with these arguments, trimmed.
pub(super) fn run(state: &mut State, id: CommandId, args: &str) -> Outcome {
    let command = id.command();
    if command.args.is_empty() && !args.is_empty() {
        let words = format!("/{} takes no arguments, and '{args}' stands after it", command.name);
        return Err(Refusal::new(Level::Warn, words));
    }
    match id {
        CommandId::New => Ok(talk::renew(state)),
        CommandId::Retry => talk::retry(state),
        CommandId::Continue => answer::go_on(state),
        CommandId::Prefill => Ok(talk::prefill(state, args)),
        CommandId::Stop => stop(state),
        CommandId::Answer => answer::end_thinking(state),
        CommandId::Attach => attach::attach(args),
        CommandId::Prompt => prompt::show(state),
        CommandId::Persona => persona::command(state, args),
        CommandId::Edit => select::edit(state),
        CommandId::Remove => select::remove(state),
        CommandId::Undo => select::undo(state),
        CommandId::Redo => select::redo(state),
        CommandId::Compact => compact::begin(state),
        CommandId::Replay => replay::begin(state),
        CommandId::Sessions if !args.is_empty() => session::open(state, Which::Named(args.to_owned())),
        CommandId::Sessions | CommandId::Search => sessions::show(state, args),
        CommandId::Title => describe::title(state, args),
        CommandId::Fork => select::fork(state),
        CommandId::Pin => describe::pin(state),
        CommandId::Archive => describe::archive(state),
        CommandId::Tag => describe::tag(state, args),
        CommandId::Export => describe::export(state, args),
        CommandId::Import => describe::import(state, args),
        CommandId::Delete => describe::delete(state),
        Set | Tune | Preset | SavePreset | Grammar | Schema | Seed | StopAt => draw(state, id, args),
        CommandId::Model => model::command(state, args),
        CommandId::Models => Ok(shelf::open(state)),
        CommandId::Download => download::command(state, args),
        CommandId::Unload => model::unload(state),
        CommandId::Context => window::reload_with(state, "context", args),
        CommandId::Template => window::reload_with(state, "template", args),
        CommandId::Overflow => window::overflow(state, args),
        CommandId::Inspect => inspect::command(state, args),
        CommandId::Compare => compare::open(state, args),
        CommandId::Doctor => doctor::open(state),
        CommandId::Loop => caught::caught(state, args),
        CommandId::Thinking => thinking::command(state, args),
        CommandId::Copy => copy::copy(state, args),
        CommandId::Theme => pick::theme(state, args),
        CommandId::Notices => notices(state),
        CommandId::Stats => stats::show(state),
        CommandId::System | CommandId::Find | CommandId::Raw | CommandId::Thoughts | CommandId::Help => {
            show(state, id, args);
            Ok(Vec::new())
        }
        CommandId::Quit => Ok(escape::quit(state, 0)),
    }
}

/// What has to do with how tokens are drawn.
fn draw(state: &mut State, id: CommandId, args: &str) -> Outcome {
    match id {
        CommandId::Tune => Ok(tune::toggle(state)),
        CommandId::Preset => sampling::preset(state, args),
        CommandId::SavePreset => sampling::save_preset(state, args),
        CommandId::Grammar => Ok(sampling::grammar(state, GrammarForm::Gbnf, args)),
        CommandId::Schema => Ok(sampling::grammar(state, GrammarForm::JsonSchema, args)),
        CommandId::Seed => sampling::set(state, &format!("seed {args}")),
        CommandId::StopAt => sampling::set(state, &format!("stop {args}")),
        _ => sampling::set(state, args),
    }
}

/// What cannot be refused and causes nothing outside.
fn show(state: &mut State, id: CommandId, args: &str) {
    match id {
        CommandId::System => talk::system(state, args),
        CommandId::Find => find::begin(state, args),
        CommandId::Raw => state.screen.raw = !state.screen.raw,
        CommandId::Thoughts => state.screen.thoughts = !state.screen.thoughts,
        _ => help(state),
    }
}

fn stop(state: &mut State) -> Outcome {
    let stopped = answer::stop(state).or_else(|| model::cancel(state));
    stopped.ok_or_else(|| Refusal::new(Level::Info, "there is no answer to stop"))
}

/// Shows all that was told, the newest first, with how long ago it was.
fn notices(state: &mut State) -> Outcome {
    let told = state.notices.all().iter().rev().map(|notice| {
        let mark = match notice.level {
            Level::Info => "·",
            Level::Warn => "!",
            Level::Error => "×",
        };
        let seconds = state.now.saturating_sub(notice.at).as_secs();
        let ago = match seconds {
            0..60 => format!("{seconds} s"),
            60..3600 => format!("{} min", seconds / 60),
            _ => format!("{} h", seconds / 3600),
        };
        format!("{mark} {ago:>6}  {}", notice.text.replace('\n', " "))
    });
    let text = told.collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        return Err(Refusal::new(Level::Info, "nothing was told yet"));
    }
    state.screen.overlay = Some(Overlay::Text {
        title: "notices".to_owned(),
        text,
        top: 0,
    });
    Ok(Vec::new())
}

/// Opens the help, or closes it.
fn help(state: &mut State) {
    let open = matches!(state.screen.overlay, Some(Overlay::Help { .. }));
    state.screen.overlay = (!open).then_some(Overlay::Help { top: 0 });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::update::scene::{act, draft, last_notice, ready, send};
    use crate::app::{Action, COMMANDS};

    #[test]
    fn the_help_opens_and_closes() {
        let mut state = ready();
        assert_eq!(send(&mut state, "/keys"), [draft("")]);
        assert_eq!(state.screen.overlay, Some(Overlay::Help { top: 0 }));
        assert_eq!(act(&mut state, Action::Run(CommandId::Help)), []);
        assert_eq!(state.screen.overlay, None);
    }

    #[test]
    fn there_may_be_nothing_to_stop() {
        let mut state = ready();
        assert_eq!(act(&mut state, Action::Run(CommandId::Stop)), []);
        assert_eq!(last_notice(&state), (Level::Info, "there is no answer to stop"));
    }

    #[test]
    fn a_command_by_key_leaves_the_draft_alone() {
        for command in COMMANDS {
            let mut state = ready();
            state.draft.text = "half a thought".to_owned();
            act(&mut state, Action::Run(command.id));
            assert_eq!(state.draft.text, "half a thought", "{}", command.name);
        }
    }
}
