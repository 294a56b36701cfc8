//! Sends marked messages through a template and reads from what comes out where contents are and where to cut.
//!
//! The template is filled twice. Once with the markers that contents spell broken by sentinels (*bare*), once with
//! sentinels around each content besides (*full*). Where both give the same text, the sentinels changed nothing, and the
//! second tells the range of every content. Where they differ the template looks into contents; then the borders are not
//! known, and every content that could be completed to a marker by what stands beside it is cut at that border instead.

use std::collections::BTreeSet;
use std::ops::Range;

use super::cuts;
use super::error::TemplateError;
use super::fallback::Turn;
use super::markers::Markers;
use super::reasoning;
use super::sentinels::{Mark, Sentinels, Spot};
use super::template::Template;
use super::{Content, Options};
use crate::domain::Role;
use crate::domain::thinking::Part;

/// A prompt whose path is not yet named.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) cuts: Vec<usize>,
    pub(super) contents: Vec<Content>,
}

/// Renders one form of a conversation.
pub(super) fn render(
    template: &Template,
    turns: &[Turn<'_>],
    markers: &Markers,
    options: &Options,
) -> Result<Draft, TemplateError> {
    let job = Job::new(template, turns, markers, options)?;
    let bare = job.fill(Borders::Unmarked)?;
    // Sentinels can make a template fail where it would not; then `bare` is what counts.
    let full = job.fill(Borders::Marked).ok().filter(|full| full.text == bare.text);
    let Some(full) = full else {
        let lost = vec![true; job.segments.len()];
        return job
            .fill(Borders::CutWhereOpen(&lost))
            .map(|edged| Draft::without_ranges(&edged));
    };
    let (found, lost) = job.pair(&full.spots);
    let mut cuts = full.cuts();
    if lost.contains(&true) {
        let edged = job.fill(Borders::CutWhereOpen(&lost))?;
        if edged.text != full.text {
            return Ok(Draft::without_ranges(&edged));
        }
        cuts.extend(edged.cuts());
    }
    let contents = job.widen(&full.text, found);
    let ranges: Vec<_> = contents.iter().map(|content| content.range.clone()).collect();
    cuts::protect(markers, &full.text, &ranges, &mut cuts);
    Ok(Draft::new(full.text, &cuts, contents))
}

/// What is done about the borders of contents.
#[derive(Clone, Copy)]
enum Borders<'a> {
    Unmarked,
    Marked,
    /// The segments for which this is true are cut off where their neighbour could complete a marker.
    CutWhereOpen(&'a [bool]),
}

/// What came out of the template, with the sentinels taken out.
struct Filled {
    text: String,
    spots: Vec<Spot>,
}

impl Filled {
    fn cuts(&self) -> BTreeSet<usize> {
        self.spots
            .iter()
            .filter(|spot| spot.mark == Mark::Cut)
            .map(|spot| spot.at)
            .collect()
    }
}

impl Draft {
    fn new(text: String, cuts: &BTreeSet<usize>, contents: Vec<Content>) -> Self {
        let cuts = cuts.iter().copied().filter(|&at| at > 0 && at < text.len()).collect();
        Self { text, cuts, contents }
    }

    fn without_ranges(filled: &Filled) -> Self {
        Self::new(filled.text.clone(), &filled.cuts(), Vec::new())
    }
}

/// A stretch of untrusted text that stays in one piece on its way through the template.
struct Segment {
    /// Which of the job's texts it is in.
    text: usize,
    message: usize,
    part: Part,
    /// Range in the text, with the white space around it.
    outer: Range<usize>,
    /// The same without the white space. Templates that trim leave it whole.
    inner: Range<usize>,
}

struct Job<'a> {
    template: &'a Template,
    markers: &'a Markers,
    options: &'a Options,
    roles: Vec<Role>,
    /// What each turn says and what was thought before it, by turns.
    texts: Vec<String>,
    /// Where each text must be cut whatever surrounds it.
    broken: Vec<BTreeSet<usize>>,
    segments: Vec<Segment>,
    sentinels: Sentinels,
}

impl<'a> Job<'a> {
    fn new(
        template: &'a Template,
        turns: &[Turn<'_>],
        markers: &'a Markers,
        options: &'a Options,
    ) -> Result<Self, TemplateError> {
        let mut texts = Vec::with_capacity(2 * turns.len());
        let mut broken = Vec::with_capacity(2 * turns.len());
        let mut segments = Vec::new();
        for turn in turns {
            for (part, (text, messages)) in [(Part::Answer, turn.content()), (Part::Thinking, turn.thinking())] {
                // A template must recognise the reasoning in what it takes for the model's words.
                let tags = match (turn.role, part) {
                    (Role::Assistant, Part::Answer) if options.thinking_in_content => Tags::Kept,
                    _ => Tags::Broken,
                };
                broken.push(inside(markers, tags, &text));
                for (message, range) in messages {
                    segments.extend(split((texts.len(), message, part), tags, &text, &range));
                }
                texts.push(text);
            }
        }
        let others = [template.source(), &options.bos_token, &options.eos_token];
        let all = texts.iter().map(String::as_str).chain(others);
        let sentinels = Sentinels::choose(all, segments.len()).ok_or(TemplateError::NoFreeCharacter)?;
        let roles = turns.iter().map(|turn| turn.role).collect();
        Ok(Self {
            template,
            markers,
            options,
            roles,
            texts,
            broken,
            segments,
            sentinels,
        })
    }

    fn fill(&self, borders: Borders<'_>) -> Result<Filled, TemplateError> {
        let mut spots: Vec<Vec<Spot>> = self
            .broken
            .iter()
            .map(|cuts| cuts.iter().map(|&at| Spot { at, mark: Mark::Cut }).collect())
            .collect();
        for (number, segment) in self.segments.iter().enumerate() {
            spots[segment.text].extend(self.border_spots(number, segment, borders));
        }
        let mut marked = spots.iter_mut().zip(&self.texts).map(|(spots, text)| {
            // Stable: at one offset the end of a segment stays before the beginning of the next.
            spots.sort_by_key(|spot| spot.at);
            self.sentinels.insert(text, spots)
        });
        let mut messages = Vec::with_capacity(self.roles.len());
        for &role in &self.roles {
            messages.push(Slots {
                role,
                content: marked.next().unwrap_or_default(),
                thinking: marked.next().unwrap_or_default(),
            });
        }
        let (text, spots) = self.sentinels.remove(&self.template.fill(&messages, self.options)?);
        Ok(Filled { text, spots })
    }

    fn border_spots(&self, number: usize, segment: &Segment, borders: Borders<'_>) -> Vec<Spot> {
        let Range { start, end } = segment.inner;
        match borders {
            Borders::Unmarked => Vec::new(),
            Borders::Marked => vec![
                Spot {
                    at: start,
                    mark: Mark::Open(number),
                },
                Spot {
                    at: end,
                    mark: Mark::Close(number),
                },
            ],
            Borders::CutWhereOpen(lost) if !lost[number] => Vec::new(),
            Borders::CutWhereOpen(_) => {
                let content = &self.texts[segment.text];
                let left = self.markers.may_reach_in_from_left(&content[start..]).then_some(start);
                let right = self.markers.may_reach_in_from_right(&content[..end]).then_some(end);
                left.into_iter()
                    .chain(right)
                    .map(|at| Spot { at, mark: Mark::Cut })
                    .collect()
            }
        }
    }

    /// Joins beginnings and ends. Besides the ranges found, tells of each segment whether any part of it may stand in the
    /// text without being known.
    fn pair(&self, spots: &[Spot]) -> (Vec<(usize, Range<usize>)>, Vec<bool>) {
        let mut open: Vec<Option<usize>> = vec![None; self.segments.len()];
        let mut lost = vec![false; self.segments.len()];
        let mut seen = vec![false; self.segments.len()];
        let mut found = Vec::new();
        for spot in spots {
            match spot.mark {
                Mark::Cut => {}
                Mark::Open(number) => lost[number] |= open[number].replace(spot.at).is_some(),
                Mark::Close(number) => match open[number].take() {
                    Some(start) => {
                        seen[number] = true;
                        found.push((number, start..spot.at));
                    }
                    None => lost[number] = true,
                },
            }
        }
        for number in 0..lost.len() {
            lost[number] |= open[number].is_some() || !seen[number];
        }
        found.sort_by_key(|(_, range)| range.start);
        (found, lost)
    }

    /// Takes in the white space around each content, as far as the template kept it.
    fn widen(&self, text: &str, found: Vec<(usize, Range<usize>)>) -> Vec<Content> {
        let mut contents: Vec<Content> = Vec::with_capacity(found.len());
        let starts: Vec<usize> = found.iter().map(|(_, range)| range.start).collect();
        for (index, (number, mut range)) in found.into_iter().enumerate() {
            let segment = &self.segments[number];
            let content = &self.texts[segment.text];
            let floor = contents.last().map_or(0, |last| last.range.end).min(range.start);
            let ceiling = starts.get(index + 1).map_or(text.len(), |&next| next.max(range.end));
            let before = &content[segment.outer.start..segment.inner.start];
            let after = &content[segment.inner.end..segment.outer.end];
            let kept = |(a, b): &(char, char)| a == b;
            let left = text[floor..range.start].chars().rev().zip(before.chars().rev());
            let right = text[range.end..ceiling].chars().zip(after.chars());
            range.start -= left.take_while(kept).map(|(c, _)| c.len_utf8()).sum::<usize>();
            range.end += right.take_while(kept).map(|(c, _)| c.len_utf8()).sum::<usize>();
            contents.push(Content {
                message: segment.message,
                part: segment.part,
                range,
            });
        }
        contents
    }
}

/// A message as the template is given it.
pub(super) struct Slots {
    pub(super) role: Role,
    pub(super) content: String,
    /// Empty where nothing was thought.
    pub(super) thinking: String,
}

/// What becomes of reasoning tags in a text.
#[derive(Clone, Copy, PartialEq)]
enum Tags {
    Kept,
    Broken,
}

/// Cuts that break every marker in a text, whatever stands around it.
fn inside(markers: &Markers, tags: Tags, text: &str) -> BTreeSet<usize> {
    let mut cuts = BTreeSet::new();
    let concerns = |found: &Range<usize>| tags == Tags::Broken || !reasoning::is_tag(&text[found.clone()]);
    cuts::stab(markers, text, &mut cuts, concerns, |_| None);
    cuts
}

/// The segments of one message: it is one, unless reasoning tags in it are kept.
fn split((text, message, part): (usize, usize, Part), tags: Tags, content: &str, range: &Range<usize>) -> Vec<Segment> {
    let said = &content[range.clone()];
    let pieces = match tags {
        Tags::Kept => reasoning::between_tags(said),
        Tags::Broken => std::iter::once(0..said.len()).collect(),
    };
    let segment = |piece: Range<usize>| {
        let outer = range.start + piece.start..range.start + piece.end;
        let inner = content[outer.clone()].trim();
        let start = outer.end - content[outer.clone()].trim_start().len();
        (!inner.is_empty()).then(|| Segment {
            text,
            message,
            part,
            inner: start..start + inner.len(),
            outer,
        })
    };
    pieces.into_iter().filter_map(segment).collect()
}
