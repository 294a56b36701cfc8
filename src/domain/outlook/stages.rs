//! Each stage as llama.cpp's sampler of that name does it (`llama-sampling.cpp`, version 0.1.161 of the bindings). The definitions:
//! penalties of Keskar et al. 2019 (CTRL) with OpenAI's frequency and presence; DRY and XTC by p-e-w; top-nσ of Tang et al. 2024;
//! typical of Meister et al. 2022; nucleus of Holtzman et al. 2019; min-p of Nguyen et al. 2024.

use std::collections::HashMap;

use crate::domain::Sampling;
use crate::domain::inference::Token;
use crate::domain::prospect::Prospect;
use crate::domain::sampling::Stage;

use super::{Candidate, Candidates, Norm, distribution, highest_first};

/// Longest DRY exponent: beyond, the penalty would be no number. llama.cpp derives the same bound from the largest float.
const LARGEST: f32 = 88.722_84;

/// Has a stage act. XTC, which acts by chance, is [`xtc`].
pub(super) fn apply(stage: Stage, candidates: &mut Candidates, settings: &Sampling, prospect: &Prospect) {
    let keep = settings.min_keep as usize;
    match stage {
        Stage::Penalties => penalties(candidates, settings, &prospect.history),
        Stage::Dry => dry(candidates, settings, &prospect.history),
        Stage::TopNSigma => top_n_sigma(candidates, settings.top_n_sigma),
        Stage::TopK => top_k(candidates, settings.top_k as usize),
        Stage::Typical => typical(candidates, settings.typical_p, keep),
        Stage::TopP => top_p(candidates, settings.top_p, keep),
        Stage::MinP => min_p(candidates, settings.min_p, keep),
        Stage::Temperature => temperature(candidates, settings),
        Stage::Xtc => {}
    }
}

fn recent<T>(history: &[T], last: u32) -> &[T] {
    &history[history.len().saturating_sub(last as usize)..]
}

fn penalties(candidates: &mut Candidates, s: &Sampling, history: &[(Token, String)]) {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for (token, _) in recent(history, s.repeat_last_n) {
        *counts.entry(token.0 as u32).or_default() += 1;
    }
    for candidate in &mut candidates.all {
        let Some(&count) = counts.get(&candidate.id) else {
            continue;
        };
        // A division would make negative logits likelier.
        if candidate.logit <= 0.0 {
            candidate.logit *= s.repeat_penalty;
        } else {
            candidate.logit /= s.repeat_penalty;
        }
        candidate.logit -= count as f32 * s.frequency_penalty + s.presence_penalty;
    }
    candidates.sorted = false;
}

fn dry(candidates: &mut Candidates, s: &Sampling, history: &[(Token, String)]) {
    let history = recent(history, s.dry_last_n);
    let allowed = s.dry_allowed_length as usize;
    if history.len() <= allowed {
        return;
    }
    let limit = repetition_limit(history, &s.dry_breakers);
    if limit < allowed {
        return;
    }
    let ids: Vec<i32> = history.iter().map(|(token, _)| token.0).collect();
    let longest = repetitions(&ids, limit);
    let most = if s.dry_base > 1.000_001 {
        LARGEST / s.dry_base.ln()
    } else {
        0.0
    };
    for candidate in &mut candidates.all {
        let Some(&length) = longest.get(&(candidate.id as i32)) else {
            continue;
        };
        if length < allowed {
            continue;
        }
        let mut exponent = (length - allowed) as f32;
        if most > 0.0 && exponent > most {
            exponent = most.trunc();
        }
        candidate.logit -= s.dry_multiplier * s.dry_base.powf(exponent);
    }
    candidates.sorted = false;
}

/// How many of the last tokens come after the last breaker.
fn repetition_limit(history: &[(Token, String)], breakers: &[String]) -> usize {
    for (back, (_, own)) in history.iter().rev().enumerate() {
        let after = &history[history.len() - back..];
        let longest = breakers
            .iter()
            .filter(|b| !b.is_empty())
            .filter_map(|b| begins(own, after, b))
            .max();
        if let Some(tail) = longest {
            return back - tail;
        }
    }
    history.len()
}

/// Whether a breaker begins in this token, and how many of those after it it takes to end.
fn begins(own: &str, after: &[(Token, String)], breaker: &str) -> Option<usize> {
    if own.contains(breaker) {
        return Some(0);
    }
    let starts = (0..own.len()).filter(|at| own.is_char_boundary(*at) && breaker.starts_with(&own[*at..]));
    let ended = |at: usize| {
        let mut rest = &breaker[own.len() - at..];
        for (number, (_, text)) in after.iter().enumerate() {
            if text.starts_with(rest) {
                return Some(number + 1);
            }
            rest = rest.strip_prefix(text.as_str()).filter(|_| !text.is_empty())?;
        }
        None
    };
    starts.filter_map(ended).max()
}

/// For each token that would go on with a repetition of the end of `ids`: the length of what it would repeat, at most `limit`.
/// By the Z-function of the reversed history, which takes a time that grows with its length.
fn repetitions(ids: &[i32], limit: usize) -> HashMap<i32, usize> {
    let back: Vec<i32> = ids.iter().rev().copied().collect();
    let mut z = vec![0_usize; back.len()];
    let (mut left, mut right) = (0, 0);
    for at in 1..back.len() {
        let mut length = if at < right { z[at - left].min(right - at) } else { 0 };
        while at + length < back.len() && back[length] == back[at + length] {
            length += 1;
        }
        z[at] = length;
        if at + length > right {
            (left, right) = (at, at + length);
        }
    }
    let mut longest: HashMap<i32, usize> = HashMap::new();
    for at in 1..back.len() {
        let length = z[at].min(limit);
        let next = longest.entry(back[at - 1]).or_default();
        *next = (*next).max(length);
    }
    longest
}

fn top_n_sigma(candidates: &mut Candidates, n: f32) {
    if candidates.all.len() <= 1 {
        return;
    }
    let finite = || candidates.all.iter().map(|c| c.logit).filter(|logit| logit.is_finite());
    let count = finite().count().max(1) as f32;
    let highest = finite().fold(f32::NEG_INFINITY, f32::max);
    let mean = finite().fold(0.0_f32, |sum, logit| sum + logit) / count;
    // Squares are added in double precision to a sum in single.
    let squares = finite().fold(0.0_f32, |sum, logit| {
        (f64::from(sum) + f64::from(logit - mean).powi(2)) as f32
    });
    let least = highest - n * (squares / count).sqrt();
    mask(candidates, |c| c.logit >= least);
}

/// Masks what does not stay.
fn mask(candidates: &mut Candidates, stays: impl Fn(&Candidate) -> bool) {
    for candidate in &mut candidates.all {
        if !stays(candidate) {
            candidate.logit = f32::NEG_INFINITY;
        }
    }
}

fn top_k(candidates: &mut Candidates, k: usize) {
    if candidates.sorted {
        candidates.all.truncate(k);
    } else if k < candidates.all.len() {
        highest_first(&mut candidates.all, k);
        candidates.sorted = true;
    }
}

fn typical(candidates: &mut Candidates, p: f32, keep: usize) {
    sort(candidates);
    let (Norm { highest, sum }, _) = distribution(&candidates.all);
    let entropy = entropy(&candidates.all);
    let probability = |c: &Candidate| (c.logit - highest).exp() / sum;
    let mut by_surprise: Vec<(f32, Candidate)> = candidates
        .all
        .iter()
        .map(|c| ((-probability(c).ln() - entropy).abs(), *c))
        .collect();
    by_surprise.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut mass = 0.0;
    let last = by_surprise.iter().enumerate().find_map(|(at, (_, c))| {
        mass += probability(c);
        (mass > p && at + 1 >= keep).then_some(at + 1)
    });
    let last = last.unwrap_or(by_surprise.len());
    candidates.all = by_surprise[..last].iter().map(|(_, c)| *c).collect();
    candidates.sorted = false;
}

fn top_p(candidates: &mut Candidates, p: f32, keep: usize) {
    let (Norm { highest, sum }, _) = distribution(&candidates.all);
    // Nearly always a few hundred reach it: sorting all is the last resort.
    let reaches = |few: &[Candidate]| {
        let mut mass = 0.0;
        few.iter().enumerate().find_map(|(at, c)| {
            mass += (c.logit - highest).exp() / sum;
            (mass >= p && at + 1 >= keep).then_some(at + 1)
        })
    };
    if candidates.sorted {
        let last = reaches(&candidates.all).unwrap_or(candidates.all.len());
        candidates.all.truncate(last);
        return;
    }
    let mut most = 256;
    loop {
        let mut few = candidates.all.clone();
        highest_first(&mut few, most);
        let last = reaches(&few);
        if last.is_some() || few.len() == candidates.all.len() {
            few.truncate(last.unwrap_or(few.len()));
            *candidates = Candidates { all: few, sorted: true };
            return;
        }
        most *= 16;
    }
}

fn min_p(candidates: &mut Candidates, p: f32, keep: usize) {
    let highest = candidates.all.iter().map(|c| c.logit).fold(f32::NEG_INFINITY, f32::max);
    let least = highest + p.ln();
    let passing = candidates.all.iter().filter(|c| c.logit >= least).count();
    if passing >= keep {
        candidates.all.retain(|c| c.logit >= least);
    } else {
        top_k(candidates, keep);
    }
}

fn temperature(candidates: &mut Candidates, s: &Sampling) {
    let mut temperature = s.temperature;
    if s.dynatemp_range > 0.0 {
        if candidates.all.len() <= 1 {
            return;
        }
        let (least, most) = (
            (temperature - s.dynatemp_range).max(0.0),
            temperature + s.dynatemp_range,
        );
        sort(candidates);
        let highest_entropy = -(1.0 / candidates.all.len() as f32).ln();
        let share = entropy(&candidates.all) / highest_entropy;
        temperature = least + (most - least) * share.powf(s.dynatemp_exponent);
    }
    if temperature <= 0.0 {
        // The first of the highest.
        let highest = candidates
            .all
            .iter()
            .copied()
            .reduce(|best, c| if c.logit > best.logit { c } else { best });
        candidates.all = highest.into_iter().collect();
        return;
    }
    for candidate in &mut candidates.all {
        candidate.logit /= temperature;
    }
}

/// The entropy in nats, added up term by term.
fn entropy(candidates: &[Candidate]) -> f32 {
    let (Norm { highest, sum }, _) = distribution(candidates);
    let probabilities = candidates.iter().map(|c| (c.logit - highest).exp() / sum);
    probabilities
        .filter(|p| *p > 0.0)
        .fold(0.0, |entropy, p| entropy - p * p.ln())
}

/// Excludes the top choices but the last of them. Says whether there is anything to exclude.
pub(super) fn xtc(candidates: &mut Candidates, s: &Sampling) -> bool {
    if candidates.all.len() < 2 {
        return false;
    }
    sort(candidates);
    let (Norm { highest, sum }, _) = distribution(&candidates.all);
    let top = candidates
        .all
        .iter()
        .take_while(|c| (c.logit - highest).exp() / sum >= s.xtc_threshold)
        .count();
    let excluded = top.saturating_sub(1);
    if excluded == 0 || candidates.all.len() - excluded < s.min_keep as usize {
        return false;
    }
    candidates.all.drain(..excluded);
    true
}

fn sort(candidates: &mut Candidates) {
    if !candidates.sorted {
        let all = candidates.all.len();
        highest_first(&mut candidates.all, all);
        candidates.sorted = true;
    }
}
