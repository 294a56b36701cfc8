//! A sequence's memory as one run of bytes: all of it, and the points that a recurrent model can return to. Only bytes here;
//! who keeps them sees that they come back as they were.

use std::collections::VecDeque;

use super::sequence::Checkpoint;

/// Points that are kept: the turns that one goes back to first.
const POINTS: usize = 4;

/// The whole, and the newest points.
pub(super) fn pack(whole: &[u8], points: &VecDeque<Checkpoint>) -> Vec<u8> {
    let newest = points.iter().skip(points.len().saturating_sub(POINTS));
    let size: usize = newest.clone().map(|point| point.state.len() + 16).sum();
    let mut bytes = Vec::with_capacity(whole.len() + size + 8);
    put(&mut bytes, whole);
    for point in newest {
        bytes.extend((point.len as u64).to_le_bytes());
        put(&mut bytes, &point.state);
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
}

/// What [`pack`] made; `None` where it did not.
pub(super) fn unpack(bytes: &[u8]) -> Option<(&[u8], VecDeque<Checkpoint>)> {
    let (whole, mut rest) = part(bytes)?;
    let mut points = VecDeque::new();
    while !rest.is_empty() {
        let (len, after) = number(rest)?;
        let (state, after) = part(after)?;
        points.push_back(Checkpoint {
            len,
            state: state.to_vec(),
        });
        rest = after;
    }
    Some((whole, points))
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = number(bytes)?;
    rest.split_at_checked(length)
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u64::from_le_bytes(*number)).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_what_is_cut_does_not() {
        let point = |len: usize| Checkpoint {
            len,
            state: vec![len as u8; len],
        };
        let points: VecDeque<_> = (1..7).map(point).collect();
        let packed = pack(&[1, 2, 3], &points);
        let (whole, back) = unpack(&packed).unwrap();
        assert_eq!(whole, [1, 2, 3]);
        let lens: Vec<_> = back.iter().map(|point| (point.len, point.state.len())).collect();
        assert_eq!(lens, [(3, 3), (4, 4), (5, 5), (6, 6)]);
        let cuts = (0..packed.len())
            .filter(|cut| unpack(&packed[..*cut]).is_some())
            .count();
        assert_eq!(cuts, 4, "only between two points");
        assert!(unpack(&[0xff; 20]).is_none());
    }
}
