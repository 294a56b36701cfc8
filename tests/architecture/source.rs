//! Reads source files into flat lists of tokens: comments and the insides of strings are gone, and every token knows its
//! line, its module and whether only tests compile it. Knows no rules.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// A rule that a line breaks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Breach {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) rule: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.rule)
    }
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Word(String),
    /// One of [`MARKS`].
    Mark(&'static str),
    /// A literal or other punctuation, of no interest to any rule.
    Other,
}

/// Punctuation and brackets that rules ask for; `::` is one token.
const MARKS: [&str; 13] = ["::", ";", ",", "!", "*", "<", ">", "{", "}", "(", ")", "[", "]"];

/// The smallest thing that rules look at.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) line: usize,
    /// Differs from `line` only for literals.
    pub(crate) last_line: usize,
    /// Whether only tests compile it.
    pub(crate) test: bool,
    /// Index into [`Source::scopes`].
    pub(crate) scope: usize,
}

impl Token {
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(own) if own == mark)
    }
}

/// A file of the tree.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the package's root, with `/`: `src/ui/view.rs`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    /// Module paths that occur in the file: first the file's own, then those of the modules written inside it.
    pub(crate) scopes: Vec<Vec<String>>,
}

impl Source {
    /// The path below `src/`.
    pub(crate) fn inner(&self) -> &str {
        self.path.strip_prefix("src/").unwrap_or(&self.path)
    }

    /// The folder or file directly below `src`: `ui`, `main.rs`.
    pub(crate) fn room(&self) -> &str {
        self.inner().split('/').next().unwrap_or_default()
    }

    pub(crate) fn breach(&self, line: usize, rule: impl Into<String>) -> Breach {
        Breach {
            file: self.path.clone(),
            line,
            rule: rule.into(),
        }
    }
}

/// All source files, and those that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<Source>,
    pub(crate) unreadable: Vec<Breach>,
    /// Crate names that `Cargo.toml` lists, as they are written in source.
    pub(crate) dependencies: Vec<String>,
}

impl Tree {
    /// Reads `root/src` and the dependencies in `root/Cargo.toml`.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        walk(&root.join("src"), "src", &mut files)?;
        files.sort();
        let manifest = std::fs::read_to_string(root.join("Cargo.toml")).map_err(|e| e.to_string())?;
        let manifest: toml::Table = manifest.parse().map_err(|e| format!("Cargo.toml: {e}"))?;
        let names = manifest.get("dependencies").and_then(toml::Value::as_table);
        let names: Vec<&str> = names.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        Ok(Self::of(&files, &names))
    }

    /// A tree of `(path, text)` pairs.
    pub(crate) fn of<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)], dependencies: &[&str]) -> Self {
        let mut tree = Self {
            dependencies: dependencies.iter().map(|name| name.replace('-', "_")).collect(),
            ..Self::default()
        };
        let mut test_modules = Vec::new();
        for (path, text) in files {
            let (path, text) = (path.as_ref().to_owned(), text.as_ref().to_owned());
            let mut reader = Reader::new(module_of(&path));
            match TokenStream::from_str(&text) {
                Ok(stream) => reader.read(stream, 0, false),
                Err(error) => tree.unreadable.push(Breach {
                    file: path.clone(),
                    line: error.span().start().line,
                    rule: format!("this does not read as Rust: {error}"),
                }),
            }
            test_modules.append(&mut reader.test_modules);
            tree.files.push(Source {
                path,
                text,
                tokens: reader.tokens,
                scopes: reader.scopes,
            });
        }
        // `#[cfg(test)] mod tests;` makes a test of every token in the file it names, and in files below that.
        for file in &mut tree.files {
            let module = &file.scopes[0];
            if test_modules.iter().any(|test| module.starts_with(test)) {
                file.tokens.iter_mut().for_each(|token| token.test = true);
            }
        }
        tree
    }
}

fn walk(folder: &Path, name: &str, files: &mut Vec<(String, String)>) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(told)? {
        let entry = entry.map_err(told)?;
        let (path, name) = (entry.path(), format!("{name}/{}", entry.file_name().to_string_lossy()));
        if path.is_dir() {
            walk(&path, &name, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((name, std::fs::read_to_string(&path).map_err(told)?));
        }
    }
    Ok(())
}

/// `src/ui/view.rs` is `[ui, view]`, `src/ui/mod.rs` is `[ui]`, `src/lib.rs` is `[]`.
fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

fn mark(text: &str) -> Kind {
    let known = MARKS.into_iter().find(|known| *known == text);
    known.map_or(Kind::Other, Kind::Mark)
}

/// Words with which an item starts; what starts otherwise under `#[cfg(test)]` is a field, a variant or a statement.
const ITEMS: [&str; 16] = [
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "unsafe",
    "use",
];

struct Reader {
    tokens: Vec<Token>,
    scopes: Vec<Vec<String>>,
    test_modules: Vec<Vec<String>>,
}

impl Reader {
    fn new(module: Vec<String>) -> Self {
        Self {
            tokens: Vec::new(),
            scopes: vec![module],
            test_modules: Vec::new(),
        }
    }

    fn read(&mut self, stream: TokenStream, scope: usize, test: bool) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let (mut at, mut test_until, mut all) = (0, 0, test);
        while at < trees.len() {
            let (inner, attribute) = match attribute(&trees[at..]) {
                Some((length, group)) if is_named(&group, "doc") && is_assignment(&group) => {
                    at += length;
                    continue;
                }
                Some((length, group)) => (length == 3, Some(group)),
                None => (false, None),
            };
            if attribute.is_some_and(|group| is_test_only(&group)) {
                all |= inner;
                test_until = test_until.max(at + item_length(&trees[at..]));
            }
            let test = all || at < test_until;
            let scope_of_group = self.module_opened(&trees, at, scope, test);
            at += self.push(&trees, at, (scope, scope_of_group), test);
        }
    }

    /// Writes down the token at `at`; says how many trees it took.
    fn push(&mut self, trees: &[TokenTree], at: usize, (scope, inside): (usize, usize), test: bool) -> usize {
        let span = trees[at].span();
        let mut token = |kind, line, last_line| {
            self.tokens.push(Token {
                kind,
                line,
                last_line,
                test,
                scope,
            });
        };
        match &trees[at] {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    // Put around what a macro inserts; never written in a file.
                    Delimiter::None => ("", ""),
                };
                let (first, last) = (group.span_open().start().line, group.span_close().end().line);
                token(mark(open), first, first);
                self.read(group.stream(), inside, test);
                self.tokens.push(Token {
                    kind: mark(close),
                    line: last,
                    last_line: last,
                    test,
                    scope,
                });
            }
            TokenTree::Ident(word) => {
                let word = word.to_string();
                let word = word.strip_prefix("r#").unwrap_or(&word).to_owned();
                token(Kind::Word(word), span.start().line, span.end().line);
            }
            TokenTree::Punct(punct) => {
                let double = punct.as_char() == ':'
                    && punct.spacing() == Spacing::Joint
                    && matches!(trees.get(at + 1), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                let written = if double { "::".to_owned() } else { punct.to_string() };
                token(mark(&written), span.start().line, span.end().line);
                return if double { 2 } else { 1 };
            }
            TokenTree::Literal(_) => token(Kind::Other, span.start().line, span.end().line),
        }
        1
    }

    /// The scope of what is inside the group at `at`: a new one for the braces of `mod name { … }`. Notes `mod name;`
    /// under test.
    fn module_opened(&mut self, trees: &[TokenTree], at: usize, scope: usize, test: bool) -> usize {
        let before = |back: usize| at.checked_sub(back).map(|i| trees[i].to_string()).unwrap_or_default();
        if before(2) != "mod" {
            return scope;
        }
        let mut module = self.scopes[scope].clone();
        module.push(before(1));
        match &trees[at] {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                self.scopes.push(module);
                self.scopes.len() - 1
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' && test => {
                self.test_modules.push(module);
                scope
            }
            _ => scope,
        }
    }
}

/// The attribute that starts here, with its length in trees: 2 for `#[…]`, 3 for `#![…]`.
fn attribute(trees: &[TokenTree]) -> Option<(usize, Group)> {
    let is = |i: usize, wanted| matches!(trees.get(i), Some(TokenTree::Punct(mark)) if mark.as_char() == wanted);
    if !is(0, '#') {
        return None;
    }
    let at = if is(1, '!') { 2 } else { 1 };
    match trees.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => Some((at + 1, group.clone())),
        _ => None,
    }
}

fn is_named(attribute: &Group, name: &str) -> bool {
    matches!(attribute.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == name)
}

fn is_assignment(attribute: &Group) -> bool {
    matches!(attribute.stream().into_iter().nth(1), Some(TokenTree::Punct(mark)) if mark.as_char() == '=')
}

/// `cfg(test)` and `cfg(all(test, …))`; `cfg(any(test, …))` is also compiled elsewhere.
fn is_test_only(attribute: &Group) -> bool {
    if !is_named(attribute, "cfg") {
        return false;
    }
    let inside = attribute.stream().to_string().replace(char::is_whitespace, "");
    inside == "cfg(test)" || inside.starts_with("cfg(all(") && inside.split(['(', ')', ',']).any(|word| word == "test")
}

/// How many trees the attributes here and the item under them take.
fn item_length(trees: &[TokenTree]) -> usize {
    let mut at = 0;
    while let Some((length, _)) = attribute(&trees[at..]) {
        at += length;
    }
    let first = trees.get(at).map(ToString::to_string).unwrap_or_default();
    let (item, only_semicolon) = (ITEMS.contains(&first.as_str()), first == "use");
    for (i, tree) in trees.iter().enumerate().skip(at) {
        let ends = match tree {
            TokenTree::Group(group) => item && !only_semicolon && group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';' || mark.as_char() == ',' && !item,
            _ => false,
        };
        if ends {
            return i + 1;
        }
    }
    trees.len()
}
