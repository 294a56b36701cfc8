//! The table of sampling parameters. How a row is read and written is said in `parameter.rs`.

use super::parameter::{Field, Kind, Parameter};
use super::{Sampling, written};

const fn real(
    name: &'static str,
    aliases: &'static [&'static str],
    (min, max): (f32, f32),
    off: Option<&'static str>,
    field: fn(&mut Sampling) -> &mut f32,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        aliases,
        kind: Kind::Real { min, max },
        help,
        off,
        field: Field::Real(field),
    }
}

const fn whole(
    name: &'static str,
    aliases: &'static [&'static str],
    max: u32,
    off: Option<&'static str>,
    field: fn(&mut Sampling) -> &mut u32,
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        aliases,
        kind: Kind::Whole { max },
        help,
        off,
        field: Field::Whole(field),
    }
}

/// Reads a list out as it is written.
type Get = fn(&Sampling) -> String;
/// Sets a list from how it is written.
type Set = fn(&mut Sampling, &str) -> Option<()>;

const fn listed(
    name: &'static str,
    aliases: &'static [&'static str],
    accepts: &'static str,
    (get, set): (Get, Set),
    help: &'static str,
) -> Parameter {
    Parameter {
        name,
        aliases,
        kind: Kind::Written(accepts),
        help,
        // Their own reading knows the word.
        off: None,
        field: Field::Written(get, set),
    }
}

const TEXTS: &str = "'off' or texts separated by commas, with \\n for a line feed and \\, for a comma";

/// Longest look-back of the penalties, in tokens: more than any context in use, and bounded so that a typo costs nothing.
const LOOK_BACK: u32 = 1 << 20;

/// All parameters, in the order in which they are shown everywhere. The order is part of the face: do not sort.
pub const PARAMETERS: &[Parameter] = &[
    real(
        "temperature",
        &["temp"],
        (0.0, 5.0),
        Some("1"),
        |s| &mut s.temperature,
        "how freely it draws; 0 always takes the likeliest token",
    ),
    whole(
        "top-k",
        &[],
        1_000_000,
        Some("0"),
        |s| &mut s.top_k,
        "keep the k likeliest candidates; 0 is off",
    ),
    real(
        "top-p",
        &[],
        (0.0, 1.0),
        Some("1"),
        |s| &mut s.top_p,
        "keep the likeliest that together reach this probability; 1 is off",
    ),
    real(
        "min-p",
        &[],
        (0.0, 1.0),
        Some("0"),
        |s| &mut s.min_p,
        "keep what has this share of the best candidate's probability; 0 is off",
    ),
    real(
        "typical-p",
        &["typical", "typ-p"],
        (0.0, 1.0),
        Some("1"),
        |s| &mut s.typical_p,
        "keep the candidates of typical surprise, up to this mass; 1 is off",
    ),
    real(
        "top-n-sigma",
        &["top-nsigma"],
        (-1.0, 100.0),
        Some("-1"),
        |s| &mut s.top_n_sigma,
        "keep logits within n standard deviations of the best; -1 is off",
    ),
    real(
        "repeat-penalty",
        &["repeat"],
        (0.0, 10.0),
        Some("1"),
        |s| &mut s.repeat_penalty,
        "makes what was said lately less likely; 1 is off",
    ),
    real(
        "frequency-penalty",
        &["frequency"],
        (-10.0, 10.0),
        Some("0"),
        |s| &mut s.frequency_penalty,
        "taken off a logit for every time the token was said; 0 is off",
    ),
    real(
        "presence-penalty",
        &["presence"],
        (-10.0, 10.0),
        Some("0"),
        |s| &mut s.presence_penalty,
        "taken off a logit once a token was said at all; 0 is off",
    ),
    whole(
        "repeat-last-n",
        &[],
        LOOK_BACK,
        Some("0"),
        |s| &mut s.repeat_last_n,
        "tokens that the penalties look back on; 0 is off",
    ),
    real(
        "dry-multiplier",
        &["dry"],
        (0.0, 100.0),
        Some("0"),
        |s| &mut s.dry_multiplier,
        "strength of DRY, which breaks repeated sequences; 0 is off",
    ),
    real(
        "dry-base",
        &[],
        (1.0, 10.0),
        None,
        |s| &mut s.dry_base,
        "how fast the DRY penalty grows with the length of the repetition",
    ),
    whole(
        "dry-allowed-length",
        &[],
        LOOK_BACK,
        None,
        |s| &mut s.dry_allowed_length,
        "longest repetition in tokens that DRY lets pass",
    ),
    whole(
        "dry-last-n",
        &[],
        LOOK_BACK,
        Some("0"),
        |s| &mut s.dry_last_n,
        "tokens that DRY looks back on; 0 is off; a newline hides what is before it",
    ),
    real(
        "xtc-probability",
        &["xtc"],
        (0.0, 1.0),
        Some("0"),
        |s| &mut s.xtc_probability,
        "how often the top choices are excluded; 0 is off",
    ),
    real(
        "xtc-threshold",
        &[],
        (0.0, 1.0),
        None,
        |s| &mut s.xtc_threshold,
        "probability from which a candidate counts as a top choice; above 0.5 is off",
    ),
    real(
        "dynatemp-range",
        &["dynatemp"],
        (0.0, 5.0),
        Some("0"),
        |s| &mut s.dynatemp_range,
        "lets the temperature follow the entropy by this much up and down; 0 is off",
    ),
    real(
        "dynatemp-exponent",
        &[],
        (0.0, 10.0),
        None,
        |s| &mut s.dynatemp_exponent,
        "how entropy maps into the temperature's range",
    ),
    listed(
        "dry-breakers",
        &["dry-sequence-breakers"],
        TEXTS,
        (
            |s| written::join(&s.dry_breakers),
            |s, text| {
                s.dry_breakers = written::split(text)?;
                Some(())
            },
        ),
        "texts that end a repetition for DRY; a line feed among them hides loops of several lines",
    ),
    whole(
        "mirostat",
        &[],
        2,
        Some("0"),
        |s| &mut s.mirostat,
        "aims at a constant surprise instead of cutting candidates: version 1 or 2, 0 is off",
    ),
    real(
        "mirostat-tau",
        &["mirostat-ent"],
        (0.0, 20.0),
        None,
        |s| &mut s.mirostat_tau,
        "the surprise that mirostat aims at, in bits",
    ),
    real(
        "mirostat-eta",
        &["mirostat-lr"],
        (0.0, 1.0),
        None,
        |s| &mut s.mirostat_eta,
        "how fast mirostat learns",
    ),
    real(
        "adaptive-target",
        &[],
        (-1.0, 1.0),
        Some("-1"),
        |s| &mut s.adaptive_target,
        "the probability that adaptive-p aims at with what it draws; below 0 is off",
    ),
    real(
        "adaptive-decay",
        &[],
        (0.0, 0.99),
        None,
        |s| &mut s.adaptive_decay,
        "how long adaptive-p remembers: 0 reacts at once, 0.99 slowly",
    ),
    Parameter {
        name: "stages",
        aliases: &["samplers"],
        kind: Kind::Written(
            "stages separated by commas: penalties, dry, top-n-sigma, top-k, typical, top-p, min-p, xtc, temperature",
        ),
        help: "the stages and their order; one that is left out does not run",
        off: None,
        field: Field::Stages(|s| &mut s.stages),
    },
    listed(
        "logit-bias",
        &[],
        "'off' or TOKEN=BIAS pairs separated by commas, where a token is a text or #ID, and -inf bans it",
        (
            |s| written::biases(&s.logit_bias),
            |s, text| {
                s.logit_bias = written::read_biases(text)?;
                Some(())
            },
        ),
        "moves the logits of single tokens before any stage",
    ),
    Parameter {
        name: "ignore-eos",
        aliases: &[],
        kind: Kind::Switch,
        help: "keeps the model from ending its turn",
        off: None,
        field: Field::Switch(|s| &mut s.ignore_eos),
    },
    listed(
        "stop",
        &["stop-at"],
        TEXTS,
        (
            |s| written::join(&s.stop),
            |s, text| {
                s.stop = written::split(text)?;
                Some(())
            },
        ),
        "texts that end an answer, and are not part of it",
    ),
    whole(
        "min-keep",
        &[],
        1_000_000,
        None,
        |s| &mut s.min_keep,
        "fewest candidates that a stage may leave",
    ),
    Parameter {
        name: "seed",
        aliases: &[],
        kind: Kind::Seed,
        help: "where the randomness comes from; the same seed gives the same answer",
        off: None,
        field: Field::Seed(|s| &mut s.seed),
    },
];
