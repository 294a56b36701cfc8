//! What settings make of distributions that can be worked out by hand. That llama.cpp's samplers do the same is tested where they
//! are at hand, in `engine/local/sampler`.

use super::*;
use crate::domain::sampling::Parameter;

/// Logits whose probabilities at temperature 1 are these.
fn prospect(probabilities: &[f32]) -> Prospect {
    Prospect {
        logits: probabilities.iter().map(|p| p.ln()).collect(),
        ..Prospect::default()
    }
}

/// Settings that do nothing but these.
fn only(values: &[(&str, &str)]) -> Sampling {
    let mut settings = Sampling {
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        temperature: 1.0,
        ..Sampling::default()
    };
    for (name, value) in values {
        Parameter::find(name).unwrap().set(&mut settings, value).unwrap();
    }
    settings
}

/// The probabilities after all stages, in hundredths, by id.
fn after(prospect: &Prospect, settings: &Sampling) -> Vec<(i32, i32)> {
    let mut seen: Vec<_> = outlook(prospect, settings, 10)
        .candidates
        .iter()
        .filter(|seen| seen.after > 0.0)
        .map(|seen| (seen.token.0, (seen.after * 100.0).round() as i32))
        .collect();
    seen.sort_unstable();
    seen
}

#[test]
fn each_stage_does_what_its_name_says() {
    let four = prospect(&[0.5, 0.25, 0.15, 0.1]);
    for (settings, expected) in [
        (only(&[]), vec![(0, 50), (1, 25), (2, 15), (3, 10)]),
        (only(&[("top-k", "2")]), vec![(0, 67), (1, 33)]),
        (only(&[("top-p", "0.7")]), vec![(0, 67), (1, 33)]),
        (only(&[("min-p", "0.25")]), vec![(0, 56), (1, 28), (2, 17)]),
        (only(&[("temperature", "0")]), vec![(0, 100)]),
        (only(&[("temperature", "2")]), vec![(0, 37), (1, 26), (2, 20), (3, 17)]),
        (only(&[("top-n-sigma", "1")]), vec![(0, 100)]),
        (
            only(&[("xtc-probability", "1"), ("xtc-threshold", "0.2")]),
            vec![(1, 50), (2, 30), (3, 20)],
        ),
        (
            only(&[("xtc-probability", "0.5"), ("xtc-threshold", "0.2")]),
            vec![(0, 25), (1, 38), (2, 23), (3, 15)],
        ),
    ] {
        assert_eq!(after(&four, &settings), expected);
    }
}

#[test]
fn what_was_said_lately_is_held_back() {
    let mut even = prospect(&[0.25; 4]);
    even.history = vec![
        (Token(1), "a".to_owned()),
        (Token(2), "b".to_owned()),
        (Token(1), "a".to_owned()),
    ];
    let presence = only(&[("presence-penalty", "1")]);
    assert_eq!(after(&even, &presence), [(0, 37), (1, 13), (2, 13), (3, 37)]);
    let dry = only(&[("dry-multiplier", "1"), ("dry-allowed-length", "1"), ("dry-base", "2")]);
    assert_eq!(
        after(&even, &dry),
        [(0, 30), (1, 30), (2, 11), (3, 30)],
        "b would repeat a b"
    );
    even.history[2].1 = "a\n".to_owned();
    assert_eq!(
        after(&even, &dry),
        [(0, 25), (1, 25), (2, 25), (3, 25)],
        "a line feed hides what is before"
    );
}

#[test]
fn the_figures_are_those_of_information_theory() {
    let outlook = outlook(&prospect(&[0.5, 0.25, 0.125, 0.125]), &only(&[("top-k", "2")]), 3);
    assert_eq!(
        (outlook.all, outlook.left, outlook.kept),
        (4, 2, vec![(Stage::TopK, 2)])
    );
    assert!((outlook.entropy_before - 1.75).abs() < 1e-3 && (outlook.entropy - 0.918).abs() < 1e-3);
    assert_eq!(outlook.candidates.len(), 3, "one that is gone is told, too");
    assert_eq!(outlook.candidates[2].after, 0.0);
}

#[test]
fn what_cannot_be_drawn_from_has_no_outlook() {
    assert_eq!(
        outlook(&Prospect::default(), &Sampling::default(), 5),
        Outlook::default()
    );
    let broken = Prospect {
        logits: vec![f32::NAN, f32::NEG_INFINITY],
        ..Prospect::default()
    };
    assert_eq!(outlook(&broken, &Sampling::default(), 5), Outlook::default());
}
