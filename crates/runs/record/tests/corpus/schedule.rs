//! Schedules: one seed, one schedule; among a few seeds one that shows a planted race.

use crate::recorder::{Test, recorder};
use crate::{compile, folder, replay_all};

/// Most seeds that a planted mistake may take.
const SEEDS: u64 = 50;

pub fn tests() -> Vec<Test> {
    vec![
        (String::from("schedule: a data race shows"), Box::new(|| shows("race"))),
        (String::from("schedule: a lost wake-up shows"), Box::new(|| shows("wakeup"))),
        (String::from("schedule: a seed repeats itself"), Box::new(repeats)),
    ]
}

fn run(place: &std::path::Path, command: &[String], seed: u64) -> Result<Option<i32>, String> {
    let recording = place.join("one.rec");
    let _ = std::fs::remove_dir_all(&recording);
    let output = recorder(&recording, Some(seed), command).output().map_err(|error| error.to_string())?;
    Ok(output.status.code())
}

/// Some seed makes the program end with status 1, which it gives if it sees its mistake; its recording replays.
fn shows(name: &str) -> Result<(), String> {
    let place = folder(name);
    let binary = compile(name, &[], &place)?;
    let command = [binary.display().to_string()];
    for seed in 0..SEEDS {
        match run(&place, &command, seed)? {
            Some(1) => {
                let result = replay_all(&place.join("one.rec"));
                let _ = std::fs::remove_dir_all(&place);
                return result;
            }
            Some(0) => {}
            other => return Err(format!("seed {seed}: {other:?}")),
        }
    }
    Err(format!("{SEEDS} seeds do not show it"))
}

/// Two recordings with one seed give the same status, which tells the order in which threads came.
fn repeats() -> Result<(), String> {
    let place = folder("repeats");
    let binary = compile("order", &[], &place)?;
    let command = [binary.display().to_string()];
    let mut found = std::collections::BTreeSet::new();
    for seed in 0..4 {
        let (first, second) = (run(&place, &command, seed)?, run(&place, &command, seed)?);
        if first != second {
            return Err(format!("seed {seed}: {first:?}, then {second:?}"));
        }
        found.insert(first);
    }
    let _ = std::fs::remove_dir_all(&place);
    if found.len() > 1 { Ok(()) } else { Err(format!("all seeds give {found:?}")) }
}
