//! Characters that ride through a template inside message contents and show, in what comes out, where those went.
//! Which places are marked, and what follows from it, is decided elsewhere.

use std::collections::{HashMap, HashSet};

/// What one sentinel stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The text must be split here.
    Cut,
    /// Segment number so-and-so begins here.
    Open(usize),
    /// It ends here.
    Close(usize),
}

/// A mark at a byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) at: usize,
    pub(super) mark: Mark,
}

/// Private-use characters that none of the texts involved contains, one for each mark.
pub(super) struct Sentinels {
    chars: Vec<char>,
    marks: HashMap<char, Mark>,
}

impl Sentinels {
    /// Chooses characters for cuts and for the borders of `segments` segments. None where not even cuts can be marked;
    /// where the characters run out, the last segments go unmarked.
    pub(super) fn choose<'t>(texts: impl IntoIterator<Item = &'t str>, segments: usize) -> Option<Self> {
        let taken: HashSet<char> = texts
            .into_iter()
            .flat_map(str::chars)
            .filter(|&c| is_private(c))
            .collect();
        let free = ('\u{E000}'..='\u{F8FF}')
            .chain('\u{F0000}'..='\u{FFFFD}')
            .chain('\u{100000}'..='\u{10FFFD}')
            .filter(|c| !taken.contains(c));
        let chars: Vec<char> = free.take(1 + 2 * segments).collect();
        let cut = (*chars.first()?, Mark::Cut);
        let borders = chars[1..].chunks_exact(2).enumerate();
        let borders =
            borders.flat_map(|(segment, pair)| [(pair[0], Mark::Open(segment)), (pair[1], Mark::Close(segment))]);
        let marks = std::iter::once(cut).chain(borders).collect();
        Some(Self { chars, marks })
    }

    /// The text with the marks in it. Spots must be in order and on character boundaries.
    pub(super) fn insert(&self, text: &str, spots: &[Spot]) -> String {
        let mut out = String::with_capacity(text.len() + 4 * spots.len());
        let mut done = 0;
        for spot in spots {
            out.push_str(&text[done..spot.at]);
            done = spot.at;
            out.extend(self.char_of(spot.mark));
        }
        out.push_str(&text[done..]);
        out
    }

    /// The text without the marks, and where they were in it.
    pub(super) fn remove(&self, text: &str) -> (String, Vec<Spot>) {
        let mut out = String::with_capacity(text.len());
        let mut spots = Vec::new();
        for c in text.chars() {
            match is_private(c).then(|| self.marks.get(&c)).flatten() {
                Some(&mark) => spots.push(Spot { at: out.len(), mark }),
                None => out.push(c),
            }
        }
        (out, spots)
    }

    fn char_of(&self, mark: Mark) -> Option<char> {
        let (segment, place) = match mark {
            Mark::Cut => return self.chars.first().copied(),
            Mark::Open(segment) => (segment, 0),
            Mark::Close(segment) => (segment, 1),
        };
        let pair = self.chars.get(1 + 2 * segment..3 + 2 * segment)?;
        Some(pair[place])
    }
}

fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn marks_come_back_where_they_were_put() {
        let text = "a\u{E000}b\u{E001}🦙";
        let sentinels = Sentinels::choose([text], 2).unwrap();
        let spots = [
            Spot {
                at: 0,
                mark: Mark::Open(0),
            },
            Spot { at: 1, mark: Mark::Cut },
            Spot {
                at: 4,
                mark: Mark::Close(0),
            },
            Spot {
                at: 4,
                mark: Mark::Open(1),
            },
            Spot {
                at: text.len(),
                mark: Mark::Close(1),
            },
        ];
        let marked = sentinels.insert(text, &spots);
        assert_eq!(marked.chars().count(), text.chars().count() + spots.len());
        assert_eq!(sentinels.remove(&marked), (text.to_owned(), spots.to_vec()));
    }

    #[test]
    fn scarce_characters_go_to_cuts_first() {
        let all = ('\u{E000}'..='\u{F8FF}')
            .chain('\u{F0000}'..='\u{FFFFD}')
            .chain('\u{100000}'..='\u{10FFFC}');
        let taken: String = all.collect();
        let sentinels = Sentinels::choose([taken.as_str()], 1).unwrap();
        let spots = [
            Spot {
                at: 0,
                mark: Mark::Open(0),
            },
            Spot { at: 1, mark: Mark::Cut },
        ];
        assert_eq!(sentinels.insert("ab", &spots), "a\u{10FFFD}b");
        let full = format!("{taken}\u{10FFFD}");
        assert!(Sentinels::choose([full.as_str()], 1).is_none());
    }
}
