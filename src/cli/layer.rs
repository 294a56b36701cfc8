//! The command line as a layer of settings: the uppermost.

use crate::config::{Amount, Layer, Place};

use super::args::{Args, Task};
use super::exit::{Exit, Stop};

/// What the flags say, for `config` to lay over the rest.
///
/// # Errors
/// A usage error for a value that its option or parameter does not take.
pub(super) fn of(args: &Args) -> Result<Layer, Stop> {
    let flags = &args.flags;
    let mut layer = Layer {
        model: flags.model.first().cloned(),
        system: flags.system.clone(),
        max_tokens: flags.max_tokens.map(Amount::Exactly),
        overflow: flags.overflow,
        thinking: flags.thinking.map(|switch| switch.0),
        thinking_budget: flags.thinking_budget.map(Amount::Exactly),
        probe: flags.no_probe.then_some(false),
        theme: flags.theme.clone(),
        plain: flags.plain.then_some(true),
        ..Layer::default()
    };
    if !matches!(args.command, Some(Task::Compare(_))) {
        for (what, named) in [("presets", &flags.preset), ("models", &flags.model)] {
            if named.len() > 1 {
                let count = named.len();
                let words = format!("{count} {what} are named, and one answer has one: 'quipu compare' takes several");
                return Err(Stop::new(Exit::Usage, words));
            }
        }
        if let Some(name) = flags.preset.first() {
            layer.choose_preset(name, Place::Flag("--preset"));
        }
    }
    for (option, value) in &args.load {
        layer
            .set_load(option, value)
            .map_err(|refused| Stop::new(Exit::Usage, refused.to_string()))?;
    }
    for (parameter, value) in &args.sampling {
        layer
            .set_sampling(parameter, value)
            .map_err(|refused| Stop::new(Exit::Usage, refused.to_string()))?;
    }
    Ok(layer)
}
