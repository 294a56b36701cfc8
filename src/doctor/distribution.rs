//! Arithmetic over logits: what a distribution looks like, and how far two are apart. In double precision, and apart from the arithmetic
//! that the engine draws with: an examiner does not lean on what he examines.

/// What can be told of the logits of one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// The index of the highest.
    pub(super) top: usize,
    /// Its probability.
    pub(super) probability: f64,
    /// The lowest and the highest finite logit.
    pub(super) range: (f32, f32),
    /// Entropy in bits.
    pub(super) entropy: f64,
    /// How many are no finite numbers.
    pub(super) broken: usize,
}

impl Look {
    /// Looks at logits, one per entry of the vocabulary.
    pub(super) fn at(logits: &[f32]) -> Self {
        let finite = || logits.iter().copied().filter(|logit| logit.is_finite());
        let range = finite().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let top = top(logits);
        let chances = log_softmax(logits);
        let chance = |id: usize| chances.get(id).map_or(0.0, |log| log.exp());
        Self {
            top,
            probability: chance(top),
            range,
            // -p log2 p, which is nothing where p is.
            entropy: chances
                .iter()
                .filter(|log| log.is_finite())
                .map(|log| -log.exp() * log)
                .sum::<f64>()
                / std::f64::consts::LN_2,
            broken: logits.len() - finite().count(),
        }
    }
}

/// The index of the highest logit that is a number.
pub(super) fn top(logits: &[f32]) -> usize {
    let numbers = logits.iter().enumerate().filter(|(_, logit)| !logit.is_nan());
    numbers.max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(id, _)| id)
}

/// Natural logarithms of the probabilities.
pub(super) fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let highest = logits
        .iter()
        .copied()
        .filter(|x| !x.is_nan())
        .fold(f32::NEG_INFINITY, f32::max);
    let highest = f64::from(highest);
    let sum: f64 = logits
        .iter()
        .map(|x| (f64::from(*x) - highest).exp())
        .filter(|x| !x.is_nan())
        .sum();
    let log = highest + sum.ln();
    logits.iter().map(|x| f64::from(*x) - log).collect()
}

/// How far distribution `b` is from `a`: the Kullback-Leibler divergence in nats, 0 where they are the same. Not a number where one
/// of them has none.
pub(super) fn divergence(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() || a.is_empty() {
        return f64::NAN;
    }
    let (a, b) = (log_softmax(a), log_softmax(b));
    let terms = a.iter().zip(&b).map(|(a, b)| {
        if *a == f64::NEG_INFINITY {
            0.0
        } else {
            a.exp() * (a - b)
        }
    });
    // Rounding may bring it below.
    let sum: f64 = terms.sum();
    if sum < 0.0 { 0.0 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_tells_what_the_formulas_say() {
        // Probabilities 1/2, 1/4, 1/4.
        let look = Look::at(&[2.0_f32.ln(), 0.0, 0.0]);
        assert_eq!((look.top, look.broken), (0, 0));
        assert!(
            (look.probability - 0.5).abs() < 1e-6 && (look.entropy - 1.5).abs() < 1e-6,
            "{look:?}"
        );
        let odd = Look::at(&[f32::NAN, 1.0, f32::NEG_INFINITY]);
        assert_eq!((odd.top, odd.broken, odd.range), (1, 2, (1.0, 1.0)));
    }

    #[test]
    fn divergence_is_zero_for_the_same_and_grows_with_the_difference() {
        let a = [1.0, 2.0, 3.0];
        assert_eq!(divergence(&a, &[11.0, 12.0, 13.0]), 0.0);
        let (near, far) = (divergence(&a, &[1.0, 2.0, 3.1]), divergence(&a, &[3.0, 2.0, 1.0]));
        assert!(0.0 < near && near < 0.01 && far > 0.5, "{near} {far}");
        assert!(divergence(&a, &[f32::NAN, 2.0, 3.0]).is_nan());
        assert!(divergence(&a, &[1.0]).is_nan());
    }
}
