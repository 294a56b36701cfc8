//! Whether what the model computes can be right: numbers that differ from place to place, and the same numbers whichever way the
//! KV cache came to hold the text.

use std::time::{Duration, Instant};

use crate::domain::Role;
use crate::domain::examination::Position;
use crate::domain::inference::{Failure, Token};
use crate::engine::local::{Patient, Run};
use crate::prompt::Message;

use super::chart::Opinion;
use super::corpus::{LONGEST, PROSE, QUESTION};
use super::distribution::{Look, divergence, top};

/// Mean divergence in nats up to which two computations are the same: what sums in another order and half-precision attention come
/// to is a tenth of it, what a wrong position does a hundred times as much.
const SAME: f64 = 0.02;
/// And up to which they may be, in a cache of few bits.
const ALIKE: f64 = 0.1;

const BROKEN: &str =
    "its weights are broken, or this machine's graphics driver is: try '--gpu-layers 0', or download the model again";
const CACHE: &str = "the KV cache does not hold what it should: try '--flash-attention off', '--cache-type-k f16' and '--gpu-layers 0', and \
                     tell the makers of this program which of them helps";

/// What was computed at the beginning, to hold everything else against.
pub(super) struct Reading {
    /// The text.
    pub(super) tokens: Vec<Token>,
    /// The logits of each of its tokens, computed all at once.
    pub(super) rows: Vec<Vec<f32>>,
    /// What is to be seen in them.
    looks: Vec<Look>,
    /// How long the computing took.
    pub(super) time: Duration,
}

impl Reading {
    /// Reads the ordinary text at once.
    pub(super) fn new(patient: &Patient) -> Result<Self, Failure> {
        let mut tokens = patient.tokenize(PROSE, true, false);
        tokens.truncate(LONGEST);
        let mut run = patient.run(tokens.len())?;
        // What is mapped is read from the disk at the first use; that is not timed.
        run.feed(&tokens)?;
        run = patient.run(tokens.len())?;
        let began = Instant::now();
        let rows = run.feed_all(&tokens)?;
        let time = began.elapsed();
        let looks = rows.iter().map(|row| Look::at(row)).collect();
        Ok(Self {
            tokens,
            rows,
            looks,
            time,
        })
    }

    /// The text in two halves, and the logits of the second.
    fn halves(&self) -> (&[Token], &[Token], &[Vec<f32>]) {
        let middle = self.tokens.len() / 2;
        let (first, second) = self.tokens.split_at(middle);
        (first, second, self.rows.get(middle..).unwrap_or_default())
    }
}

/// What is to be seen at each position.
pub(super) fn positions(patient: &Patient, reading: &Reading) -> Vec<Position> {
    let text = |token| String::from_utf8_lossy(&patient.piece(token).bytes).into_owned();
    let position = |(token, look): (&Token, &Look)| Position {
        token: text(*token),
        top: text(Token(look.top as i32)),
        probability: look.probability as f32,
        lowest: look.range.0,
        highest: look.range.1,
        entropy: look.entropy as f32,
    };
    reading.tokens.iter().zip(&reading.looks).map(position).collect()
}

/// Whether the logits are numbers, differ from token to token and from place to place, and no token leads everywhere.
pub(super) fn logits(patient: &Patient, reading: &Reading) -> Opinion {
    let looks = &reading.looks;
    if looks.is_empty() {
        return Opinion::failed("the model computes nothing", BROKEN);
    }
    let broken = looks.iter().filter(|look| look.broken > 0).count();
    if broken > 0 {
        let count = looks.iter().map(|look| look.broken).max().unwrap_or(0);
        let all = patient.vocabulary();
        let evidence = format!(
            "at {broken} of {} positions up to {count} of {all} logits are no finite numbers",
            looks.len()
        );
        return Opinion::failed(evidence, BROKEN);
    }
    if looks.iter().any(|look| look.range.0 == look.range.1) {
        return Opinion::failed("all logits are equal: every token is as likely as any other", BROKEN);
    }
    if reading.rows.windows(2).all(|pair| pair[0] == pair[1]) && looks.len() > 1 {
        return Opinion::failed("the logits are the same at every position, whatever was read", BROKEN);
    }
    let commonest = looks
        .iter()
        .map(|look| looks.iter().filter(|other| other.top == look.top).count());
    let most = commonest.max().unwrap_or(0);
    let low = looks.iter().map(|look| look.range.0).fold(f32::INFINITY, f32::min);
    let high = looks.iter().map(|look| look.range.1).fold(f32::NEG_INFINITY, f32::max);
    let entropy = looks.iter().map(|look| look.entropy).sum::<f64>() / looks.len() as f64;
    let evidence = format!(
        "{} positions: logits from {low:.1} to {high:.1}, entropy {entropy:.1} bits, the commonest top token leads at {most}",
        looks.len()
    );
    // A text has a dozen different words behind so many; one answer to all of them is none.
    if most * 10 >= looks.len() * 9 && looks.len() > 9 {
        return Opinion::failed(evidence, BROKEN);
    }
    Opinion::ok(evidence)
}

/// An opinion of how far two ways to the same text are apart, position by position.
fn compared(one: &[Vec<f32>], other: &[Vec<f32>], of_what: &str) -> Opinion {
    let apart: Vec<f64> = one.iter().zip(other).map(|(a, b)| divergence(a, b)).collect();
    let leads = one.iter().zip(other).filter(|(a, b)| top(a) == top(b)).count();
    judged(&apart, leads, of_what)
}

/// The same where it is known how far they are apart, and at how many positions the likeliest token is the same.
fn judged(apart: &[f64], leads: usize, of_what: &str) -> Opinion {
    let positions = apart.len();
    let mean = apart.iter().sum::<f64>() / positions.max(1) as f64;
    let evidence = format!("{of_what}: {mean:.1e} nats apart on average, the same top token at {leads} of {positions}");
    match mean {
        mean if mean <= SAME => Opinion::ok(evidence),
        mean if mean <= ALIKE => Opinion::warning(
            evidence,
            "a KV cache of fewer bits explains as much: try '--cache-type-k f16'",
        ),
        // Not a number is as wrong.
        _ => Opinion::failed(evidence, CACHE),
    }
}

/// Whether one token at a time comes to what all at once did.
pub(super) fn steps(patient: &Patient, reading: &Reading) -> Result<Opinion, Failure> {
    let mut run = patient.run(1)?;
    let mut rows = Vec::with_capacity(reading.tokens.len());
    for token in &reading.tokens {
        run.feed(&[*token])?;
        rows.push(run.logits());
    }
    let of_what = format!("{} tokens one by one and at once", reading.tokens.len());
    Ok(compared(&reading.rows, &rows, &of_what))
}

/// Whether going back and on again comes to the same.
pub(super) fn rewind(patient: &Patient, reading: &Reading) -> Result<Opinion, Failure> {
    let (first, second, rows) = reading.halves();
    let mut run = patient.run(second.len())?;
    run.feed(&reading.tokens)?;
    if !run.rewind(first.len()) {
        return Ok(Opinion::not_applicable(
            "this model keeps a state, which cannot be turned back; quipu goes back to copies of it",
        ));
    }
    let again = run.feed_all(second)?;
    Ok(compared(
        rows,
        &again,
        &format!("back to token {} and on again", first.len()),
    ))
}

/// Whether a state that was saved and put back in another context goes on the same.
pub(super) fn restore(patient: &Patient, reading: &Reading) -> Result<Opinion, Failure> {
    let (first, second, rows) = reading.halves();
    let mut run = patient.run(1)?;
    run.feed(first)?;
    let Some(state) = run.save() else {
        return Ok(Opinion::not_applicable("this model gives no copy of its state"));
    };
    let mut other = patient.run(second.len())?;
    if !other.restore(&state, first.len()) {
        return Ok(Opinion::failed("the saved state is not taken back", CACHE));
    }
    let again = other.feed_all(second)?;
    Ok(compared(
        rows,
        &again,
        &format!("{} kB saved and restored", state.len() / 1000),
    ))
}

/// Whether a context shift turns positions as it should: what was moved up goes on like the same left where it was, for only the
/// distance between tokens counts.
pub(super) fn shift(patient: &Patient, reading: &Reading) -> Result<Opinion, Failure> {
    let (first, second, _) = reading.halves();
    let discard = first.len() / 2;
    let go_on = |gone: fn(&mut Run, usize) -> bool| -> Result<Option<Vec<Vec<f32>>>, Failure> {
        let mut run = patient.run(second.len())?;
        run.feed(first)?;
        if !gone(&mut run, discard) {
            return Ok(None);
        }
        run.feed_all(second).map(Some)
    };
    let shifted = if patient.keeps_state() {
        None
    } else {
        go_on(Run::forget)?.zip(go_on(Run::shift)?)
    };
    let Some((left, moved)) = shifted else {
        return Ok(Opinion::not_applicable(
            "this model's positions cannot be shifted; a full context starts anew",
        ));
    };
    Ok(compared(
        &left,
        &moved,
        &format!("{discard} tokens forgotten, the rest moved up or left in place"),
    ))
}

/// Greedy tokens that are looked at.
const GREEDY: usize = 64;

/// What was said greedily.
pub(super) struct Said {
    /// The tokens.
    pub(super) tokens: Vec<Token>,
    /// How long they took.
    pub(super) time: Duration,
}

/// Answers greedily, up to an end.
pub(super) fn say(patient: &Patient) -> Result<Said, Failure> {
    // A template that refuses has been told of.
    let rendered = patient.render(&[Message::new(Role::User, QUESTION)]);
    let prompt = rendered.map_or_else(
        |_| patient.tokenize(QUESTION, true, false),
        |rendered| patient.tokens(&rendered),
    );
    let endings = patient.endings();
    let mut run = patient.run(1)?;
    run.feed(&prompt)?;
    let mut tokens = Vec::with_capacity(GREEDY);
    let began = Instant::now();
    while tokens.len() < GREEDY {
        let token = Token(top(&run.logits()) as i32);
        if endings.contains(&token) {
            break;
        }
        tokens.push(token);
        run.feed(&[token])?;
    }
    Ok(Said {
        tokens,
        time: began.elapsed(),
    })
}

/// Whether they go round in circles.
pub(super) fn greedy(patient: &Patient, said: &Said) -> Opinion {
    let tokens = &said.tokens;
    let text = String::from_utf8_lossy(&patient.spell(tokens)).into_owned();
    let remedy = "greedy answers of small models do: keep a temperature, or '/set dry-multiplier 0.8'";
    match circle(tokens) {
        Some((1, _)) if tokens.iter().all(|token| Some(token) == tokens.first()) => Opinion::failed(
            format!("the answer is '{text}': one token forever"),
            "if logits and steps above are sound, the model was not trained, or its weights were mixed up: get another conversion",
        ),
        Some((_, again)) => {
            let again = String::from_utf8_lossy(&patient.spell(again)).into_owned();
            let evidence = format!("'{again}' comes {TIMES} times in a row within {} tokens", tokens.len());
            Opinion::warning(evidence, remedy)
        }
        None => Opinion::ok(format!("{} tokens, no loop: '{text}'", tokens.len())),
    }
}

/// How often in a row makes a circle.
const TIMES: usize = 4;

/// What is said that often somewhere: its length in tokens, and the last time that it is.
fn circle(tokens: &[Token]) -> Option<(usize, &[Token])> {
    (1..=tokens.len() / TIMES).find_map(|period| {
        let mut run = 0;
        let end = (period..tokens.len()).find(|at| {
            run = if tokens[*at] == tokens[at - period] { run + 1 } else { 0 };
            run >= period * (TIMES - 1)
        })?;
        Some((period, &tokens[end + 1 - period..=end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::examination::Verdict;

    #[test]
    fn a_circle_is_what_comes_four_times() {
        let tokens = |ids: &[i32]| ids.iter().map(|id| Token(*id)).collect::<Vec<_>>();
        assert_eq!(circle(&tokens(&[1, 2, 3, 4, 5, 6, 7, 8])), None);
        assert_eq!(circle(&tokens(&[5, 7, 7, 7, 7, 1, 2, 3])), Some((1, &tokens(&[7])[..])));
        assert_eq!(
            circle(&tokens(&[9, 1, 2, 1, 2, 1, 2, 1, 2])),
            Some((2, &tokens(&[1, 2])[..]))
        );
        assert_eq!(circle(&tokens(&[1, 2, 1, 2, 1, 2, 3, 4, 5])), None);
        assert_eq!(circle(&[]), None);
    }

    #[test]
    fn what_is_apart_is_told_by_how_far() {
        for (apart, verdict) in [
            ([0.0, 0.0], Verdict::Ok),
            ([0.035, 0.0], Verdict::Ok),
            ([0.05, 0.05], Verdict::Warning),
            ([0.0, 0.3], Verdict::Failed),
            ([0.0, f64::NAN], Verdict::Failed),
        ] {
            assert_eq!(judged(&apart, 2, "two ways").0, verdict, "{apart:?}");
        }
    }

    #[test]
    fn a_text_read_at_wrong_positions_is_apart() {
        let (a, b) = (vec![vec![3.0, 1.0, 0.0]], vec![vec![1.0, 3.0, 0.0]]);
        assert_eq!(compared(&a, &a, "one way").0, Verdict::Ok);
        assert_eq!(compared(&a, &b, "two ways").0, Verdict::Failed);
    }
}
