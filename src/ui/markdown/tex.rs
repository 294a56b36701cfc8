//! Formulas in TeX as text that a terminal can show: Greek letters, operators, powers and indices, fractions on one line. What
//! has no form in Unicode stays as it was written, so that nothing is guessed. The source is never lost: the raw view shows it.

use super::signs::{FRACTIONS, MARKS, TEXTS, double_struck, is_word, shifted, sign};

/// Groups within groups: deeper ones are no formula, and end in no overflow.
const DEEPEST: usize = 32;

/// Longest formula that is read, in bytes: models write shorter ones, and what is longer is none.
pub(super) const LONGEST: usize = 4096;

/// Whether what stands between two dollar signs may be a formula, and not the text between two prices.
pub(super) fn is_likely(tex: &str) -> bool {
    let price = tex.starts_with(|c: char| c.is_ascii_digit());
    let signs = tex.contains(['\\', '^', '_', '=', '+', '<', '>']);
    let open = tex.ends_with([',', '.', '-', '–', ';', ':', ' ']);
    !tex.contains('`') && !(price && (open || (tex.contains(' ') && !signs)))
}

/// The formula in Unicode, its lines parted by line feeds. `None` where it cannot be read: braces that do not close, or
/// nothing at all.
pub(super) fn unicode(tex: &str) -> Option<String> {
    if tex.len() > LONGEST {
        return None;
    }
    let text = Reader::new(tex).all()?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What is left of a formula.
struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn new(tex: &'t str) -> Self {
        Self { rest: tex, depth: 0 }
    }

    /// The whole formula; `None` where braces do not match.
    fn all(mut self) -> Option<String> {
        let text = self.until(None)?;
        self.rest.is_empty().then_some(text)
    }

    /// Everything up to a closing brace, which is taken, or to the end.
    fn until(&mut self, close: Option<char>) -> Option<String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut out = String::new();
        loop {
            let Some(c) = self.rest.chars().next() else {
                self.depth -= 1;
                return close.is_none().then_some(out);
            };
            if Some(c) == close {
                self.take(c);
                self.depth -= 1;
                return Some(out);
            }
            self.part(c, &mut out)?;
        }
    }

    /// The next part, behind what was read before.
    fn part(&mut self, c: char, out: &mut String) -> Option<()> {
        match c {
            '}' => return None,
            '^' | '_' => {
                self.take(c);
                let argument = self.argument()?;
                script(out, &argument, c == '^');
            }
            '&' => {
                self.take(c);
                space(out);
            }
            '\'' => {
                self.take(c);
                out.push('′');
            }
            '-' => {
                self.take(c);
                out.push('−');
            }
            '~' => {
                self.take(c);
                out.push(' ');
            }
            _ if c.is_whitespace() => {
                self.rest = self.rest.trim_start();
                space(out);
            }
            _ => {
                let one = self.one(Some(out))?;
                out.push_str(&one);
            }
        }
        Some(())
    }

    /// A group, a command with its arguments, or a character. `before` is what stands before it on the line.
    fn one(&mut self, before: Option<&mut String>) -> Option<String> {
        let c = self.rest.chars().next()?;
        self.take(c);
        match c {
            '{' => self.until(Some('}')),
            '\\' => self.command(before),
            _ => Some(c.to_string()),
        }
    }

    /// What a command applies to.
    fn argument(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let minus = self.rest.starts_with('-');
        self.one(None).map(|one| if minus { "−".to_owned() } else { one })
    }

    fn command(&mut self, before: Option<&mut String>) -> Option<String> {
        let name = self.name()?;
        if let Some((_, mark)) = MARKS.iter().find(|(known, _)| *known == name) {
            let argument = self.argument()?;
            return Some(argument.chars().flat_map(|c| [c, *mark]).collect());
        }
        if TEXTS.contains(&name) {
            return self.words();
        }
        match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" => {
                let (above, below) = (self.argument()?, self.argument()?);
                Some(fraction(&above, &below))
            }
            "binom" => {
                let (n, k) = (self.argument()?, self.argument()?);
                Some(format!("C({n}, {k})"))
            }
            "sqrt" => {
                let degree = self.option();
                let argument = self.argument()?;
                let degree = degree.and_then(|degree| shifted(&degree, true)).unwrap_or_default();
                Some(format!("{degree}√{}", grouped(&argument)))
            }
            "mathbb" => Some(self.argument()?.chars().map(double_struck).collect()),
            "pmod" => Some(format!(" (mod {})", self.argument()?)),
            "tag" | "label" => {
                let number = self.argument()?;
                Some(if name == "tag" {
                    format!("  ({number})")
                } else {
                    String::new()
                })
            }
            "begin" | "end" => {
                self.words()?;
                // How the columns of an array stand is of no use here.
                if self.rest.starts_with("{c") || self.rest.starts_with("{l") || self.rest.starts_with("{r") {
                    self.words()?;
                }
                Some("\n".to_owned())
            }
            "\\" | "newline" => Some("\n".to_owned()),
            _ => Some(self.named(name, before)),
        }
    }

    /// A command that takes nothing.
    fn named(&mut self, name: &str, before: Option<&mut String>) -> String {
        let Some(sign) = sign(name) else {
            // Nobody knows it: it stays as it is.
            return format!("\\{name}");
        };
        if name == "left" || name == "right" {
            // A bracket that is not to be seen.
            self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        }
        if !is_word(name) {
            return sign.to_owned();
        }
        if let Some(before) = before
            && before.ends_with(|c: char| c.is_alphanumeric())
        {
            before.push(' ');
        }
        let next = self.rest.trim_start().chars().next();
        let apart = next.is_some_and(|c| c.is_alphanumeric() || c == '\\');
        format!("{sign}{}", if apart { " " } else { "" })
    }

    /// The name of a command: letters, or one character that is none.
    fn name(&mut self) -> Option<&'t str> {
        let letters = self
            .rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(self.rest.len());
        let length = if letters == 0 {
            self.rest.chars().next()?.len_utf8()
        } else {
            letters
        };
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix('*').filter(|_| letters > 0).unwrap_or(rest);
        Some(name)
    }

    /// An argument that is text: within its braces, what stands there is shown, commands and spaces included.
    fn words(&mut self) -> Option<String> {
        let inner = self.rest.trim_start();
        let Some(inner) = inner.strip_prefix('{') else {
            return self.argument();
        };
        let end = inner.find(['{', '}', '\\', '^', '_'])?;
        if inner[end..].starts_with('}') {
            self.rest = &inner[end + 1..];
            return Some(inner[..end].to_owned());
        }
        self.argument()
    }

    /// An argument in square brackets, where there is one.
    fn option(&mut self) -> Option<String> {
        let inner = self.rest.strip_prefix('[')?;
        let (option, rest) = inner.split_once(']')?;
        self.rest = rest;
        Some(option.to_owned())
    }

    fn take(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }
}

/// One space, where none stands there.
fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

/// Puts a power or an index behind what it belongs to.
fn script(out: &mut String, argument: &str, above: bool) {
    let argument = argument.trim();
    if above && (argument == "∘" || argument == "°") {
        out.push('°');
    } else if above && argument == "′" {
        out.push('′');
    } else if let Some(shifted) = shifted(argument, above) {
        out.push_str(&shifted);
    } else {
        out.push(if above { '^' } else { '_' });
        out.push_str(&grouped(argument));
    }
}

fn fraction(above: &str, below: &str) -> String {
    let (above, below) = (above.trim(), below.trim());
    let own = FRACTIONS.iter().find(|(a, b, _)| (*a, *b) == (above, below));
    own.map_or_else(
        || format!("{}/{}", grouped(above), grouped(below)),
        |(.., sign)| (*sign).to_owned(),
    )
}

/// In brackets, where it is more than one thing.
fn grouped(text: &str) -> String {
    let text = text.trim();
    let marks = |c: char| ('\u{300}'..='\u{36f}').contains(&c) || c == '\u{20d7}';
    let small = |c: char| shifted_form(c) || marks(c);
    let number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.' || small(c));
    let mut chars = text.chars();
    let name = chars.next().is_some_and(char::is_alphabetic) && chars.all(small);
    let wrapped = text.starts_with('(') && text.ends_with(')') && !text[1..text.len() - 1].contains(['(', ')']);
    if number || name || wrapped || text.chars().count() == 1 {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// Whether a character is one above or below the line: it belongs to the one before.
fn shifted_form(c: char) -> bool {
    matches!(c, '⁰'..='ₜ' | '²' | '³' | '¹' | 'ᵃ'..='ᵪ' | 'ⱼ' | '′')
}

#[cfg(test)]
#[path = "tex_tests.rs"]
mod tests;
