//! What settings would make of a token that was drawn already: the candidates that each stage leaves and how likely they are then.
//! Our own model of llama.cpp's samplers (`llama-sampling.cpp`), so that a change can be seen before a model is asked.
//!
//! It draws nothing. XTC, which acts by chance, is shown as the mean of both cases. Mirostat and adaptive-p follow what was drawn
//! before, which is not known here: their candidates are shown as they come to them. A grammar is left out.

use crate::domain::inference::Token;
use crate::domain::prospect::Prospect;

use super::Sampling;
use super::sampling::Stage;

mod stages;

/// What the settings come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlook {
    /// Candidates left after each stage that acts, in order.
    pub kept: Vec<(Stage, u32)>,
    /// The likeliest after all stages, best first, and those that were likely before and are gone.
    pub candidates: Vec<Seen>,
    /// Candidates after all stages.
    pub left: u32,
    /// Candidates before any.
    pub all: u32,
    /// Entropy after all stages, in bits.
    pub entropy: f32,
    /// Entropy before any stage, in bits.
    pub entropy_before: f32,
}

/// A candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Its id.
    pub token: Token,
    /// Its probability before any stage, at temperature 1.
    pub before: f32,
    /// Its probability after all of them; 0 where one removed it.
    pub after: f32,
}

/// A token and its logit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    id: u32,
    logit: f32,
}

/// The candidates on their way through the stages. Some stages take candidates away, some mask them by a logit of minus infinity, as
/// llama.cpp's do: later stages count them.
#[derive(Clone, Debug)]
struct Candidates {
    all: Vec<Candidate>,
    /// Whether they stand in the order of their logits, the highest first.
    sorted: bool,
}

impl Candidates {
    /// How many are not masked.
    fn count(&self) -> u32 {
        self.all.iter().filter(|c| c.logit.is_finite()).count() as u32
    }
}

/// What `settings` make of `prospect`, with at most `most` candidates told by name.
pub fn outlook(prospect: &Prospect, settings: &Sampling, most: usize) -> Outlook {
    let finite = |(id, logit): (usize, &f32)| {
        logit.is_finite().then_some(Candidate {
            id: id as u32,
            logit: *logit,
        })
    };
    let all: Vec<Candidate> = prospect.logits.iter().enumerate().filter_map(finite).collect();
    if all.is_empty() {
        return Outlook::default();
    }
    let (before, entropy_before) = distribution(&all);
    let raw = |id: u32| {
        let logit = prospect.logits.get(id as usize).copied().unwrap_or(f32::NEG_INFINITY);
        (logit - before.highest).exp() / before.sum
    };
    let mut outlook = Outlook {
        all: all.len() as u32,
        entropy_before,
        ..Outlook::default()
    };
    // The likeliest before any stage are worth a line although they are gone.
    let mut likely = all.clone();
    highest_first(&mut likely, most);
    let stages: Vec<Stage> = settings.active().collect();
    let begin = Candidates { all, sorted: false };
    let mut after = run(&stages, begin, settings, prospect, &mut outlook.kept);
    after.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    outlook.left = after.len() as u32;
    outlook.entropy = entropy(&after);
    let kept = after.iter().take(most).map(|(id, after)| Seen {
        token: Token(*id as i32),
        before: raw(*id),
        after: *after,
    });
    outlook.candidates = kept.collect();
    let room = most.saturating_sub(outlook.candidates.len());
    let gone = likely
        .iter()
        .filter(|c| !after.iter().any(|(id, _)| *id == c.id))
        .take(room);
    outlook.candidates.extend(gone.map(|candidate| Seen {
        token: Token(candidate.id as i32),
        before: raw(candidate.id),
        after: 0.0,
    }));
    outlook
}

/// The probabilities after all of `stages`.
fn run(
    stages: &[Stage],
    mut candidates: Candidates,
    settings: &Sampling,
    prospect: &Prospect,
    kept: &mut Vec<(Stage, u32)>,
) -> Vec<(u32, f32)> {
    for (at, stage) in stages.iter().enumerate() {
        if *stage == Stage::Xtc {
            let mut without = candidates.clone();
            if !stages::xtc(&mut without, settings) {
                kept.push((*stage, candidates.count()));
                continue;
            }
            kept.push((*stage, without.count()));
            let rest = &stages[at + 1..];
            let acted = run(rest, without, settings, prospect, kept);
            let spared = run(rest, candidates, settings, prospect, &mut Vec::new());
            return mixed(&acted, &spared, settings.xtc_probability);
        }
        stages::apply(*stage, &mut candidates, settings, prospect);
        kept.push((*stage, candidates.count()));
    }
    let (Norm { highest, sum }, _) = distribution(&candidates.all);
    let probability = |c: &Candidate| (c.id, (c.logit - highest).exp() / sum);
    candidates
        .all
        .iter()
        .filter(|c| c.logit.is_finite())
        .map(probability)
        .collect()
}

/// The mean of two distributions, the first weighed by `share`.
fn mixed(one: &[(u32, f32)], other: &[(u32, f32)], share: f32) -> Vec<(u32, f32)> {
    let mut mean: Vec<(u32, f32)> = other.iter().map(|(id, p)| (*id, p * (1.0 - share))).collect();
    mean.sort_unstable_by_key(|(id, _)| *id);
    for (id, p) in one {
        match mean.binary_search_by_key(id, |(id, _)| *id) {
            Ok(at) => mean[at].1 += p * share,
            Err(at) => mean.insert(at, (*id, p * share)),
        }
    }
    mean.retain(|(_, p)| *p > 0.0);
    mean
}

/// What logits are measured by.
#[derive(Clone, Copy, Debug)]
struct Norm {
    highest: f32,
    /// Of the exponentials, the highest logit's being 1.
    sum: f32,
}

/// The norm of these candidates, and the entropy of their distribution in bits. Summed up one after the other in single precision,
/// as llama.cpp does it: where a cut falls can hang on the last bit.
fn distribution(candidates: &[Candidate]) -> (Norm, f32) {
    let highest = candidates.iter().map(|c| c.logit).fold(f32::NEG_INFINITY, f32::max);
    let (mut sum, mut weighted) = (0.0_f32, 0.0_f32);
    for candidate in candidates {
        // What is masked counts for nothing.
        let distance = (candidate.logit - highest).max(LOWEST);
        let e = distance.exp();
        sum += e;
        weighted += e * distance;
    }
    let entropy = (sum.ln() - weighted / sum) / std::f32::consts::LN_2;
    (Norm { highest, sum }, entropy.max(0.0) + 0.0)
}

/// A distance to the highest logit whose exponential is 0.
const LOWEST: f32 = -1e4;

fn entropy(probabilities: &[(u32, f32)]) -> f32 {
    let terms = probabilities
        .iter()
        .filter(|(_, p)| *p > 0.0)
        .map(|(_, p)| -p * p.log2());
    // Adding 0 takes the sign from a zero.
    terms.sum::<f32>().max(0.0) + 0.0
}

/// Puts the `most` highest first, in order, and drops the rest.
fn highest_first(candidates: &mut Vec<Candidate>, most: usize) {
    let higher = |a: &Candidate, b: &Candidate| b.logit.total_cmp(&a.logit).then(a.id.cmp(&b.id));
    if most < candidates.len() {
        if most > 0 {
            candidates.select_nth_unstable_by(most - 1, higher);
        }
        candidates.truncate(most);
    }
    candidates.sort_unstable_by(higher);
}

#[cfg(test)]
mod tests;
