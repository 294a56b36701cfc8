//! What a distribution looks like before any stage: one pass over all logits. Draws nothing.

use crate::domain::inference::Token;

/// The whole vocabulary's distribution in a few numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// The highest logit.
    highest: f32,
    /// Sum of e^(logit - highest) over all.
    sum: f32,
    /// Shannon entropy in bits.
    pub(super) entropy: f32,
}

impl Look {
    /// Looks at `logits`, one per entry of the vocabulary. Entries that are no numbers count as impossible.
    ///
    /// With `e = exp(l - max)` and `S` their sum, entropy is `ln S - (sum of (l - max) e) / S` nats.
    pub(super) fn at(logits: &[f32]) -> Self {
        let highest = highest(logits);
        let (sum, weighted) = sums(logits, highest);
        let nats = sum.ln() - weighted / sum;
        Self {
            highest,
            sum,
            entropy: (nats / std::f32::consts::LN_2).max(0.0),
        }
    }

    /// The probability that goes with a logit.
    pub(super) fn probability(&self, logit: f32) -> f32 {
        (logit - self.highest).exp() / self.sum
    }
}

/// How many logits are higher than that of `token`: 0 for the likeliest.
pub(super) fn rank(logits: &[f32], token: Token) -> u32 {
    let own = usize::try_from(token.0).ok().and_then(|id| logits.get(id));
    own.map_or(0, |own| logits.iter().map(|logit| u32::from(logit > own)).sum())
}

/// The highest of all logits; `None` where one of them is no number.
pub(super) fn highest_of_numbers(logits: &[f32]) -> Option<f32> {
    // A flag per lane, as a number: a branch would look at one logit at a time.
    let (chunks, rest) = logits.as_chunks::<LANES>();
    let mut odd = [0_u32; LANES];
    for chunk in chunks {
        for (odd, logit) in odd.iter_mut().zip(chunk) {
            *odd |= u32::from(logit.is_nan());
        }
    }
    let numbers = odd.iter().all(|odd| *odd == 0) && !rest.iter().any(|logit| logit.is_nan());
    numbers.then(|| highest(logits))
}

/// Numbers looked at side by side: as many as the widest registers hold.
const LANES: usize = 16;

fn highest(logits: &[f32]) -> f32 {
    let (chunks, rest) = logits.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (lane, logit) in lanes.iter_mut().zip(chunk) {
            *lane = lane.max(*logit);
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

/// Sums of e^x and of x e^x, where x is a logit less the highest.
fn sums(logits: &[f32], highest: f32) -> (f32, f32) {
    let (chunks, rest) = logits.as_chunks::<LANES>();
    let (mut sums, mut weighted) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    for chunk in chunks {
        for lane in 0..LANES {
            // `max` turns what is no number into something that counts for nothing.
            let x = (chunk[lane] - highest).max(LEAST);
            let e = exp(x);
            sums[lane] += e;
            weighted[lane] += x * e;
        }
    }
    let (mut sum, mut weight): (f32, f32) = (sums.iter().sum(), weighted.iter().sum());
    for logit in rest {
        let x = (logit - highest).max(LEAST);
        sum += exp(x);
        weight += x * exp(x);
    }
    (sum, weight)
}

/// Below this e^x is no normal number any more.
const LEAST: f32 = -87.0;

/// e^x for x from [`LEAST`] to 0 within two units in the last place, without branches and calls, so that a compiler computes many
/// at once: x = n ln 2 + r with |r| at most ln 2 / 2, a polynomial for e^r (coefficients of Cephes' `expf`), and n into the exponent.
fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // No fused multiplication: where the processor has none it is a call, and a hundred times as slow.
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut polynomial = 1.987_569_1e-4_f32;
    for coefficient in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        polynomial = polynomial * rest + coefficient;
    }
    let of_rest = polynomial * (rest * rest) + rest + 1.0;
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    of_rest * f32::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn exp_is_exp(x in LEAST..0.0_f32) {
            let (ours, theirs) = (f64::from(exp(x)), f64::from(x).exp());
            prop_assert!((ours / theirs - 1.0).abs() < 3e-7, "{} {} {}", x, ours, theirs);
        }

        #[test]
        fn a_look_equals_the_textbook(logits in proptest::collection::vec(-40.0_f32..40.0, 1..200)) {
            let look = Look::at(&logits);
            let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all: Vec<f64> = logits.iter().map(|l| f64::from(l - highest).exp()).collect();
            let sum: f64 = all.iter().sum();
            let entropy: f64 = -all.iter().map(|e| e / sum).filter(|p| *p > 0.0).map(|p| p * p.log2()).sum::<f64>();
            prop_assert!((f64::from(look.entropy) - entropy).abs() < 1e-3, "{} {}", look.entropy, entropy);
            for (logit, e) in logits.iter().zip(&all) {
                prop_assert!((f64::from(look.probability(*logit)) - e / sum).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn ranks_count_from_the_likeliest() {
        let logits = [1.0, 3.0, 3.0, -1.0];
        assert_eq!([0, 1, 2, 3].map(|id| rank(&logits, Token(id))), [2, 0, 0, 3]);
        assert_eq!(rank(&logits, Token(-1)), 0);
    }

    #[test]
    fn one_that_is_no_number_is_found_anywhere() {
        for size in [1, 16, 40] {
            let logits: Vec<f32> = (0..size).map(|n| n as f32).collect();
            assert_eq!(highest_of_numbers(&logits), Some((size - 1) as f32));
            for at in 0..size as usize {
                let mut logits = logits.clone();
                logits[at] = f32::NAN;
                assert_eq!(highest_of_numbers(&logits), None, "{at} of {size}");
            }
        }
        assert_eq!(highest_of_numbers(&[]), Some(f32::NEG_INFINITY));
    }

    #[test]
    fn what_is_no_number_counts_for_nothing() {
        let look = Look::at(&[f32::NAN, 0.0, f32::NEG_INFINITY, 0.0]);
        assert!(
            (look.probability(0.0) - 0.5).abs() < 1e-6 && (look.entropy - 1.0).abs() < 1e-5,
            "{look:?}"
        );
    }
}
