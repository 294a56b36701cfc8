//! Which of many short texts are meant by a few typed letters, best first. The scoring is that of `nucleo-matcher`, as helix and
//! fzf have taught hands to expect.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The texts that have the letters of `query` in them in order, by their index, best first; equals stay in their order. An empty
/// query keeps all as they are.
pub fn fuzzy<'a>(query: &str, texts: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let pattern = Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let scored = texts.into_iter().enumerate().filter_map(|(at, text)| {
        let score = pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher)?;
        Some((at, score))
    });
    let mut scored: Vec<(usize, u32)> = scored.collect();
    scored.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_enough_and_the_best_comes_first() {
        let texts = ["save-preset", "preset", "prompt", "stop"];
        assert_eq!(fuzzy("", texts), [0, 1, 2, 3]);
        assert_eq!(fuzzy("pre", texts)[0], 1);
        assert_eq!(fuzzy("spr", texts), [0]);
        assert_eq!(fuzzy("PRM", texts), [2]);
        assert!(fuzzy("xyz", texts).is_empty());
    }
}
