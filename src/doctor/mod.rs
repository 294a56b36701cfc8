//! Whether a model, its template, its tokenizer and the handling of its KV cache are sound: one check after another, each with a
//! verdict, what was seen, and what to do. Prints nothing and decides nothing about how it is shown.

mod chart;
mod corpus;
mod distribution;
mod file;
mod inside;
mod numbers;
mod server;
mod words;

use std::path::Path;

use crate::domain::examination::{Check, Examination, Verdict};
use crate::domain::inference::{Failure, LoadOptions};
use crate::engine::local::{Patient, Prober};
use crate::gguf::ModelFile;

use self::chart::{Chart, Opinion};
use self::numbers::Reading;

pub use self::chart::{Progress, Tell};

/// What to examine, and with what.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The model.
    pub path: &'a Path,
    /// How it is loaded.
    pub options: &'a LoadOptions,
    /// Tries it first where its death harms nobody.
    pub prober: Option<&'a dyn Prober>,
    /// The publisher's tokenizer.
    pub tokenizer: Option<&'a Path>,
    /// A server that runs the same model.
    pub against: Option<&'a str>,
}

/// Examines a model, and tells how far it is. `None` where it was told to stop.
pub fn examine(order: &Order<'_>, tell: &mut Tell<'_>) -> Option<Examination> {
    let mut chart = Chart::new(tell);
    if let Err(why) = examine_all(order, &mut chart) {
        chart.leave_out(&why);
    }
    (!chart.is_stopped()).then_some(chart.found)
}

/// Makes every check.
///
/// # Errors
/// Why the others cannot be made.
fn examine_all(order: &Order<'_>, chart: &mut Chart<'_>) -> Result<(), String> {
    let opened = ModelFile::open(order.path);
    let Ok(model) = &opened else {
        let error = opened.err().map_or_else(String::new, |error| error.to_string());
        chart.check(Check::File, |_| {
            Opinion::failed(error, "there is nothing else to be done with this file")
        });
        return Err("the file is no whole model".to_owned());
    };
    chart.check(Check::File, |_| file::file(model));
    chart.check(Check::Vocabulary, |_| file::vocabulary(model));
    chart.check(Check::Merges, |_| file::merges(model.metadata()));
    chart.check(Check::Weights, |part| file::weights(model, part));
    let mut patient = None;
    chart.check(Check::Load, |part| {
        match Patient::admit(model.clone(), order.options, order.prober, part) {
            Ok(admitted) => {
                let layers = admitted.gpu_layers;
                patient = Some(admitted);
                Opinion::ok(if layers == 0 {
                    "loaded on the processor".to_owned()
                } else {
                    format!("loaded, {layers} layers on a graphics card")
                })
            }
            Err(failure) => Opinion::failed(failure.message, "see the checks above for what is wrong with it"),
        }
    });
    let mut patient = patient.ok_or("llama.cpp does not take the model")?;
    words(order, chart, &patient, model);
    let reading = computed(chart, &patient)?;
    spoken(chart, (&patient, model), &reading);
    chart.check(Check::Reference, |_| match order.against {
        None => Opinion::not_applicable("no server was named by '--against'"),
        Some(url) => opinion(server::reference(&mut patient, model.metadata(), &reading, url)),
    });
    Ok(())
}

/// The checks of text and tokens.
fn words(order: &Order<'_>, chart: &mut Chart<'_>, patient: &Patient, model: &ModelFile) {
    chart.check(Check::Specials, |_| words::specials(patient));
    chart.check(Check::Template, |_| words::template(patient, model.metadata()));
    chart.check(Check::RoundTrip, |_| words::round_trip(patient));
    chart.check(Check::Tokenizer, |_| match order.tokenizer {
        None => Opinion::not_applicable("no 'tokenizer.json' was named by '--tokenizer'"),
        Some(path) => words::published(patient, path),
    });
}

/// The checks of what is computed. Returns what was, to hold other things against.
///
/// # Errors
/// Where there is nothing that could be held against anything.
fn computed(chart: &mut Chart<'_>, patient: &Patient) -> Result<Reading, String> {
    let mut reading = None;
    chart.check(Check::Logits, |_| {
        opinion(Reading::new(patient).map(|read| {
            let opinion = numbers::logits(patient, &read);
            reading = Some((read, opinion.0));
            opinion
        }))
    });
    let Some((reading, verdict)) = reading else {
        return Err("the model computes nothing".to_owned());
    };
    chart.found.positions = numbers::positions(patient, &reading);
    if verdict == Verdict::Failed {
        return Err("the model computes nothing that could be compared".to_owned());
    }
    chart.check(Check::Steps, |_| opinion(numbers::steps(patient, &reading)));
    chart.check(Check::Rewind, |_| opinion(numbers::rewind(patient, &reading)));
    chart.check(Check::Restore, |_| opinion(numbers::restore(patient, &reading)));
    chart.check(Check::Shift, |_| opinion(numbers::shift(patient, &reading)));
    Ok(reading)
}

/// The checks of what it says, of its layers, and of how fast both are.
fn spoken(chart: &mut Chart<'_>, (patient, model): (&Patient, &ModelFile), reading: &Reading) {
    let mut said = None;
    chart.check(Check::Greedy, |_| {
        opinion(numbers::say(patient).map(|answer| {
            let opinion = numbers::greedy(patient, &answer);
            said = Some(answer);
            opinion
        }))
    });
    let mut layers = Vec::new();
    chart.check(Check::Attention, |_| {
        opinion(inside::look(patient, reading).map(|inside| {
            layers = inside::layers(&inside);
            inside::attention(&inside)
        }))
    });
    chart.found.layers = layers;
    chart.check(Check::Cards, |_| {
        opinion(inside::cards(patient, model.clone(), reading))
    });
    chart.check(Check::Speed, |_| match &said {
        Some(said) => inside::speed(patient, model, reading, said),
        None => Opinion::not_applicable("nothing was said that could be timed"),
    });
}

/// What a computation came to; one that broke off is a failure of its own.
fn opinion(made: Result<Opinion, Failure>) -> Opinion {
    made.unwrap_or_else(|failure| Opinion::failed(failure.message, "the log says more"))
}
