//! Whether a text is a GBNF grammar, and where it is not: llama.cpp only says that it is none, and prints the rest to the
//! terminal. Follows the rules of its parser (`llama-grammar.cpp`); what the grammar allows is llama.cpp's own business.

use std::collections::HashMap;

/// Groups within groups: more than any grammar has, and far less than would overflow llama.cpp's recursive parser.
const DEEPEST: usize = 128;
/// llama.cpp's own bound on repetitions.
const MOST_REPETITIONS: u64 = 2000;
/// The rule that an answer must fit.
pub(super) const ROOT: &str = "root";

/// Why a text is no grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Counted from 1.
    line: usize,
    /// In words.
    what: String,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// Checks a whole grammar: its form, that every rule exists that is referred to, and that there is a root.
pub(super) fn check(text: &str) -> Result<(), Mistake> {
    let mut parser = Parser {
        text,
        at: 0,
        defined: Vec::new(),
        used: HashMap::new(),
    };
    if let Some(nul) = text.find('\0') {
        parser.at = nul;
        return Err(parser.mistake("a grammar holds no NUL"));
    }
    parser.space(Lines::Any);
    while !parser.rest().is_empty() {
        parser.rule()?;
    }
    let missing = parser.used.iter().filter(|(name, _)| !parser.defined.contains(name));
    if let Some((name, at)) = missing.min_by_key(|(_, at)| **at) {
        parser.at = *at;
        return Err(parser.mistake(format!("there is no rule '{name}'")));
    }
    if !parser.defined.contains(&ROOT) {
        return Err(parser.mistake("there is no rule 'root', which says what the whole answer is"));
    }
    Ok(())
}

/// Whether a line may end here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Any,
    One,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    defined: Vec<&'a str>,
    /// Names that were referred to, and where first.
    used: HashMap<&'a str, usize>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn mistake(&self, what: impl Into<String>) -> Mistake {
        let line = 1 + self.text[..self.at].matches('\n').count();
        Mistake {
            line,
            what: what.into(),
        }
    }

    /// What stands here, for a message.
    fn here(&self) -> String {
        let line = self.rest().lines().next().unwrap_or_default();
        let shown: String = line.chars().take(20).collect();
        if shown.is_empty() {
            "the end of the line".to_owned()
        } else {
            format!("'{shown}'")
        }
    }

    fn expected(&self, what: &str) -> Mistake {
        self.mistake(format!("expected {what} at {}", self.here()))
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !wanted(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn space(&mut self, lines: Lines) {
        loop {
            let blank = |c| c == ' ' || c == '\t' || (lines == Lines::Any && (c == '\n' || c == '\r'));
            self.take_while(blank);
            if !self.rest().starts_with('#') {
                return;
            }
            self.take_while(|c| c != '\n' && c != '\r');
        }
    }

    fn name(&mut self) -> Result<&'a str, Mistake> {
        let name = self.take_while(is_name);
        if name.is_empty() {
            Err(self.expected("a name"))
        } else {
            Ok(name)
        }
    }

    fn rule(&mut self) -> Result<(), Mistake> {
        let name = self.name()?;
        self.space(Lines::One);
        if !self.take("::=") {
            return Err(self.expected("'::='"));
        }
        self.defined.push(name);
        self.space(Lines::Any);
        self.alternates(0)?;
        if !(self.rest().is_empty() || self.take("\r\n") || self.take("\n") || self.take("\r")) {
            return Err(self.expected("the end of the rule"));
        }
        self.space(Lines::Any);
        Ok(())
    }

    fn alternates(&mut self, depth: usize) -> Result<(), Mistake> {
        if depth > DEEPEST {
            return Err(self.mistake(format!("more than {DEEPEST} groups within each other")));
        }
        self.sequence(depth)?;
        while self.take("|") {
            self.space(Lines::Any);
            self.sequence(depth)?;
        }
        Ok(())
    }

    fn sequence(&mut self, depth: usize) -> Result<(), Mistake> {
        let lines = if depth > 0 { Lines::Any } else { Lines::One };
        let mut repeatable = false;
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                '"' => self.delimited('"')?,
                '[' => self.delimited(']')?,
                '<' | '!' => self.token()?,
                '(' => {
                    self.at += 1;
                    self.space(Lines::Any);
                    self.alternates(depth + 1)?;
                    if !self.take(")") {
                        return Err(self.expected("')'"));
                    }
                }
                '*' | '+' | '?' | '{' if !repeatable => {
                    return Err(self.mistake(format!("nothing stands before '{letter}' that could be repeated")));
                }
                '.' | '*' | '+' | '?' => self.at += 1,
                '{' => self.repetitions(lines)?,
                letter if is_name(letter) => {
                    let at = self.at;
                    let name = self.name()?;
                    self.used.entry(name).or_insert(at);
                }
                _ => return Ok(()),
            }
            // An empty literal is nothing to repeat, which llama.cpp finds out as we would: by the next mistake.
            repeatable = true;
            self.space(lines);
        }
        Ok(())
    }

    /// A literal or a range of letters, up to and with its end.
    fn delimited(&mut self, end: char) -> Result<(), Mistake> {
        let begin = self.at;
        self.at += 1;
        loop {
            match self.rest().chars().next() {
                None if end == '"' => {
                    self.at = begin;
                    return Err(self.expected("a closing quote for the text"));
                }
                None => {
                    self.at = begin;
                    return Err(self.expected("a closing ']' for the range"));
                }
                Some(letter) if letter == end => {
                    self.at += letter.len_utf8();
                    return Ok(());
                }
                Some('\\') => self.escape()?,
                Some(letter) => self.at += letter.len_utf8(),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Mistake> {
        let digits = match self.rest().as_bytes().get(1) {
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(b't' | b'r' | b'n' | b'\\' | b'"' | b'[' | b']' | b'-') => 0,
            _ => return Err(self.expected("an escape that GBNF knows")),
        };
        let hex = self.rest().get(2..2 + digits).unwrap_or_default();
        if hex.len() < digits || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.expected(&format!("{digits} hexadecimal digits after the escape")));
        }
        self.at += 2 + digits;
        Ok(())
    }

    /// A token of the vocabulary: `<[id]>` or `<text>`, after a `!` where it is one that may not stand.
    fn token(&mut self) -> Result<(), Mistake> {
        self.take("!");
        if !self.take("<") {
            return Err(self.expected("'<'"));
        }
        self.take_while(|c| c != '>');
        if self.take(">") {
            Ok(())
        } else {
            Err(self.expected("'>'"))
        }
    }

    fn repetitions(&mut self, lines: Lines) -> Result<(), Mistake> {
        self.at += 1;
        self.space(lines);
        let least = self.number()?;
        self.space(lines);
        if self.take(",") {
            self.space(lines);
            if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
                self.number()?;
                self.space(lines);
            }
        }
        if !self.take("}") {
            return Err(self.expected("'}'"));
        }
        if least > MOST_REPETITIONS {
            return Err(self.mistake(format!("{least} repetitions are more than {MOST_REPETITIONS}")));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, Mistake> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected("a whole number"));
        }
        Ok(digits.parse().unwrap_or(u64::MAX))
    }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn grammars_pass() {
        for good in [
            r#"root ::= "yes" | "no""#,
            "# a comment\nroot ::= item+ # another\nitem ::= \"- \" [^\\r\\n\\x0b]+ \"\\n\"\n",
            "root ::= (\n  \"a\" |\n  \"b\"\n){1,3} . a-b?\r\na-b ::= [a-z\\]] | <[5]> !<[6]>",
            "root ::=\n  \"a\"",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (bad, words) in [
            (
                "",
                "line 1: there is no rule 'root', which says what the whole answer is",
            ),
            ("root = \"a\"", "line 1: expected '::=' at '= \"a\"'"),
            ("root ::= \"a", "line 1: expected a closing quote for the text at '\"a'"),
            ("root ::= [a-", "line 1: expected a closing ']' for the range at '[a-'"),
            ("\nroot ::= a b\na ::= \"x\"", "line 2: there is no rule 'b'"),
            ("root ::= (\"a\"", "line 1: expected ')' at the end of the line"),
            ("root ::= *", "line 1: nothing stands before '*' that could be repeated"),
            (
                "root ::= \"\\q\"",
                "line 1: expected an escape that GBNF knows at '\\q\"'",
            ),
            (
                "root ::= \"\\x4\"",
                "line 1: expected 2 hexadecimal digits after the escape at '\\x4\"'",
            ),
            ("root ::= \"a\"{x}", "line 1: expected a whole number at 'x}'"),
            ("root ::= \"a\"{9999}", "line 1: 9999 repetitions are more than 2000"),
            ("root ::= \"a\" )", "line 1: expected the end of the rule at ')'"),
            ("a\0b", "line 1: a grammar holds no NUL"),
        ] {
            assert_eq!(
                check(bad).map_err(|mistake| mistake.to_string()),
                Err(words.to_owned()),
                "{bad:?}"
            );
        }
        let deep = format!("root ::= {}", "(".repeat(1 << 20));
        assert!(check(&deep).is_err());
    }
}
