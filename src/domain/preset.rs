//! Presets: named sampling settings. Says which ones ship; reading a person's own is the configuration's business.

use super::sampling::{Parameter, Refused, Sampling};

/// A named set of sampling values over the defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// The name typed after `/preset`.
    pub name: String,
    /// The settings, complete.
    pub sampling: Sampling,
}

/// The name of the preset in force when none is chosen.
pub const DEFAULT_PRESET: &str = "balanced";

/// The preset that is llama.cpp's defaults and nothing else: what a model recommends does not touch it.
pub const PLAIN_PRESET: &str = "llama.cpp";

/// What ships: a name and the values that differ from llama.cpp's defaults.
const SHIPPED: &[(&str, &[(&str, &str)])] = &[
    ("precise", &[("temperature", "0.3"), ("top-p", "0.9"), ("min-p", "0.1")]),
    (DEFAULT_PRESET, &[]),
    (
        "creative",
        &[
            ("temperature", "1.1"),
            ("top-k", "0"),
            ("top-p", "1"),
            ("min-p", "0.05"),
            ("xtc-probability", "0.3"),
        ],
    ),
    ("code", &[("temperature", "0.2"), ("top-k", "20"), ("min-p", "0.1")]),
    ("deterministic", &[("temperature", "0"), ("seed", "0")]),
    (PLAIN_PRESET, &[]),
];

impl Preset {
    /// The presets that ship, in the order in which they are offered.
    pub fn shipped() -> Vec<Self> {
        // A row that the table refuses is dropped here and caught by the test below.
        SHIPPED
            .iter()
            .filter_map(|(name, values)| Self::from_values(name, values.iter().copied()).ok())
            .collect()
    }

    /// A preset from `(parameter, value)` pairs over the defaults.
    ///
    /// # Errors
    /// The first value that its parameter refuses; an unknown parameter name is refused likewise.
    pub fn from_values<'a>(name: &str, values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Refused> {
        let mut sampling = Sampling::default();
        for (parameter, value) in values {
            let row = Parameter::find(parameter).ok_or_else(|| Refused {
                name: "preset",
                value: parameter.to_owned(),
                remedy: "give the name of a sampling parameter".to_owned(),
            })?;
            row.set(&mut sampling, value)?;
        }
        Ok(Self {
            name: name.to_owned(),
            sampling,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_row_is_accepted() {
        let presets = Preset::shipped();
        assert_eq!(presets.len(), SHIPPED.len());
        assert!(presets.iter().any(|p| p.name == DEFAULT_PRESET));
        assert!(
            presets
                .iter()
                .find(|p| p.name == "deterministic")
                .unwrap()
                .sampling
                .is_greedy()
        );
    }
}
