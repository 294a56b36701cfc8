//! One pass over the parser's events: blocks become lines. What stands before them in quotes and lists is `nest`'s business,
//! tables are `table`'s, breaking lines is `wrap`'s.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::ui::theme::{Role, Theme};

use super::highlight::Highlighter;
use super::link;
use super::nest::Nest;
use super::table::{self, Cell};
use super::tex;
use super::wrap::{Piece, columns, cut, cut_pieces, wrap};

/// What we read of markdown beyond its core.
pub(super) const OPTIONS: Options = Options::ENABLE_STRIKETHROUGH
    .union(Options::ENABLE_TABLES)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_MATH)
    // Those of the newer kind are footnotes only where they are defined, which a stream learns too late.
    .union(Options::ENABLE_OLD_FOOTNOTES);

/// Renders markdown at a width.
pub(super) fn render(source: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    render_to(source, width, theme, usize::MAX, None).0
}

/// The language that a fence names.
pub(super) fn language(info: &str) -> &str {
    info.split([' ', ',']).next().unwrap_or_default()
}

/// The same, and how many of the lines are of what stands before the block of the outermost level that begins at `offset` or
/// later. One pass over the whole: what a block is can depend on the line after it. `resumed` is where in its words the first
/// block of code goes on.
pub(super) fn render_to(
    source: &str,
    width: usize,
    theme: &Theme,
    offset: usize,
    resumed: Option<Highlighter>,
) -> (Vec<Line<'static>>, usize) {
    let mut renderer = Renderer::new(width.max(1), theme);
    renderer.resumed = resumed;
    let mut before = None;
    let mut depth = 0_usize;
    // Where the text ends that is being read.
    let mut text_ends = 0;
    for (event, range) in Parser::new_ext(source, OPTIONS).into_offset_iter() {
        if depth == 0 && range.start >= offset && before.is_none() {
            renderer.flush();
            before = Some(renderer.lines.len());
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if range.start >= renderer.formula_ends {
            if let Event::Start(Tag::Paragraph) = event {
                text_ends = range.end;
            }
            // Where no paragraph is told, as in items of a list, a formula stands on one line.
            let is_text = matches!(event, Event::Text(_));
            if is_text && range.start >= text_ends {
                text_ends = source[range.start..]
                    .find('\n')
                    .map_or(source.len(), |end| range.start + end);
            }
            let end = source.floor_char_boundary(text_ends.min(range.start + tex::LONGEST));
            let within = &source[..end.max(range.start)];
            match formula(within, range.start).filter(|_| is_text) {
                Some((tex, end)) => {
                    renderer.formula_ends = end;
                    renderer.formula(tex, &source[range.start - 1..end]);
                }
                None => renderer.event(event),
            }
        } else if matches!(event, Event::Start(_) | Event::End(_)) {
            renderer.event(event);
        } else if matches!(event, Event::Text(_)) && range.end > renderer.formula_ends {
            renderer.text(&source[renderer.formula_ends..range.end]);
        }
    }
    renderer.flush();
    let before = before.unwrap_or(renderer.lines.len());
    (renderer.lines, before)
}

/// The formula that begins at `start` of `source`, which ends where the text does that it stands in: what stands in it, and where
/// it ends. It begins with `\\(` or `\\[`; to the parser these are brackets with a backslash before them.
fn formula(source: &str, start: usize) -> Option<(&str, usize)> {
    if !source[..start].ends_with('\\') || source[..start].ends_with("\\\\") {
        return None;
    }
    let rest = &source[start..];
    let (close, inner) = match rest.as_bytes().first()? {
        b'(' => ("\\)", &rest[1..]),
        b'[' => ("\\]", &rest[1..]),
        _ => return None,
    };
    let end = inner.find(close)?;
    let tex = inner[..end].trim();
    (!tex.is_empty()).then_some((tex, start + 1 + end + close.len()))
}

/// How a footnote is referred to: a number above the line, or its name in brackets.
fn note_mark(label: &str) -> String {
    const ABOVE: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = label.chars().map(|c| c.to_digit(10).map(|digit| ABOVE[digit as usize]));
    let number: Option<String> = digits.collect();
    number.unwrap_or_else(|| format!("[^{label}]"))
}

struct Renderer<'t> {
    width: usize,
    theme: &'t Theme,
    lines: Vec<Line<'static>>,
    nest: Nest,
    /// The paragraph, heading or cell being read.
    pieces: Vec<Piece>,
    /// Styles of the spans that are open, the innermost last.
    styles: Vec<Style>,
    /// Destinations of the links that are open, and the piece that each label begins with.
    links: Vec<(String, usize)>,
    code: Option<Code>,
    /// The words of the first block of code, where rendering begins in the middle of it.
    resumed: Option<Highlighter>,
    table: Option<Table>,
    /// Where in the source the formula ends that was read last.
    formula_ends: usize,
    /// Whether a blank line is due before the next block, and within how many of the containers.
    gap: Option<usize>,
}

/// A block of code that is being read.
struct Code {
    text: String,
    /// What its words are, where its language is known.
    words: Option<Highlighter>,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Cell>>,
}

impl<'t> Renderer<'t> {
    fn new(width: usize, theme: &'t Theme) -> Self {
        Self {
            width,
            theme,
            lines: Vec::new(),
            nest: Nest::new(width, theme),
            pieces: Vec::new(),
            styles: vec![theme.style(Role::Text)],
            links: Vec::new(),
            code: None,
            resumed: None,
            table: None,
            formula_ends: 0,
            gap: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.piece(&code, self.theme.style(Role::Code)),
            Event::Html(html) | Event::InlineHtml(html) => self.text(&html),
            // Models break lines where they mean it: a verse, an address. They do not wrap paragraphs.
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => {
                let style = self.theme.style(Role::ListMarker);
                self.piece(if done { "☑ " } else { "☐ " }, style);
            }
            Event::FootnoteReference(label) => {
                let style = self.style().patch(self.theme.style(Role::Link));
                self.piece(&note_mark(&label), style);
            }
            Event::InlineMath(tex) => self.formula(&tex, &format!("${tex}$")),
            Event::DisplayMath(tex) => self.formula(&tex, &format!("$${tex}$$")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                let style = self.theme.style(Role::Heading);
                // Small headings are told from large ones by what a terminal has: no underline.
                let style = if level <= HeadingLevel::H2 {
                    style.underlined()
                } else {
                    style
                };
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.nest.enter_quote();
                self.styles.push(self.theme.style(Role::Quote));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let mut words = None;
                if let CodeBlockKind::Fenced(info) = kind {
                    let name = language(&info);
                    self.code_label(name);
                    words = self.resumed.take().or_else(|| Highlighter::new(name));
                }
                let text = String::new();
                self.code = Some(Code { text, words });
            }
            Tag::FootnoteDefinition(label) => {
                self.flush();
                self.nest.enter_note(&note_mark(&label));
            }
            Tag::List(first) => {
                self.flush();
                self.nest.enter_list(first);
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead => {
                self.table_row();
                self.push_style(self.theme.style(Role::Strong));
            }
            Tag::TableRow => self.table_row(),
            Tag::Emphasis => self.push_style(self.theme.style(Role::Emphasis)),
            Tag::Strong => self.push_style(self.theme.style(Role::Strong)),
            Tag::Strikethrough => self.push_style(self.theme.style(Role::Struck)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.push_style(self.theme.style(Role::Link));
                self.links.push((dest_url.into_string(), self.pieces.len()));
            }
            _ => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::BlockQuote(_) => {
                self.flush();
                self.styles.pop();
                if matches!(tag, TagEnd::BlockQuote(_)) {
                    self.leave();
                }
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.flush();
                self.leave();
            }
            TagEnd::FootnoteDefinition => {
                self.flush();
                if self.nest.owes_marker() {
                    self.paragraph(&[]);
                }
                self.leave();
            }
            TagEnd::Item => {
                self.flush();
                // An empty item still shows its marker.
                if self.nest.owes_marker() {
                    self.paragraph(&[]);
                }
                self.nest.leave();
                self.gap = None;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.pieces);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table_block(),
            TagEnd::TableRow => {}
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.link_target();
            }
            _ => self.flush(),
        }
    }

    /// Leaves a quote or a list. Where nothing was drawn in it, the gap before it is still due.
    fn leave(&mut self) {
        self.nest.leave();
        let outside = self.nest.depth();
        self.gap = Some(self.gap.map_or(outside, |gap| gap.min(outside)));
    }

    fn push_style(&mut self, style: Style) {
        let under = self.style();
        self.styles.push(under.patch(style));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.text.push_str(text),
            None => self.piece(text, self.style()),
        }
    }

    fn piece(&mut self, text: &str, style: Style) {
        self.pieces.push(Piece::new(text, style));
    }

    /// A formula in Unicode, or as it was written where it cannot be read.
    fn formula(&mut self, source: &str, written: &str) {
        let style = self.style().patch(self.theme.style(Role::Math));
        // The marks of a quote stand before its lines, and are none of the formula's.
        let lines = source.lines().map(|line| line.trim_start_matches(['>', ' ']));
        let source = if self.nest.depth() > 0 && source.contains('\n') {
            lines.collect::<Vec<_>>().join("\n").into()
        } else {
            std::borrow::Cow::Borrowed(source)
        };
        match tex::unicode(&source).filter(|_| tex::is_likely(&source)) {
            Some(text) => self.piece(&text, style),
            None => self.piece(written, self.style()),
        }
    }

    /// Says where a link leads.
    fn link_target(&mut self) {
        let Some((target, start)) = self.links.pop() else {
            return;
        };
        let mut label = String::new();
        for piece in self.pieces.iter().skip(start) {
            label.push_str(&piece.text);
            // Longer than its target, a label says something else; pictures within pictures are not read over and over.
            if label.len() > target.len() {
                break;
            }
        }
        if let Some(told) = link::told(&label, &target) {
            self.piece(&told, self.theme.style(Role::Dim));
        }
    }

    /// Ends the paragraph that is being read.
    fn flush(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        // A block of HTML ends with the end of its line, which is none of a paragraph's.
        if let Some(last) = pieces.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
        }
        if !pieces.is_empty() {
            self.paragraph(&pieces);
        }
    }

    fn paragraph(&mut self, pieces: &[Piece]) {
        self.blank();
        let prefix = self.nest.prefix();
        self.lines.extend(wrap(pieces, self.width, &prefix));
        self.gap = Some(self.nest.depth());
    }

    fn rule(&mut self) {
        self.flush();
        self.blank();
        let prefix = self.nest.prefix();
        let style = self.theme.style(Role::Rule);
        let length = self.room(&prefix.first);
        self.lines.push(line(prefix.first, "─".repeat(length), style));
        self.gap = Some(self.nest.depth());
    }

    fn code_label(&mut self, language: &str) {
        if !language.is_empty() {
            self.blank();
            let prefix = self.nest.prefix();
            let room = self.room(&prefix.first);
            let label = cut(language, room, room).swap_remove(0);
            self.lines
                .push(line(prefix.first, label, self.theme.style(Role::CodeLabel)));
            self.gap = None;
        }
    }

    /// Code keeps its lines; one that is too long is broken anywhere and goes on with a mark.
    fn code_block(&mut self) {
        let Some(Code { text, mut words }) = self.code.take() else {
            return;
        };
        self.blank();
        let style = self.theme.style(Role::CodeBlock);
        let mark = Span::styled("↪ ", self.theme.style(Role::Dim));
        for text in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
            let prefix = self.nest.prefix();
            let room = self.room(&prefix.first);
            let parts = words
                .as_mut()
                .map_or_else(|| vec![(0..text.len(), None)], |w| w.line(text));
            let dress = |role: Option<Role>| role.map_or(style, |role| style.patch(self.theme.style(role)));
            let pieces = parts
                .into_iter()
                .map(|(range, role)| Piece::new(&text[range], dress(role)));
            // Behind the mark there is still room for a wide character, or there is no mark.
            let marked = if room > 3 { room - 2 } else { room };
            for (n, part) in cut_pieces(pieces, room, marked).into_iter().enumerate() {
                let mut spans = if n == 0 {
                    prefix.first.clone()
                } else {
                    prefix.rest.clone()
                };
                let continued = n > 0 && marked < room;
                if continued {
                    spans.push(mark.clone());
                }
                let taken: usize = part.iter().map(|piece| columns(&piece.text)).sum();
                let taken = taken + if continued { 2 } else { 0 };
                spans.extend(part.into_iter().map(|piece| Span::styled(piece.text, piece.style)));
                // Columns that are filled give the block its ground.
                spans.push(Span::styled(" ".repeat(room.saturating_sub(taken)), style));
                self.lines.push(Line::from(spans));
            }
        }
        self.gap = Some(self.nest.depth());
    }

    fn table_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn table_block(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.blank();
        let prefix = self.nest.prefix();
        let room = self.room(&prefix.first);
        for (n, row) in table::render(&table.rows, &table.alignments, room, self.theme)
            .into_iter()
            .enumerate()
        {
            let before = if n == 0 { &prefix.first } else { &prefix.rest };
            self.lines
                .push(Line::from(before.iter().cloned().chain(row.spans).collect::<Vec<_>>()));
        }
        self.gap = Some(self.nest.depth());
    }

    fn item(&mut self) {
        self.flush();
        // The first item of a list inside an item follows its text at once.
        if self.nest.goes_on_in_item() {
            self.gap = None;
        }
        self.nest.enter_item();
    }

    /// The blank line between two blocks, with the bars of the quotes that both stand in.
    fn blank(&mut self) {
        if let Some(shared) = self.gap.take()
            && !self.lines.is_empty()
        {
            let prefix = self.nest.hanging(shared);
            self.lines.push(Line::from(prefix));
        }
    }

    fn room(&self, prefix: &[Span<'_>]) -> usize {
        let taken: usize = prefix.iter().map(|span| columns(&span.content)).sum();
        self.width.saturating_sub(taken).max(1)
    }
}

fn line(mut prefix: Vec<Span<'static>>, text: String, style: Style) -> Line<'static> {
    prefix.push(Span::styled(text, style));
    Line::from(prefix)
}
