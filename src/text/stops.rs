//! Texts that end a stream: found wherever its pieces were cut, and never let out by mistake. Knows nothing of where it comes from.

/// Watches a stream for texts that end it.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    texts: Vec<String>,
    /// What may be the beginning of one of them and is not let out yet.
    held: String,
}

impl Stops {
    /// Watches for these texts; empty ones count for nothing.
    pub fn new(texts: &[String]) -> Self {
        let mut stops = Self::default();
        stops.watch_for(texts);
        stops
    }

    /// Watches for others from now on. What is held back stays so until it is clear.
    pub fn watch_for(&mut self, texts: &[String]) {
        self.texts = texts.iter().filter(|text| !text.is_empty()).cloned().collect();
    }

    /// Takes the next piece. Returns what is clear by now, and whether the stream ends behind it: what ended it and all after is
    /// dropped.
    pub fn push(&mut self, piece: &str) -> (String, bool) {
        self.held.push_str(piece);
        if let Some(start) = self.found() {
            let mut clear = std::mem::take(&mut self.held);
            clear.truncate(start);
            return (clear, true);
        }
        let hold = self.held.len() - self.undecided();
        let rest = self.held.split_off(hold);
        (std::mem::replace(&mut self.held, rest), false)
    }

    /// The end of the stream: what was held back is text after all.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// Where the text begins that is complete first; of several complete at once the longest.
    fn found(&self) -> Option<usize> {
        let matches = self.texts.iter().filter_map(|text| {
            let start = self.held.find(text.as_str())?;
            Some((start + text.len(), start))
        });
        matches.min().map(|(_, start)| start)
    }

    /// Bytes at the end that one of the texts may begin with.
    fn undecided(&self) -> usize {
        let of = |text: &String| {
            let most = self.held.len().min(text.len() - 1);
            let ends = (1..=most).rev();
            ends.filter(|&n| text.is_char_boundary(n))
                .find(|&n| self.held.ends_with(&text[..n]))
        };
        self.texts.iter().filter_map(of).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a stream should come to: letter by letter, until one of the texts is complete.
    fn expected(whole: &str, stops: &[String]) -> (String, bool) {
        let ends = whole.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in ends {
            let so_far = &whole[..end];
            let longest = stops
                .iter()
                .filter(|stop| !stop.is_empty() && so_far.ends_with(stop.as_str()));
            if let Some(stop) = longest.max_by_key(|stop| stop.len()) {
                return (so_far[..end - stop.len()].to_owned(), true);
            }
        }
        (whole.to_owned(), false)
    }

    proptest! {
        #[test]
        fn however_it_is_cut_it_ends_where_it_should(
            pieces in proptest::collection::vec("[abé]{0,4}", 0..12),
            stops in proptest::collection::vec("[abé]{0,4}", 0..4),
        ) {
            let mut watch = Stops::new(&stops);
            let (mut text, mut stopped) = (String::new(), false);
            for piece in &pieces {
                let (clear, end) = watch.push(piece);
                text.push_str(&clear);
                stopped = end;
                if stopped {
                    break;
                }
            }
            if !stopped {
                text.push_str(&watch.finish());
            }
            prop_assert_eq!((text, stopped), expected(&pieces.concat(), &stops));
        }
    }

    #[test]
    fn only_what_may_be_a_stop_is_held_back() {
        let mut stops = Stops::new(&["</s>".to_owned()]);
        assert_eq!(stops.push("hello <"), ("hello ".to_owned(), false));
        assert_eq!(stops.push("/b"), ("</b".to_owned(), false));
        assert_eq!(stops.push("</"), (String::new(), false));
        assert_eq!(stops.push("s> more"), (String::new(), true));
    }
}
