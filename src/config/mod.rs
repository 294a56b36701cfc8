//! Settings: the shape of the file, the layers over it, and where things are kept.
//!
//! Reading never fails: what cannot be used is left out, told as a [`Problem`] with its place and its remedy, and the
//! layer beneath stays in force. Whether a problem ends the program is for the caller to say.

mod environment;
mod example;
mod file;
mod given;
mod layers;
mod paths;
mod problem;
mod read;
mod save;
mod settings;

#[cfg(test)]
mod tests;

use std::path::Path;

use crate::domain::sampling::Chosen;

pub use example::example;
pub use layers::{Amount, Layer};
pub use paths::{Paths, from_home, home};
pub use problem::{Place, Problem};
pub use save::{save_preset, save_value};
pub use settings::{Binding, Settings};

/// Where the file is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// In its usual place, where there may be none.
    Usual(&'a Path),
    /// Where the person said; it must be there.
    Named(&'a Path),
    /// Nowhere: there is no home folder.
    Nowhere,
}

/// The settings in force: the defaults, under the file, under the environment, under the flags. `variable` looks up an
/// environment variable; the problems stand in the order in which the layers do.
pub fn load(origin: Origin<'_>, variable: impl Fn(&str) -> Option<String>, flags: Layer) -> (Settings, Vec<Problem>) {
    let (file, mut problems) = match origin {
        Origin::Usual(path) if !path.exists() => Default::default(),
        Origin::Usual(path) | Origin::Named(path) => read::file(path),
        Origin::Nowhere => Default::default(),
    };
    let (environment, more) = environment::read(variable);
    problems.extend(more);
    let (settings, more) = layers::resolve(&[
        (Chosen::File, file),
        (Chosen::Environment, environment),
        (Chosen::CommandLine, flags),
    ]);
    problems.extend(more);
    (settings, problems)
}
