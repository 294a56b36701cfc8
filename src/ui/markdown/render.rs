//! One pass over the parser's events: blocks become lines with the prefixes of what they stand in (quotes, lists). Tables are
//! `table`'s business, breaking lines is `wrap`'s.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::ui::theme::{Role, Theme};

use super::table::{self, Cell};
use super::wrap::{Piece, Prefix, columns, wrap};

/// What we read of markdown beyond its core.
pub(super) const OPTIONS: Options = Options::ENABLE_STRIKETHROUGH
    .union(Options::ENABLE_TABLES)
    .union(Options::ENABLE_TASKLISTS);

/// Quotes and lists deeper than this are drawn as deep as this: no one can tell them apart, and lines must keep room for text.
const DEEPEST: usize = 8;

/// Renders markdown at a width.
pub(super) fn render(source: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    render_to(source, width, theme, usize::MAX).0
}

/// The same, and how many of the lines are of what stands before the block of the outermost level that begins at `offset` or
/// later. One pass over the whole: what a block is can depend on the line after it.
pub(super) fn render_to(source: &str, width: usize, theme: &Theme, offset: usize) -> (Vec<Line<'static>>, usize) {
    let mut renderer = Renderer::new(width.max(1), theme);
    let mut before = None;
    let mut depth = 0_usize;
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
        renderer.event(event);
    }
    renderer.flush();
    let before = before.unwrap_or(renderer.lines.len());
    (renderer.lines, before)
}

/// What blocks stand in.
enum Container {
    Quote,
    /// The number of the next item, or none for bullets.
    List(Option<u64>),
    /// The marker not yet drawn, and its columns.
    Item {
        marker: Option<String>,
        indent: usize,
    },
}

struct Renderer<'t> {
    width: usize,
    theme: &'t Theme,
    lines: Vec<Line<'static>>,
    containers: Vec<Container>,
    /// The paragraph, heading or cell being read.
    pieces: Vec<Piece>,
    /// Styles of the spans that are open, the innermost last.
    styles: Vec<Style>,
    /// Destinations of the links that are open.
    links: Vec<String>,
    code: Option<String>,
    table: Option<Table>,
    /// Whether a blank line is due before the next block, and within how many of the containers.
    gap: Option<usize>,
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
            containers: Vec::new(),
            pieces: Vec::new(),
            styles: vec![theme.style(Role::Text)],
            links: Vec::new(),
            code: None,
            table: None,
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
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => {
                let style = self.theme.style(Role::ListMarker);
                self.piece(if done { "☑ " } else { "☐ " }, style);
            }
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
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
                self.containers.push(Container::Quote);
                self.styles.push(self.theme.style(Role::Quote));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                if let CodeBlockKind::Fenced(language) = kind {
                    let name = language.split([' ', ',']).next().unwrap_or_default().to_owned();
                    self.code_label(&name);
                }
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                self.containers.push(Container::List(first));
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.push_style(self.theme.style(Role::Emphasis)),
            Tag::Strong => self.push_style(self.theme.style(Role::Strong)),
            Tag::Strikethrough => self.push_style(self.theme.style(Role::Struck)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.push_style(self.theme.style(Role::Link));
                self.links.push(dest_url.into_string());
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
            TagEnd::Item => {
                self.flush();
                // An empty item still shows its marker.
                if matches!(self.containers.last(), Some(Container::Item { marker: Some(_), .. })) {
                    self.paragraph(&[]);
                }
                self.containers.pop();
                self.gap = None;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.pieces);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table_block(),
            TagEnd::TableHead | TagEnd::TableRow => {}
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
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
        self.containers.pop();
        let outside = self.containers.len();
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
            Some(code) => code.push_str(text),
            None => self.piece(text, self.style()),
        }
    }

    fn piece(&mut self, text: &str, style: Style) {
        self.pieces.push(Piece::new(text, style));
    }

    /// Where a link leads is always shown: words can lie about it.
    fn link_target(&mut self) {
        let Some(target) = self.links.pop() else { return };
        let label: String = self.pieces.iter().map(|piece| piece.text.as_str()).collect();
        if !target.is_empty() && !label.ends_with(&target) {
            let style = self.theme.style(Role::Dim);
            self.piece(&format!(" ({})", host(&target)), style);
        }
    }

    /// Ends the paragraph that is being read.
    fn flush(&mut self) {
        if !self.pieces.is_empty() {
            let pieces = std::mem::take(&mut self.pieces);
            self.paragraph(&pieces);
        }
    }

    fn paragraph(&mut self, pieces: &[Piece]) {
        self.blank();
        let prefix = self.prefix();
        self.lines.extend(wrap(pieces, self.width, &prefix));
        self.gap = Some(self.containers.len());
    }

    fn rule(&mut self) {
        self.flush();
        self.blank();
        let prefix = self.prefix();
        let style = self.theme.style(Role::Rule);
        let length = self.room(&prefix.first);
        self.lines.push(line(prefix.first, "─".repeat(length), style));
        self.gap = Some(self.containers.len());
    }

    fn code_label(&mut self, language: &str) {
        if !language.is_empty() {
            self.blank();
            let prefix = self.prefix();
            let room = self.room(&prefix.first);
            let label: String = language.chars().take(room).collect();
            self.lines
                .push(line(prefix.first, label, self.theme.style(Role::CodeLabel)));
            self.gap = None;
        }
    }

    /// Code keeps its lines; one that is too long is broken anywhere and goes on with a mark.
    fn code_block(&mut self) {
        let Some(code) = self.code.take() else { return };
        self.blank();
        let style = self.theme.style(Role::CodeBlock);
        let mark = Span::styled("↪ ", self.theme.style(Role::Dim));
        for text in code.strip_suffix('\n').unwrap_or(&code).split('\n') {
            let prefix = self.prefix();
            let room = self.room(&prefix.first);
            // Columns that are filled give the block its ground.
            for (n, part) in cut(text, room).into_iter().enumerate() {
                let mut spans = if n == 0 {
                    prefix.first.clone()
                } else {
                    prefix.rest.clone()
                };
                let continued = n > 0 && room > 2;
                if continued {
                    spans.push(mark.clone());
                }
                let taken = columns(&part) + if continued { 2 } else { 0 };
                let fill = " ".repeat(room.saturating_sub(taken));
                spans.push(Span::styled(part + &fill, style));
                self.lines.push(Line::from(spans));
            }
        }
        self.gap = Some(self.containers.len());
    }

    fn table_block(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.blank();
        let prefix = self.prefix();
        let room = self.room(&prefix.first);
        for (n, row) in table::render(&table.rows, &table.alignments, room, self.theme)
            .into_iter()
            .enumerate()
        {
            let before = if n == 0 { &prefix.first } else { &prefix.rest };
            self.lines
                .push(Line::from(before.iter().cloned().chain(row.spans).collect::<Vec<_>>()));
        }
        self.gap = Some(self.containers.len());
    }

    fn item(&mut self) {
        self.flush();
        let number = match self.containers.last_mut() {
            Some(Container::List(Some(number))) => {
                *number += 1;
                Some(*number - 1)
            }
            _ => None,
        };
        let marker = number.map_or_else(|| "• ".to_owned(), |n| format!("{n}. "));
        let indent = columns(&marker);
        // The first item of a list inside an item follows its text at once.
        let mut items = self.containers.iter().rev().filter_map(|c| match c {
            Container::Item { marker, .. } => Some(marker),
            _ => None,
        });
        if items.next().is_some_and(Option::is_none) {
            self.gap = None;
        }
        self.containers.push(Container::Item {
            marker: Some(marker),
            indent,
        });
    }

    /// The blank line between two blocks, with the bars of the quotes that both stand in.
    fn blank(&mut self) {
        if let Some(shared) = self.gap.take()
            && !self.lines.is_empty()
        {
            let prefix = self.hanging(shared);
            self.lines.push(Line::from(prefix));
        }
    }

    /// The prefix of the next block; a marker is used up by it.
    fn prefix(&mut self) -> Prefix {
        let rest = self.hanging(DEEPEST);
        let mut first = Vec::new();
        let (bar, marker_style) = (self.theme.style(Role::Quote), self.theme.style(Role::ListMarker));
        let most = self.width / 2;
        let mut used = 0;
        for container in self.containers.iter_mut().take(DEEPEST) {
            let (text, style) = match container {
                Container::Quote => ("▎ ".to_owned(), bar),
                Container::List(_) => continue,
                Container::Item { marker, indent } => {
                    (marker.take().unwrap_or_else(|| " ".repeat(*indent)), marker_style)
                }
            };
            used += columns(&text);
            if used <= most {
                first.push(Span::styled(text, style));
            }
        }
        Prefix { first, rest }
    }

    /// What stands before a line that begins no block, within the outermost `depth` containers.
    fn hanging(&self, depth: usize) -> Vec<Span<'static>> {
        let bar = self.theme.style(Role::Quote);
        let mut spans = Vec::new();
        let mut used = 0;
        for container in self.containers.iter().take(depth.min(DEEPEST)) {
            let text = match container {
                Container::Quote => "▎ ".to_owned(),
                Container::List(_) => continue,
                Container::Item { indent, .. } => " ".repeat(*indent),
            };
            used += columns(&text);
            // A prefix never takes more than half of the line.
            if used <= self.width / 2 {
                spans.push(Span::styled(text, bar));
            }
        }
        spans
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

/// Cuts a line of code into parts that fit, the later ones two columns narrower for their mark.
fn cut(text: &str, room: usize) -> Vec<String> {
    use unicode_segmentation::UnicodeSegmentation;
    let mut parts = vec![String::new()];
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let size = columns(grapheme);
        let most = if parts.len() > 1 && room > 2 { room - 2 } else { room };
        if used + size > most && used > 0 {
            parts.push(String::new());
            used = 0;
        }
        used += size;
        if let Some(part) = parts.last_mut() {
            part.push_str(grapheme);
        }
    }
    parts
}

/// The part of a link that says where it leads: the host of a web address, else all of it.
fn host(target: &str) -> &str {
    let rest = target
        .strip_prefix("https://")
        .or_else(|| target.strip_prefix("http://"));
    rest.map_or(target, |rest| rest.split(['/', '?', '#']).next().unwrap_or(rest))
}
