//! An answer that went round in circles, as data: what repeats, where it began, why, and the ways out. What they do is in
//! `update/caught.rs`.

use crate::domain::MessageId;
use crate::domain::inference::Token;
use crate::domain::sampling::Sampling;
use crate::text::Repetition;

/// Characters of what repeats that a word about it has room for.
const QUOTED: usize = 40;

/// What to do about a loop where no command can be given.
pub const FLAGS: &str = "'--dry-multiplier 0.8' penalises repetition, QUIPU_LOOP_GUARD=off lets it be";

/// What is said of a loop: what repeats, since which token, counted from 1, and why.
pub fn words(found: &Repetition, since: usize, cause: Option<String>) -> String {
    format!(
        "it goes round in circles: '{}' {} times since token {since}{}",
        quoted(&found.unit),
        found.times,
        cause.map_or_else(String::new, |cause| format!("; {cause}")),
    )
}

/// What repeats, on one line and cut where it is long.
fn quoted(unit: &str) -> String {
    let words = unit.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None if words.is_empty() => "blanks".to_owned(),
        None => words,
    }
}

/// Why nothing kept the model from it, as far as the settings tell.
pub fn cause(settings: &Sampling, found: &Repetition) -> Option<String> {
    let period = (found.tokens / found.times.max(1)) as u32;
    let penalised =
        settings.repeat_penalty != 1.0 || settings.frequency_penalty != 0.0 || settings.presence_penalty != 0.0;
    let dry = settings.dry_multiplier > 0.0 && settings.dry_last_n > 0;
    if dry {
        let breaker = settings
            .dry_breakers
            .iter()
            .find(|breaker| found.unit.contains(*breaker));
        if let Some(breaker) = breaker {
            return Some(format!(
                "DRY does not see it, for '{}' breaks it",
                breaker.escape_debug()
            ));
        }
        return (settings.dry_last_n < 2 * period)
            .then(|| format!("DRY looks back on {} tokens, and it is longer", settings.dry_last_n));
    }
    let greedy = settings.is_greedy();
    match (greedy, penalised) {
        (true, false) => Some("each token is the likeliest, and nothing penalises repetition".to_owned()),
        (false, false) => Some("nothing penalises repetition".to_owned()),
        (_, true) if settings.repeat_last_n < period => Some(format!(
            "the penalties look back on {} tokens, and it is longer",
            settings.repeat_last_n
        )),
        (true, true) => Some("each token is the likeliest".to_owned()),
        (false, true) => None,
    }
}

/// A loop that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// The answer.
    pub answer: MessageId,
    /// What repeats.
    pub unit: String,
    /// Tokens of it, from its beginning to where it was caught.
    pub tokens: usize,
    /// The place of the token that it began with, in the answer, from 0; where it is known.
    pub begin: Option<usize>,
    /// The token that it began with, where it is known.
    pub first: Option<Token>,
    /// Bytes of the answer before it; `None` where it began in what was thought.
    pub kept: Option<usize>,
}

/// A way out of a loop. All but the last go back to before it and answer on from there, as another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Penalise what would go on with a repetition.
    Dry,
    /// Draw more freely.
    Temperature,
    /// Draw other numbers.
    Seed,
    /// Choose another token where it began.
    Another,
    /// Never draw the token that the loop began with.
    Ban,
    /// Go on as it is, and say no more.
    GoOn,
}

impl Remedy {
    /// All of them, the most promising first: the name that people write, what each is called, and what it does.
    pub const ALL: [(Self, &'static str, &'static str, &'static str); 6] = [
        (
            Self::Dry,
            "dry",
            "penalise repetition",
            "DRY over the whole loop, with nothing in it that hides it",
        ),
        (Self::Temperature, "warmer", "draw more freely", "a higher temperature"),
        (
            Self::Seed,
            "seed",
            "draw other numbers",
            "the same settings, another seed",
        ),
        (
            Self::Another,
            "another",
            "choose another token",
            "the candidates where the loop began, to go on from one of them",
        ),
        (
            Self::Ban,
            "ban",
            "ban its first token",
            "the one that the loop began with is not drawn any more",
        ),
        (
            Self::GoOn,
            "go-on",
            "go on as it is",
            "the answer continues and is not watched",
        ),
    ];
}
