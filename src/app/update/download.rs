//! Fetching a model while one talks: beginning it, showing how far it is, ending it. One at a time.

use crate::app::effect::Effect;
use crate::app::notice::Level;
use crate::app::state::{Fetching, State};
use crate::domain::Bytes;
use crate::domain::fetching::FetchEvent;

use super::{Outcome, Refusal};

/// `/download`: has a model fetched, tells how far that is, or stops it.
pub(super) fn command(state: &mut State, args: &str) -> Outcome {
    match (args, &state.fetching) {
        ("", None) => {
            let words = "which model? /download OWNER/REPO or OWNER/REPO:QUANT, as the Hugging Face hub names it";
            Err(Refusal::new(Level::Info, words))
        }
        ("", Some(fetching)) => {
            let words = how_far(fetching);
            state.tell(Level::Info, words);
            Ok(Vec::new())
        }
        ("stop", None) => Err(Refusal::new(Level::Info, "nothing is being fetched")),
        ("stop", Some(_)) => Ok(vec![Effect::StopDownload]),
        (_, Some(fetching)) => {
            let words = format!(
                "'{}' is being fetched: wait for it, or /download stop ends it",
                fetching.name
            );
            Err(Refusal::new(Level::Warn, words))
        }
        (name, None) => {
            state.fetching = Some(Fetching {
                name: name.to_owned(),
                sight: None,
            });
            Ok(vec![Effect::Download(name.to_owned())])
        }
    }
}

fn how_far(fetching: &Fetching) -> String {
    let Some(sight) = &fetching.sight else {
        return format!("asking the hub for '{}'; /download stop ends it", fetching.name);
    };
    if sight.is_checked() {
        return format!("'{}' came and is being checked", sight.label);
    }
    let (done, total) = (Bytes(sight.done), Bytes(sight.total));
    let left = sight.left().map(|left| format!(", {left} left"));
    let left = left.unwrap_or_default();
    format!(
        "fetching '{}': {done} of {total}{left}; /download stop ends it",
        sight.label
    )
}

/// Something was told of it.
pub(super) fn told(state: &mut State, event: FetchEvent) {
    let Some(fetching) = &mut state.fetching else {
        return;
    };
    let (level, words) = match event {
        FetchEvent::Under(sight) => {
            fetching.sight = Some(sight);
            return;
        }
        FetchEvent::Here { label, bytes } => {
            let size = Bytes(bytes);
            (
                Level::Info,
                format!("'{label}' is here, {size}: /model {label} loads it"),
            )
        }
        FetchEvent::Stopped => {
            let words = format!("stopped; what came is kept: /download {} goes on", fetching.name);
            (Level::Info, words)
        }
        FetchEvent::Failed(words) => (Level::Error, words),
    };
    state.fetching = None;
    state.tell(level, words);
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::app::update::scene::{draft, last_notice, ready, send};
    use crate::app::{Msg, update};
    use crate::domain::fetching::Sight;

    const NAME: &str = "ada/condor:Q4_K_M";

    fn begun() -> State {
        let mut state = ready();
        let effects = send(&mut state, &format!("/download {NAME}"));
        assert_eq!(effects, [draft(""), Effect::Download(NAME.to_owned())]);
        state
    }

    fn tell(state: &mut State, event: FetchEvent) {
        assert_eq!(update(state, Msg::Fetched(event)), []);
    }

    fn said(state: &mut State, text: &str) -> String {
        send(state, text);
        last_notice(state).1.to_owned()
    }

    #[test]
    fn it_is_told_how_far_it_is_and_where_it_ended() {
        let mut state = begun();
        assert_eq!(
            said(&mut state, "/download"),
            "asking the hub for 'ada/condor:Q4_K_M'; /download stop ends it"
        );
        let sight = Sight {
            label: NAME.to_owned(),
            done: 1 << 20,
            total: 4 << 20,
            rate: 1 << 20,
        };
        tell(&mut state, FetchEvent::Under(sight.clone()));
        assert_eq!(
            said(&mut state, "/download"),
            "fetching 'ada/condor:Q4_K_M': 1.0 MiB of 4.0 MiB, 3 s left; /download stop ends it"
        );
        tell(
            &mut state,
            FetchEvent::Under(Sight {
                done: sight.total,
                ..sight
            }),
        );
        assert_eq!(
            said(&mut state, "/download"),
            "'ada/condor:Q4_K_M' came and is being checked"
        );
        let label = NAME.to_owned();
        tell(&mut state, FetchEvent::Here { label, bytes: 4 << 20 });
        assert_eq!(
            last_notice(&state).1,
            "'ada/condor:Q4_K_M' is here, 4.0 MiB: /model ada/condor:Q4_K_M loads it"
        );
        assert_eq!(state.fetching, None);
    }

    #[test]
    fn one_at_a_time_and_it_can_be_stopped() {
        let mut state = begun();
        assert_eq!(send(&mut state, "/download ada/puma"), []);
        assert_eq!(
            last_notice(&state).1,
            "'ada/condor:Q4_K_M' is being fetched: wait for it, or /download stop ends it"
        );
        assert_eq!(send(&mut state, "/download stop"), [draft(""), Effect::StopDownload]);
        // It is there until it has ended.
        assert!(state.fetching.is_some());
        tell(&mut state, FetchEvent::Stopped);
        assert_eq!(
            last_notice(&state),
            (
                Level::Info,
                "stopped; what came is kept: /download ada/condor:Q4_K_M goes on"
            )
        );
        assert_eq!(said(&mut state, "/download stop"), "nothing is being fetched");
    }

    #[test]
    fn what_cannot_be_had_is_told_and_late_words_are_nobodys() {
        let mut state = begun();
        tell(&mut state, FetchEvent::Failed("the hub has no 'ada/condor'".to_owned()));
        assert_eq!(last_notice(&state), (Level::Error, "the hub has no 'ada/condor'"));
        let before = state.clone();
        tell(&mut state, FetchEvent::Stopped);
        assert_eq!(state, before);
    }
}
