//! What there was to draw from, packed: postcard, which writes small numbers in few bytes.

use crate::domain::inference::Report;

/// Begins what is packed here, so that another way of packing can be told from this one.
const VERSION: u8 = 2;

/// Packs a trace; nothing, where there is none.
pub(super) fn pack(trace: &[Report]) -> Result<Option<Vec<u8>>, postcard::Error> {
    if trace.is_empty() {
        return Ok(None);
    }
    postcard::to_extend(trace, vec![VERSION]).map(Some)
}

/// Reads what [`pack`] made.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<Report>, postcard::Error> {
    match packed.split_first() {
        Some((&VERSION, packed)) => postcard::from_bytes(packed),
        _ => Err(postcard::Error::DeserializeBadEncoding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::inference::{Candidate, Token};
    use crate::domain::sampling::Stage;

    #[test]
    fn a_trace_comes_back_and_is_small() {
        let candidate = |token| Candidate {
            token: Token(token),
            text: " word".to_owned(),
            logit: 12.5,
            before: 0.25,
            after: Some(0.5),
            removed: None,
        };
        let report = Report {
            probability: 0.25,
            after: 0.5,
            rank: 3,
            entropy: 1.5,
            kept: Stage::ORDER.iter().map(|stage| (*stage, 40)).collect(),
            candidates: (0..5).map(|k| candidate(30_000 + k)).collect(),
            ..Report::default()
        };
        let trace = vec![report; 100];
        let packed = pack(&trace).unwrap().unwrap();
        assert_eq!(unpack(&packed).unwrap(), trace);
        let json = serde_json::to_vec(&trace).unwrap();
        assert!(
            packed.len() * 4 < json.len(),
            "{} of {} bytes",
            packed.len(),
            json.len()
        );
        assert!(pack(&[]).unwrap().is_none());
        assert!(unpack(&[9, 9]).is_err() && unpack(&[]).is_err());
    }
}
