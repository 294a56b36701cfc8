//! Makes untrusted text safe to show: what a model, a file, a server or a person gave us must not drive the terminal,
//! reorder what is read or hide anything. It works on whole texts; it does not wrap, style or store.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

use super::escapes;

/// Distance between tab stops, in columns: narrow, because answers are read in narrow windows.
const TAB: usize = 4;

/// Marks kept on one base character. Eight covers every script in use; towers of hundreds smear over other lines.
const MARKS_PER_BASE: usize = 8;

/// Makes text of several lines safe to show. The only control character left is `'\n'`.
///
/// Terminal control sequences are removed, also where the text ends in the middle of one; other control characters are
/// dropped; tabs become spaces to the next stop; every kind of line break becomes `'\n'`. Characters that reorder or hide
/// text (bidirectional controls, tags, stray joiners) appear as `⟨U+202E⟩`; those that letters and emoji need stay.
/// Doing it twice changes nothing.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = Cleaner::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if escapes::is_introducer(c) {
            rest = escapes::skip(c, rest);
        } else {
            if c == '\r' {
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            }
            out.take(c, rest.chars().next());
        }
    }
    Cow::Owned(out.text)
}

/// Makes text safe to be pasted elsewhere: as [`sanitize`], with its tabs, which code is written with.
pub fn sanitize_copy(text: &str) -> String {
    text.split('\t').map(sanitize).collect::<Vec<_>>().join("\t")
}

/// Makes text safe for a place of one line (names, titles, errors): as [`sanitize`], with each run of line breaks folded
/// to one space and none at the ends.
pub fn sanitize_line(text: &str) -> Cow<'_, str> {
    let clean = sanitize(text);
    if !clean.contains('\n') {
        return clean;
    }
    let lines: Vec<&str> = clean.split('\n').filter(|line| !line.is_empty()).collect();
    Cow::Owned(lines.join(" "))
}

/// Characters that need no thought: printable, with a width of their own, and not on any list below.
fn is_plain(c: char) -> bool {
    matches!(c, '\n' | ' '..='~') || (c > '\u{9F}' && width(c) > 0 && !is_break(c) && !is_invisible(c) && !is_joiner(c))
}

fn width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// What has been written so far, with what must be remembered about it.
struct Cleaner {
    text: String,
    /// Display column, for tab stops.
    column: usize,
    /// Marks on the current base character.
    marks: usize,
    /// The last character written.
    last: Option<char>,
}

impl Cleaner {
    fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            column: 0,
            marks: 0,
            last: None,
        }
    }

    /// Takes one character that belongs to no control sequence; `next` is the one after it in the source.
    fn take(&mut self, c: char, next: Option<char>) {
        match c {
            '\r' | '\n' => self.line_break(),
            '\t' => {
                for _ in 0..TAB - self.column % TAB {
                    self.put(' ');
                }
            }
            _ if is_break(c) => self.line_break(),
            _ if c.is_control() => {}
            // A hyphenation hint: nothing to see, and lines are broken elsewhere.
            '\u{AD}' => {}
            _ if is_joiner(c) => self.joiner(c, next),
            _ if is_selector(c) => self.selector(c),
            _ if is_invisible(c) => self.show(c),
            _ if width(c) == 0 => self.mark(c),
            _ => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        self.text.push(c);
        self.column += width(c);
        self.marks = 0;
        self.last = Some(c);
    }

    fn line_break(&mut self) {
        self.put('\n');
        self.column = 0;
    }

    /// Writes the code point in letters: what hides must not be believed absent.
    fn show(&mut self, c: char) {
        let before = self.text.len();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "⟨U+{:04X}⟩", u32::from(c));
        self.column += self.text[before..].chars().map(width).sum::<usize>();
        self.marks = 0;
        self.last = Some('⟩');
    }

    fn mark(&mut self, c: char) {
        if self.marks < MARKS_PER_BASE {
            self.text.push(c);
            self.marks += 1;
            self.last = Some(c);
        }
    }

    /// A variation selector changes how the character before it looks; a second one, or one on nothing, carries data.
    fn selector(&mut self, c: char) {
        match self.last {
            Some(last) if !last.is_whitespace() && !is_selector(last) && !is_joiner(last) => self.mark(c),
            _ => self.show(c),
        }
    }

    /// Joiners belong between two letters or two emoji. At the end of the text the partner may still be to come.
    fn joiner(&mut self, c: char, next: Option<char>) {
        let Some(next) = next else { return };
        let joins = |side: char| (side.is_alphabetic() || is_pictograph(side)) && !is_invisible(side);
        let before = self
            .last
            .is_some_and(|last| joins(last) || is_selector(last) || (self.marks > 0 && !is_joiner(last)));
        // A mark that the limit will drop is no partner.
        let room = width(next) > 0 || self.marks + 1 < MARKS_PER_BASE;
        let after = joins(next) || (width(next) == 0 && !is_joiner(next) && !is_selector(next) && !is_invisible(next));
        let ascii = self.last.is_some_and(|last| last.is_ascii()) && next.is_ascii();
        if before && after && room && !ascii && !next.is_control() && !is_break(next) {
            // Counts as a mark, so that joiners and marks cannot take turns for ever.
            self.mark(c);
        } else {
            self.show(c);
        }
    }
}

/// Line and paragraph separators, which terminals and our own wrapping would disagree about.
fn is_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Zero-width characters that some scripts need inside a word, and emoji between their parts.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200D}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// The blocks that emoji are drawn from, roughly: enough to know a joiner's partner.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{A9}' | '\u{AE}' | '\u{2190}'..='\u{2BFF}' | '\u{3030}'..='\u{303D}' | '\u{3297}'..='\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Format characters (Cf) that show nothing, apart from joiners. Those that do show, such as the Arabic number signs,
/// are not here. The list follows the Unicode character database.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        // Soft hyphen.
        '\u{AD}'
        // Bidirectional controls.
        | '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
        // Word joiner, invisible operators, deprecated format controls.
        | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}'
        | '\u{180E}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}'
        // Controls of hieroglyphs, shorthand and music.
        | '\u{13430}'..='\u{1345F}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        // Tags, and the rest of their plane that is reserved for invisible characters.
        | '\u{E0000}'..='\u{E00FF}' | '\u{E01F0}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    #[test]
    fn control_sequences_go_whole_or_cut_short() {
        for (hostile, shown) in [
            ("\u{1B}[31mred\u{1B}[0m", "red"),
            ("a\u{1B}]0;title\u{7}b", "ab"),
            ("a\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{1B}\\", "alink"),
            (
                "a\u{1B}P1$r0m\u{1B}\\b\u{1B}_apc\u{9C}c\u{1B}^pm\u{1B}\\d\u{1B}Xsos\u{1B}\\e",
                "abcde",
            ),
            ("a\u{9B}2Jb\u{9D}52;c;aGk=\u{9C}c\u{90}q\u{9C}d", "abcd"),
            ("a\u{1B}cb\u{1B}(Bc\u{1B}#8d", "abcd"),
            ("cut\u{1B}", "cut"),
            ("cut\u{1B}[38;5", "cut"),
            ("cut\u{1B}]52;c;AAAA", "cut"),
            ("\u{1B}]0;open\nnext line stays", "\nnext line stays"),
            ("\u{1B}[31\u{1B}[1mtwo", "two"),
            ("\u{1B}[3é", "é"),
            ("bell\u{7}back\u{8}null\0del\u{7F}nel\u{85}", "bellbacknulldelnel"),
        ] {
            assert_eq!(sanitize(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn white_space_is_made_plain() {
        assert_eq!(sanitize("a\tb\n\tc\r\nd\re\u{2028}f"), "a   b\n    c\nd\ne\nf");
        assert_eq!(sanitize("日本\tx\t"), "日本    x   ");
        assert_eq!(sanitize_line("\none\r\n\n two \u{1B}[1mthree\n"), "one  two three");
    }

    #[test]
    fn what_reorders_or_hides_is_shown() {
        assert_eq!(sanitize("a\u{202E}b\u{E0041}c\u{2066}"), "a⟨U+202E⟩b⟨U+E0041⟩c⟨U+2066⟩");
        assert_eq!(sanitize("pass\u{200B}word \u{200D}x"), "pass⟨U+200B⟩word ⟨U+200D⟩x");
        assert_eq!(sanitize("a\u{FE01}\u{FE02}\n\u{FE0F}"), "a\u{FE01}⟨U+FE02⟩\n⟨U+FE0F⟩");
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "می\u{200C}خواهم שלום 日本語 한국어 นี่",
            "👩\u{200D}👩\u{200D}👧 🏳\u{FE0F}\u{200D}🌈 ❤\u{FE0F}\u{200D}🔥 1\u{FE0F}\u{20E3} 👍🏽",
            "क\u{94D}\u{200D}ष র\u{200D}\u{9CD}য ខ្ញុំ\u{200B}ទៅ",
            "plain ASCII, dashes — and “quotes”",
        ] {
            assert_eq!(sanitize(text), text);
        }
        assert!(matches!(sanitize("borrowed\nas it is ✓"), Cow::Borrowed(_)));
        let tower = format!("Z{}", "\u{301}".repeat(40));
        assert_eq!(sanitize(&tower).chars().count(), 1 + MARKS_PER_BASE);
    }

    /// Texts rich in everything that is treated specially.
    fn hostile() -> impl Strategy<Value = String> {
        let special = "\u{1B}[]P_^X\\()0;1m\u{7}\u{18}\u{9B}\u{9C}\u{9D}\u{90}\r\n\t \u{85}a\u{e9}\u{301}\u{93F}\u{200B}\u{200C}\u{200D}\u{FE0F}\u{FE01}\u{202E}\u{2066}\u{AD}\u{E0041}\u{E0100}👩क\u{94D}\u{1160}\u{3164}\u{600}日";
        let special: Vec<char> = special.chars().collect();
        let c = prop_oneof![4 => proptest::sample::select(special), 1 => any::<char>()];
        proptest::collection::vec(c, 0..60).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left_and_twice_is_once(text in hostile()) {
            let once = sanitize(&text);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", once);
            let bidi = |c| matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
            let tag = |c| matches!(c, '\u{E0000}'..='\u{E007F}');
            let hides = once.chars().any(|c| bidi(c) || tag(c));
            prop_assert!(!hides);
            prop_assert_eq!(sanitize(&once), once.clone());
            let line = sanitize_line(&text);
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(sanitize_line(&line), line.clone());
        }
    }
}
