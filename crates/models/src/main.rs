//! Explores the models and prints the results.
//!
//! The argument is `all`, `queues`, the name of a model, `planted`, `limits` or `recipes`.
//! `--minutes N` bounds the time of the whole run, and `--seed S` is for the walks. The program
//! ends with 1 if a promise was broken or a planted mistake was not found.

mod show;

use std::{process::ExitCode, time::Duration};

use seinpaal_models::recipes;

/// The arguments of the command line.
struct ModelArguments {
    what: String,
    minutes: f64,
    seed: u64,
}

fn main() -> ExitCode {
    let Some(asked) = asked() else {
        eprintln!(
            "usage: seinpaal-models all|queues|planted|limits|recipes|NAME [--minutes N] [--seed S]"
        );
        return ExitCode::from(2);
    };
    let time = Duration::from_secs_f64(asked.minutes * 60.0);
    let is_well = match asked.what.as_str() {
        "recipes" => {
            print!("{}", recipes::book());
            true
        }
        "planted" => show::planted(),
        "limits" => show::limits(),
        name => show::models(name, time, asked.seed),
    };
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn asked() -> Option<ModelArguments> {
    let mut words = std::env::args().skip(1);
    let mut asked = ModelArguments { what: words.next()?, minutes: 15.0, seed: 1 };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--minutes" => asked.minutes = words.next()?.parse().ok().filter(|m| *m > 0.0)?,
            "--seed" => asked.seed = words.next()?.parse().ok()?,
            _ => return None,
        }
    }
    Some(asked)
}
