//! Tests of the sampler on logits of one's own making, with the built-in model's vocabulary: what is refused, what a change
//! on the way keeps, what is told.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::domain::sampling::Parameter;
use crate::engine::local::backend;

/// The vocabulary of the built-in model, read once for all tests.
fn vocabulary() -> Vocabulary {
    static MODEL: OnceLock<Arc<LlamaModel>> = OnceLock::new();
    let model = MODEL.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-v0-q8_0.gguf");
        let params = LlamaModelParams::default().with_vocab_only(true);
        Arc::new(LlamaModel::load_from_file(backend::start().unwrap(), path, &params).unwrap())
    });
    Vocabulary::new(model).unwrap()
}

fn settings(changes: &[(&str, &str)]) -> Sampling {
    let mut settings = Sampling {
        seed: Seed::Fixed(5),
        ..Sampling::default()
    };
    for (name, value) in changes {
        Parameter::find(name).unwrap().set(&mut settings, value).unwrap();
    }
    settings
}

/// Logits without a pattern, the same for the same `step`: a walk by Knuth's multiplier, from -8 to 8.
fn logits(step: u32) -> Vec<f32> {
    let noise = |id: u32| (id * 31 + step * 977 + 1).wrapping_mul(2_654_435_761) >> 16;
    (0..vocabulary().len() as u32)
        .map(|id| noise(id) as f32 / 4096.0 - 8.0)
        .collect()
}

fn sampler(settings: &Sampling) -> Sampler {
    Sampler::new(&vocabulary(), settings, &[]).unwrap()
}

fn drawn(sampler: &mut Sampler, steps: std::ops::Range<u32>) -> Vec<i32> {
    steps
        .map(|step| sampler.draw(&logits(step)).map_or(-1, |drawn| drawn.token.0))
        .collect()
}

/// Settings that take different ways through the code.
const WAYS: &[&[(&str, &str)]] = &[
    &[],
    &[("temp", "0")],
    &[("temp", "0"), ("top-k", "0"), ("top-p", "1"), ("min-p", "0")],
    &[("stages", "min-p,typical,temperature"), ("typical-p", "0.9")],
    &[
        ("stages", "dry,penalties,xtc,top-n-sigma"),
        ("xtc", "0.5"),
        ("repeat", "1.2"),
        ("dry", "1"),
        ("top-nsigma", "2"),
    ],
    &[("mirostat", "1")],
    &[("mirostat", "2")],
    &[("adaptive-target", "0.2")],
    &[("dynatemp", "0.5"), ("top-k", "0")],
    &[("logit-bias", "#7=3,#8=-inf")],
];

#[test]
fn what_is_no_number_ends_every_way_to_draw() {
    for way in WAYS {
        for bad in [f32::NAN, f32::INFINITY] {
            let mut sampler = sampler(&settings(way));
            let mut logits = logits(1);
            assert!(sampler.draw(&logits).is_ok(), "{way:?}");
            logits[4001] = bad;
            assert_eq!(
                sampler.draw(&logits).map(|drawn| drawn.token),
                Err(Undrawn::NoNumbers),
                "{way:?} {bad}"
            );
            let none = vec![f32::NEG_INFINITY; logits.len()];
            assert!(sampler.draw(&none).is_err(), "{way:?}");
        }
    }
}

#[test]
fn a_ban_on_everything_is_no_fault_of_the_model() {
    let ids: Vec<_> = (0..vocabulary().len()).map(|id| format!("#{id}=-inf")).collect();
    let mut sampler = sampler(&settings(&[("logit-bias", &ids.join(","))]));
    assert_eq!(sampler.draw(&logits(1)).map(|drawn| drawn.token), Err(Undrawn::NoWayOn));
}

#[test]
fn a_report_is_of_the_models_own_distribution() {
    let raw = logits(3);
    let mut best: Vec<_> = (0..raw.len()).collect();
    best.sort_by(|a, b| raw[*b].total_cmp(&raw[*a]));
    let report = |changes: &[(&str, &str)]| {
        let drawn = sampler(&settings(changes)).reporting().draw(&raw).unwrap();
        *drawn.report.unwrap()
    };
    let plain = report(&[("top-k", "4"), ("top-p", "1"), ("min-p", "0")]);
    let biased = report(&[
        ("top-k", "4"),
        ("top-p", "1"),
        ("min-p", "0"),
        ("logit-bias", &format!("#{}=-inf", best[0])),
    ]);
    for (at, (one, other)) in plain.candidates.iter().zip(&biased.candidates).take(10).enumerate() {
        assert_eq!(one.token.0 as usize, best[at]);
        assert_eq!(
            (one.token, one.before),
            (other.token, other.before),
            "a bias is no opinion of the model"
        );
        assert_eq!(one.removed, (at >= 4).then_some(Stage::TopK), "{at}");
        assert_eq!(one.after.is_some(), at < 4);
        assert_eq!(
            other.after.is_some(),
            (1..5).contains(&at),
            "the first is banned and the fifth moves up"
        );
    }
    assert_eq!(plain.entropy, biased.entropy);
}

#[test]
fn a_report_names_the_settings_that_were_in_force() {
    let mut sampler = sampler(&settings(&[])).reporting();
    let told = |sampler: &mut Sampler| sampler.draw(&logits(1)).unwrap().report.unwrap().generation;
    assert_eq!(told(&mut sampler), 0);
    sampler.tune(&vocabulary(), settings(&[("top-k", "3")])).unwrap();
    assert!(
        sampler
            .tune(&vocabulary(), settings(&[("logit-bias", "#999999=1")]))
            .is_err()
    );
    assert_eq!(told(&mut sampler), 1, "what was refused is not in force");
}

#[test]
fn what_draws_anew_does_not_draw_the_same_again() {
    let adaptive = |target| {
        settings(&[
            ("adaptive-target", target),
            ("top-k", "0"),
            ("top-p", "1"),
            ("min-p", "0"),
        ])
    };
    let flat = vec![0.0; vocabulary().len()];
    let mut sampler = sampler(&adaptive("0.5"));
    let draw = |sampler: &mut Sampler| -> Vec<i32> { (0..5).map(|_| sampler.draw(&flat).unwrap().token.0).collect() };
    let first = draw(&mut sampler);
    sampler.tune(&vocabulary(), adaptive("0.4")).unwrap();
    assert_ne!(draw(&mut sampler), first);
}

#[test]
fn a_change_that_cannot_be_followed_changes_nothing() {
    let (mut tuned, mut plain) = (sampler(&settings(&[])), sampler(&settings(&[])));
    assert_eq!(drawn(&mut tuned, 0..5), drawn(&mut plain, 0..5));
    let wrong = settings(&[("temp", "5"), ("logit-bias", "#999999=1")]);
    assert!(tuned.tune(&vocabulary(), wrong).is_err());
    assert_eq!(drawn(&mut tuned, 5..25), drawn(&mut plain, 5..25));
}

/// A list of stages in any order, and some values.
fn any_settings() -> impl Strategy<Value = Sampling> {
    let stages =
        (Just(Stage::ORDER.to_vec()).prop_shuffle(), 0_usize..=9).prop_map(|(stages, len)| stages[..len].to_vec());
    (stages, 0_usize..WAYS.len(), 0.0_f32..2.0).prop_map(|(stages, way, temperature)| Sampling {
        stages,
        temperature,
        ..settings(WAYS[way])
    })
}

proptest! {
    // Each case makes hundreds of draws from 4096 logits.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn settings_reached_by_changes_draw_as_settings_from_the_start(way in proptest::collection::vec(any_settings(), 1..5)) {
        let (first, last) = (&way[0], &way[way.len() - 1]);
        let mut changed = sampler(first);
        for settings in &way {
            changed.tune(&vocabulary(), settings.clone()).unwrap();
        }
        prop_assert_eq!(drawn(&mut changed, 0..12), drawn(&mut sampler(last), 0..12));
    }

    #[test]
    fn what_a_change_does_not_touch_goes_on(settings in any_settings(), at in 1_u32..10) {
        // Everything is given anew, and one row that acts in none of these ways differs.
        let other = Sampling { min_keep: settings.min_keep, stop: vec!["zebra".to_owned()], ..settings.clone() };
        let (mut tuned, mut plain) = (sampler(&settings), sampler(&settings));
        let mut said = drawn(&mut tuned, 0..at);
        tuned.tune(&vocabulary(), other).unwrap();
        said.extend(drawn(&mut tuned, at..12));
        prop_assert_eq!(said, drawn(&mut plain, 0..12));
    }

    #[test]
    fn a_stage_made_anew_knows_what_was_said(at in 1_u32..10) {
        let penal = |repeat| settings(&[("repeat", repeat), ("top-k", "0"), ("temp", "0.3")]);
        let mut tuned = sampler(&penal("1"));
        let before = drawn(&mut tuned, 0..at);
        tuned.tune(&vocabulary(), penal("5")).unwrap();
        // The same logits again and again: without a memory the first step would say its best again.
        let prompt: Vec<_> = before.iter().map(|id| Token(*id)).collect();
        let mut fresh = Sampler::new(&vocabulary(), &Sampling { temperature: 0.0, ..penal("5") }, &prompt).unwrap();
        tuned.tune(&vocabulary(), Sampling { temperature: 0.0, ..penal("5") }).unwrap();
        prop_assert_eq!(drawn(&mut tuned, 0..8), drawn(&mut fresh, 0..8));
    }
}
