//! What the words of a block of code are: keyword, string, comment. It tells roles and no colours, so a block looks like the
//! rest of the theme. The grammars are bat's, by `two-face`; a grammar is looked up when the first block asks for it.

use std::ops::Range;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::ui::theme::Role;

/// All grammars: unpacked once, when the first block of code names its language.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Bytes of a line that are looked at: some grammars take a time that grows with its square.
const LONGEST: usize = 500;

/// Lines of a block that are looked at: what is read by a person is shorter, and a dump of a megabyte must not hold a frame up.
const MOST: usize = 2000;

/// What a grammar's scopes mean to us; of those that fit, the longest counts. Scope names are Sublime Text's conventions.
static MEANINGS: LazyLock<Vec<(Scope, Option<Role>)>> = LazyLock::new(|| {
    let table = [
        ("comment", Some(Role::CodeComment)),
        ("string", Some(Role::CodeString)),
        ("constant", Some(Role::CodeConstant)),
        ("keyword", Some(Role::CodeKeyword)),
        ("keyword.operator", None),
        ("storage", Some(Role::CodeKeyword)),
        ("variable.language", Some(Role::CodeKeyword)),
        ("variable.function", Some(Role::CodeFunction)),
        ("variable.parameter", None),
        ("entity.name", Some(Role::CodeType)),
        ("entity.name.function", Some(Role::CodeFunction)),
        ("entity.name.tag", Some(Role::CodeKeyword)),
        ("entity.other.attribute-name", Some(Role::CodeFunction)),
        ("support", Some(Role::CodeType)),
        ("support.function", Some(Role::CodeFunction)),
        ("support.macro", Some(Role::CodeFunction)),
        ("markup.inserted", Some(Role::CodeString)),
        ("markup.deleted", Some(Role::CodeConstant)),
        ("markup.heading", Some(Role::CodeKeyword)),
        ("meta.diff.range", Some(Role::CodeFunction)),
    ];
    // Every name is well formed, as a test sees.
    let read = |(name, role): (&str, _)| Some((Scope::new(name).ok()?, role));
    table.into_iter().filter_map(read).collect()
});

/// Where in a block of code one is. A copy goes on from the same place.
#[derive(Clone, Debug)]
pub(super) struct Highlighter {
    state: ParseState,
    scopes: ScopeStack,
    lines: usize,
}

impl Highlighter {
    /// At the beginning of a block in this language, by the name or the ending that stands at the fence; `None` where nobody
    /// knows it.
    pub(super) fn new(language: &str) -> Option<Self> {
        if language.is_empty() {
            return None;
        }
        let syntax = GRAMMARS.find_syntax_by_token(language)?;
        Some(Self {
            state: ParseState::new(syntax),
            scopes: ScopeStack::new(),
            lines: 0,
        })
    }

    /// The parts of the next line, in order and without gaps, each with its role where it has one of its own.
    pub(super) fn line(&mut self, line: &str) -> Vec<(Range<usize>, Option<Role>)> {
        self.lines += 1;
        if self.lines > MOST || line.len() > LONGEST {
            return vec![(0..line.len(), None)];
        }
        // A grammar that fails costs its colours and nothing else.
        let Ok(operations) = self.state.parse_line(&format!("{line}\n"), &GRAMMARS) else {
            self.lines = MOST;
            return vec![(0..line.len(), None)];
        };
        let mut parts: Vec<(Range<usize>, Option<Role>)> = Vec::new();
        let mut begin = 0;
        for (at, operation) in operations {
            let at = at.min(line.len());
            push(&mut parts, begin..at, &self.scopes);
            begin = at;
            if self.scopes.apply(&operation).is_err() {
                self.lines = MOST;
                break;
            }
        }
        push(&mut parts, begin..line.len(), &self.scopes);
        parts
    }
}

fn push(parts: &mut Vec<(Range<usize>, Option<Role>)>, range: Range<usize>, scopes: &ScopeStack) {
    if range.is_empty() {
        return;
    }
    let role = role(scopes);
    match parts.last_mut() {
        Some((last, same)) if *same == role => last.end = range.end,
        _ => parts.push((range, role)),
    }
}

/// What the innermost scope that means anything means.
fn role(scopes: &ScopeStack) -> Option<Role> {
    let meaning = |scope: &Scope| {
        let fits = MEANINGS.iter().filter(|(known, _)| known.is_prefix_of(*scope));
        fits.max_by_key(|(known, _)| known.len()).map(|(_, role)| *role)
    };
    scopes.as_slice().iter().rev().find_map(meaning).flatten()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(language: &str, code: &str) -> Vec<(String, Option<Role>)> {
        let mut highlighter = Highlighter::new(language).unwrap();
        let mut words = Vec::new();
        for line in code.lines() {
            for (range, role) in highlighter.line(line) {
                words.push((line[range].to_owned(), role));
            }
        }
        words
    }

    #[test]
    fn words_have_their_roles() {
        let words = read("rust", "fn main() { // say\n    let n = \"hi\"; }");
        let of = |wanted: &str| {
            words
                .iter()
                .find(|(word, _)| word.trim() == wanted)
                .map(|(_, role)| *role)
        };
        assert_eq!(of("fn"), Some(Some(Role::CodeKeyword)), "{words:?}");
        assert_eq!(of("main"), Some(Some(Role::CodeFunction)), "{words:?}");
        assert_eq!(of("// say"), Some(Some(Role::CodeComment)), "{words:?}");
        assert_eq!(of("\"hi\""), Some(Some(Role::CodeString)), "{words:?}");
    }

    #[test]
    fn every_meaning_is_read() {
        assert_eq!(MEANINGS.len(), 20);
    }

    #[test]
    fn languages_go_by_many_names() {
        for name in [
            "rust",
            "rs",
            "Python",
            "py",
            "js",
            "TypeScript",
            "c++",
            "bash",
            "sh",
            "toml",
            "json",
            "diff",
            "sql",
        ] {
            assert!(Highlighter::new(name).is_some(), "{name}");
        }
        assert!(Highlighter::new("").is_none() && Highlighter::new("no such language").is_none());
    }

    #[test]
    fn a_string_goes_on_over_lines() {
        let words = read("python", "x = \"\"\"one\ntwo\"\"\"\nthree = 4");
        assert!(
            words.contains(&("two\"\"\"".to_owned(), Some(Role::CodeString))),
            "{words:?}"
        );
        assert!(words.contains(&("4".to_owned(), Some(Role::CodeConstant))), "{words:?}");
    }

    #[test]
    fn what_is_too_long_stays_plain() {
        let mut highlighter = Highlighter::new("rust").unwrap();
        let long = "fn ".repeat(LONGEST);
        assert_eq!(highlighter.line(&long), [(0..long.len(), None)]);
        assert_eq!(highlighter.line("fn")[0].1, Some(Role::CodeKeyword));
        for _ in 0..MOST {
            highlighter.line("fn");
        }
        assert_eq!(highlighter.line("fn"), [(0..2, None)]);
    }
}
