//! The command line as a layer of settings: the uppermost.

use crate::config::{Amount, Layer, Place};

use super::args::Args;
use super::exit::{Exit, Stop};

/// What the flags say, for `config` to lay over the rest.
///
/// # Errors
/// A usage error for a sampling value out of its range.
pub(super) fn of(args: &Args) -> Result<Layer, Stop> {
    let flags = &args.flags;
    let mut layer = Layer {
        model: flags.model.clone(),
        gpu_layers: flags.gpu_layers,
        threads: flags.threads.map(Amount::Exactly),
        context: flags.context.map(Amount::Exactly),
        batch: flags.batch.map(Amount::Exactly),
        ubatch: flags.ubatch.map(Amount::Exactly),
        system: flags.system.clone(),
        max_tokens: flags.max_tokens.map(Amount::Exactly),
        theme: flags.theme.clone(),
        ..Layer::default()
    };
    if let Some(name) = &flags.preset {
        layer.choose_preset(name, Place::Flag("--preset"));
    }
    for (parameter, value) in &args.sampling {
        layer
            .set_sampling(parameter, value)
            .map_err(|refused| Stop::new(Exit::Usage, refused.to_string()))?;
    }
    Ok(layer)
}
