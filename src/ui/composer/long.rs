//! Long texts that stand in the composer as one character each, so that typing beside them stays quick. Nothing of them is
//! lost: what is told to the core is always the whole.

/// The marks are private characters of the last plane, which nobody types. A text that has one is itself folded, so that it
/// comes out again as it went in.
const MARKS: std::ops::RangeInclusive<char> = '\u{100000}'..='\u{10fffd}';

/// Texts kept when the composer is set to another: enough to find them again in the history.
const KEPT: usize = 8;

/// Whether a character stands for a long text.
pub(super) fn is_mark(c: char) -> bool {
    MARKS.contains(&c)
}

/// How much is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ui) struct Folded {
    /// How many texts.
    pub(in crate::ui) texts: usize,
    /// Their lines.
    pub(in crate::ui) lines: usize,
    /// Their bytes.
    pub(in crate::ui) bytes: usize,
}

/// The texts, each behind the mark of its place.
#[derive(Default)]
pub(super) struct LongTexts {
    kept: Vec<String>,
}

impl LongTexts {
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Keeps a text and returns what stands for it.
    pub(super) fn keep(&mut self, text: String) -> char {
        let at = self.kept.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.kept.push(text);
            self.kept.len() - 1
        });
        mark(at)
    }

    /// A text of at most `most` bytes that stands for this one: with the long texts known in it folded, or folded as a whole.
    /// No mark given out before is good any more.
    pub(super) fn fold(&mut self, text: &str, most: usize) -> String {
        let over = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..over);
        if text.contains(is_mark) {
            return self.keep(text.to_owned()).to_string();
        }
        let mut rest = text.to_owned();
        for (at, known) in self.kept.iter().enumerate() {
            if rest.len() > most && !known.contains(is_mark) {
                rest = rest.replace(known, &mark(at).to_string());
            }
        }
        if rest.len() > most {
            return self.keep(text.to_owned()).to_string();
        }
        rest
    }

    /// The text that a folded one stands for.
    pub(super) fn unfold(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        let mut whole = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c) {
                Some(long) => whole.push_str(long),
                None => whole.push(c),
            }
        }
        whole
    }

    /// What is folded in these lines, where something is.
    pub(super) fn among(&self, lines: &[String]) -> Option<Folded> {
        if self.is_empty() {
            return None;
        }
        let mut folded = Folded::default();
        for long in lines.iter().flat_map(|line| line.chars()).filter_map(|c| self.get(c)) {
            folded.texts += 1;
            folded.lines += long.lines().count();
            folded.bytes += long.len();
        }
        (folded.texts > 0).then_some(folded)
    }

    fn get(&self, c: char) -> Option<&str> {
        let at = u32::from(c).checked_sub(u32::from(*MARKS.start()))?;
        self.kept.get(at as usize).map(String::as_str)
    }
}

/// The mark of a place. There are more of them than anyone pastes texts.
fn mark(at: usize) -> char {
    let code = u32::from(*MARKS.start()) + at as u32;
    char::from_u32(code)
        .filter(|c| is_mark(*c))
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}
