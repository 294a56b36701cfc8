//! Finds the paths that a file names, in `use` declarations and in the middle of code, and says what they lead to.
//! Knows no rules.

use crate::source::{Source, Token};

/// A path as written: `crate::ui::view`, `super::*`, `tokio::select`.
#[derive(Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    pub(crate) test: bool,
    /// Whether a `use` names it; such a path brings what it leads to into view.
    pub(crate) imported: bool,
    scope: usize,
}

/// What a path leads to.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A path in this package, from its root.
    Inside(Vec<String>),
    /// Whatever the first word means: a crate, a module near by, a type.
    Elsewhere(String),
}

impl Named {
    /// Follows `crate`, `quipu`, `self` and `super`.
    pub(crate) fn target(&self, source: &Source) -> Target {
        let mut rest = self.segments.iter().map(String::as_str).peekable();
        let mut path = match rest.peek().copied() {
            Some("crate" | "quipu") => {
                rest.next();
                Vec::new()
            }
            Some("self" | "super") => source.scopes[self.scope].clone(),
            first => return Target::Elsewhere(first.unwrap_or_default().to_owned()),
        };
        for word in rest {
            match word {
                "self" => {}
                "super" => drop(path.pop()),
                word => path.push(word.to_owned()),
            }
        }
        Target::Inside(path)
    }
}

/// Every path of the file, in order.
pub(crate) fn named(source: &Source) -> Vec<Named> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // `use<'a>` in a type captures lifetimes and names no path.
        let is_use = tokens[at].word() == Some("use") && tokens.get(at + 1).is_some_and(|next| !next.is("<"));
        if is_use {
            at += 1;
            branch(tokens, &mut at, &[], &mut found);
        } else if starts_path(tokens, at) {
            at = inline(tokens, at, &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// A word before `::` that does not itself continue a path.
fn starts_path(tokens: &[Token], at: usize) -> bool {
    let continues = at > 1 && tokens[at - 1].is("::") && (tokens[at - 2].word().is_some() || tokens[at - 2].is(">"));
    tokens[at].word().is_some() && tokens.get(at + 1).is_some_and(|next| next.is("::")) && !continues
}

fn inline(tokens: &[Token], mut at: usize, found: &mut Vec<Named>) -> usize {
    let first = at;
    let mut segments = Vec::new();
    while let Some(word) = tokens.get(at).and_then(Token::word) {
        segments.push(word.to_owned());
        at += 1;
        if !tokens.get(at).is_some_and(|next| next.is("::")) {
            break;
        }
        at += 1;
    }
    found.push(Named::at(&tokens[first], segments, false));
    at
}

/// Reads one branch of a `use` tree, up to the `,`, `}` or `;` after it.
fn branch(tokens: &[Token], at: &mut usize, stem: &[String], found: &mut Vec<Named>) {
    let mut segments = stem.to_vec();
    while let Some(token) = tokens.get(*at) {
        if token.is("{") {
            *at += 1;
            while tokens.get(*at).is_some_and(|token| !token.is("}")) {
                branch(tokens, at, &segments, found);
                *at += usize::from(tokens.get(*at).is_some_and(|token| token.is(",")));
            }
            *at += 1;
            return;
        }
        *at += 1;
        let word = match token.word() {
            Some(word) => word,
            None if token.is("*") => "*",
            None => continue, // the `::` between two words
        };
        // `{self}` is the stem itself.
        if word != "self" || segments.is_empty() {
            segments.push(word.to_owned());
        }
        if !tokens.get(*at).is_some_and(|next| next.is("::")) {
            found.push(Named::at(token, segments, true));
            break;
        }
    }
    // What is left is ` as name`.
    while tokens.get(*at).is_some_and(|t| !t.is(",") && !t.is("}") && !t.is(";")) {
        *at += 1;
    }
}

impl Named {
    fn at(token: &Token, segments: Vec<String>, imported: bool) -> Self {
        Self {
            segments,
            line: token.line,
            test: token.test,
            imported,
            scope: token.scope,
        }
    }
}
