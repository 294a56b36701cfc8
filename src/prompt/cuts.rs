//! Where a text must be split so that no marker which a message spells survives as one token. Pure arithmetic on text.

use std::collections::BTreeSet;
use std::ops::Range;

use super::markers::Markers;

/// Adds cuts until each marker that `concerns` says so about has one strictly inside. `place` may name a better place than
/// before the marker's last character.
///
/// Markers come in order of their ends, and a cut as far right as possible is inside as many of the later ones as
/// possible (greedy stabbing of intervals), so overlapping markers share cuts.
pub(super) fn stab(
    markers: &Markers,
    text: &str,
    cuts: &mut BTreeSet<usize>,
    concerns: impl Fn(&Range<usize>) -> bool,
    place: impl Fn(&Range<usize>) -> Option<usize>,
) {
    for found in markers.occurrences(text).filter(|found| concerns(found)) {
        if cuts.range(found.start + 1..found.end).next().is_none() {
            let before_last = || {
                text[found.clone()]
                    .char_indices()
                    .next_back()
                    .map(|(at, _)| found.start + at)
            };
            cuts.extend(place(&found).or_else(before_last));
        }
    }
}

/// Cuts every marker that lies in or reaches into one of the `contents`. Where one reaches over a border it is cut there,
/// so that markers of the template itself stay whole.
pub(super) fn protect(markers: &Markers, text: &str, contents: &[Range<usize>], cuts: &mut BTreeSet<usize>) {
    let covered = union(contents);
    let borders: BTreeSet<usize> = contents.iter().flat_map(|range| [range.start, range.end]).collect();
    let overlaps = |found: &Range<usize>| {
        let next = covered.partition_point(|range| range.end <= found.start);
        covered.get(next).is_some_and(|range| range.start < found.end)
    };
    let border = |found: &Range<usize>| borders.range(found.start + 1..found.end).next().copied();
    stab(markers, text, cuts, overlaps, border);
}

/// The same ground in ascending ranges that do not overlap.
fn union(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut union: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match union.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => union.push(range),
        }
    }
    union
}

#[cfg(test)]
mod tests {
    use super::super::MarkerKind;
    use super::*;
    use pretty_assertions::assert_eq;

    fn markers(texts: &[&str]) -> Markers {
        Markers::new(texts.iter().map(|text| (text, MarkerKind::Control))).unwrap()
    }

    #[test]
    fn overlapping_markers_share_a_cut() {
        let mut cuts = BTreeSet::new();
        stab(
            &markers(&["<s>", "<s><s>", "s><"]),
            "<s><s> <s>",
            &mut cuts,
            |_| true,
            |_| None,
        );
        assert_eq!(Vec::from_iter(cuts), [2, 5, 9]);
    }

    #[test]
    fn a_marker_across_a_border_is_cut_at_the_border() {
        let text = "<|a|>|b|><|c|>";
        let mut cuts = BTreeSet::new();
        // The content is `|b|><`; the first marker is the template's own and stays whole.
        let markers = markers(&["<|a|>", ">|b|>", "<|c|>"]);
        protect(&markers, text, std::slice::from_ref(&(5..10)), &mut cuts);
        assert_eq!(Vec::from_iter(cuts), [5, 10]);
    }
}
