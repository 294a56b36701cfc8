//! Tests of the sampler on logits of one's own making, with the built-in model's vocabulary: what is refused, what a change
//! on the way keeps, what is told.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::domain::outlook::outlook;
use crate::domain::prospect::Prospect;
use crate::domain::sampling::Parameter;
use crate::engine::local::backend;

/// The vocabulary of the built-in model, read once for all tests.
fn vocabulary() -> Vocabulary {
    static MODEL: OnceLock<Arc<LlamaModel>> = OnceLock::new();
    let model = MODEL.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/cria/cria-q8_0.gguf");
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

/// Settings in which every stage may act, in any order.
fn stages_at_work() -> impl Strategy<Value = Sampling> {
    let cuts = (0_u32..60, 0.2_f32..1.2, 0.0_f32..0.3, 0.3_f32..1.3, -1.0_f32..3.0);
    let penalties = (0_u32..80, 0.8_f32..1.5, -0.5_f32..0.8, -0.5_f32..0.8);
    let dry = (proptest::bool::ANY, 1.0_f32..3.0, 0_u32..4, 0_u32..80);
    let rest = (0.0_f32..0.6, proptest::bool::ANY, 0.0_f32..1.8, -0.5_f32..0.8, 0_u32..5);
    let order = Just(Stage::ORDER.to_vec()).prop_shuffle();
    (cuts, penalties, dry, rest, order).prop_map(|(cuts, penalties, dry, rest, stages)| Sampling {
        stages,
        top_k: cuts.0,
        top_p: cuts.1.min(1.0),
        min_p: cuts.2,
        typical_p: cuts.3.min(1.0),
        top_n_sigma: cuts.4,
        repeat_last_n: penalties.0,
        repeat_penalty: penalties.1,
        frequency_penalty: penalties.2,
        presence_penalty: penalties.3,
        dry_multiplier: if dry.0 { 0.8 } else { 0.0 },
        dry_base: dry.1,
        dry_allowed_length: dry.2,
        dry_last_n: dry.3,
        xtc_threshold: rest.0,
        // It acts always or never: what it does by chance cannot be compared.
        xtc_probability: if rest.1 { 1.0 } else { 0.0 },
        temperature: if rest.2 < 0.4 { 0.0 } else { rest.2 },
        dynatemp_range: rest.3.max(0.0),
        min_keep: rest.4,
        seed: Seed::Fixed(5),
        ..Sampling::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_outlook_is_what_the_samplers_come_to(
        settings in stages_at_work(),
        step in 0_u32..10_000,
        sharp in 0.2_f32..1.5,
        history in proptest::collection::vec(300_i32..308, 0..60),
    ) {
        // llama.cpp's typical stage has no answer to candidates of probability 0: it compares what is no number.
        let mut active = settings.active().take_while(|stage| *stage != Stage::Typical);
        let masked = active.any(|stage| match stage {
            Stage::TopNSigma | Stage::Dry => true,
            Stage::Temperature => settings.is_greedy() || settings.dynatemp_range > 0.0,
            _ => false,
        });
        let typical_p = if masked { 1.0 } else { settings.typical_p };
        let settings = Sampling {
            typical_p,
            ..settings.clone()
        };
        let vocabulary = vocabulary();
        let logits: Vec<f32> = logits(step).into_iter().map(|logit| logit * sharp).collect();
        let tokens: Vec<Token> = history.iter().copied().map(Token).collect();
        let mut sampler = Sampler::new(&vocabulary, &settings, &tokens).unwrap();
        sampler.draw(&logits).unwrap();
        let left = sampler.candidates.data.iter().filter(|c| c.p() > 0.0);
        let mut theirs: Vec<(i32, f32)> = left.map(|c| (c.id().0, c.p())).collect();
        theirs.sort_unstable_by_key(|(id, _)| *id);
        let prospect = Prospect {
            history: tokens.iter().map(|token| (*token, vocabulary.show(*token).text)).collect(),
            logits,
            ..Prospect::default()
        };
        let seen = outlook(&prospect, &settings, usize::MAX);
        let mut ours: Vec<(i32, f32)> = seen.candidates.iter().map(|c| (c.token.0, c.after)).collect();
        ours.retain(|(_, after)| *after > 0.0);
        ours.sort_unstable_by_key(|(id, _)| *id);
        // Beside the last of a cut another may be as likely to the last bit, or a sum end a bit sooner.
        let ids = |all: &[(i32, f32)]| all.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        prop_assert_eq!(ids(&ours), ids(&theirs));
        for ((_, ours), (_, theirs)) in ours.iter().zip(&theirs) {
            prop_assert!((ours - theirs).abs() < 1e-5, "{} {}", ours, theirs);
        }
    }
}
