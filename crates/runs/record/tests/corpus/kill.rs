//! Recorders that are killed, and recordings that are damaged.

use crate::recorder::{Test, recorder};
use crate::{compile, folder, replay_all};
use parallax_process::Ending;
use parallax_record::{Archive, Record, Verdict, replay, replay_one};
use std::path::Path;
use std::time::Duration;

pub fn tests(all: bool) -> Vec<Test> {
    let many = if all { 50 } else { 6 };
    vec![
        (String::from("kill: recorders at random moments"), Box::new(move || killed(many))),
        (String::from("kill: a program that computes without end"), Box::new(spinning)),
        (String::from("damage: every byte counts"), Box::new(damaged)),
        (String::from("damage: a recording without its end"), Box::new(without_end)),
    ]
}

/// Recorders that are killed while the program is loaded.
const EARLY: u64 = 24;

/// What was recorded of a killed recorder replays up to its end.
fn killed(many: u64) -> Result<(), String> {
    let place = folder("kill");
    let binary = compile("busy", &[], &place)?;
    let command = [binary.display().to_string()];
    let mut records = 0;
    // While libraries are mapped nearly every record is of a page, and what comes after the last one needs the next.
    let early = (0..EARLY).map(|round| 5 + 4 * round);
    let moments = early.chain((0..many).map(|round| 30 + round * 7919 % 1500));
    for (round, moment) in moments.enumerate() {
        let recording = place.join(format!("{round}.rec"));
        let mut child = recorder(&recording, None, &command).spawn().map_err(|error| error.to_string())?;
        std::thread::sleep(Duration::from_millis(moment));
        child.kill().map_err(|error| error.to_string())?;
        let _ = child.wait();
        if !recording.join("0.stream").exists() {
            continue;
        }
        let archive = match Archive::open(&recording) {
            Ok(archive) => archive,
            Err(error) => return Err(format!("round {round}: {error}")),
        };
        let log = archive.log("0").map_err(|error| format!("round {round}: {error}"))?;
        records += log.records.len();
        if !log.records.iter().any(|record| matches!(record, Record::Exec(_))) {
            continue;
        }
        let mut process = replay(&log, true, false).map_err(|error| error.to_string())?;
        let ending = process.run();
        let cut = matches!(&ending, Ending::Closed { why } if why.contains("it was cut"));
        if !cut || process.time() < log.last() {
            return Err(format!("round {round}: {ending} after {}, recorded {}", process.time(), log.last()));
        }
        std::fs::remove_dir_all(&recording).map_err(|error| error.to_string())?;
    }
    let _ = std::fs::remove_dir_all(&place);
    if records == 0 { Err(String::from("all were killed before they recorded anything")) } else { Ok(()) }
}

/// A recorder is killed whose program makes no calls any more: the replay stops where the program is known to have been.
fn spinning() -> Result<(), String> {
    let place = folder("spins");
    let binary = compile("spins", &[], &place)?;
    let recording = place.join("spins.rec");
    let command = [binary.display().to_string()];
    let mut child = recorder(&recording, None, &command).spawn().map_err(|error| error.to_string())?;
    let mut said = [0; 6];
    let out = child.stdout.as_mut().ok_or("no output")?;
    std::io::Read::read_exact(out, &mut said).map_err(|error| error.to_string())?;
    std::thread::sleep(Duration::from_millis(300));
    child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    let archive = Archive::open(&recording).map_err(|error| error.to_string())?;
    let log = archive.log("0").map_err(|error| error.to_string())?;
    let recorded = log.records.iter().rev().find_map(Record::time).unwrap_or(0);
    let replayed = replay_one(&archive, "0", true, false).map_err(|error| error.to_string())?;
    let summaries = archive.summaries().map_err(|error| error.to_string())?;
    let _ = std::fs::remove_dir_all(&place);
    let known = replayed.steps == log.last() && summaries[0].last == log.last() && log.last() >= recorded;
    if replayed.verdict == Verdict::Cut && known {
        Ok(())
    } else {
        Err(format!("{replayed:?}; recorded {recorded}, known {}", log.last()))
    }
}

/// A recording with one byte changed is refused, or replays to a cut or to the same end: never to another.
fn damaged() -> Result<(), String> {
    let place = folder("damage");
    let binary = compile("hello", &[], &place)?;
    let recording = place.join("whole.rec");
    let command = [binary.display().to_string()];
    let output = recorder(&recording, None, &command).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{output:?}"));
    }
    replay_all(&recording)?;
    let stream = recording.join("0.stream");
    let whole = std::fs::read(&stream).map_err(|error| error.to_string())?;
    let (mut refused, mut cut) = (0, 0);
    for at in (0..whole.len()).step_by(1 + whole.len() / 16) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        std::fs::write(&stream, &bytes).map_err(|error| error.to_string())?;
        match outcome(&recording) {
            Ok(None) => refused += 1,
            Ok(Some(Ending::Closed { why })) if why.contains("cut") => cut += 1,
            other => return Err(format!("byte {at} changed: {other:?}")),
        }
    }
    let _ = std::fs::remove_dir_all(&place);
    if refused == 0 || cut == 0 { Err(format!("{refused} refused, {cut} cut")) } else { Ok(()) }
}

/// A recording whose end is missing is said to be cut, by those who replay it and by those who do not.
fn without_end() -> Result<(), String> {
    let place = folder("end");
    let binary = compile("hello", &[], &place)?;
    let recording = place.join("whole.rec");
    let command = [binary.display().to_string()];
    recorder(&recording, None, &command).output().map_err(|error| error.to_string())?;
    let stream = recording.join("0.stream");
    let whole = std::fs::read(&stream).map_err(|error| error.to_string())?;
    let verdict = || -> Result<_, String> {
        let archive = Archive::open(&recording).map_err(|error| error.to_string())?;
        let replayed = replay_one(&archive, "0", true, false).map_err(|error| error.to_string())?;
        let summaries = archive.summaries().map_err(|error| error.to_string())?;
        Ok((replayed.verdict, summaries[0].ending.is_some()))
    };
    let before = verdict()?;
    std::fs::write(&stream, &whole[..whole.len() - 1]).map_err(|error| error.to_string())?;
    let after = verdict()?;
    let _ = std::fs::remove_dir_all(&place);
    let expected = ((Verdict::Same, true), (Verdict::Cut, false));
    if (before, after) == expected { Ok(()) } else { Err(format!("{before:?}, then {after:?}")) }
}

/// How a recording replays; none if it is refused.
fn outcome(recording: &Path) -> Result<Option<Ending>, String> {
    let Ok(log) = Archive::open(recording).and_then(|archive| archive.log("0")) else { return Ok(None) };
    if log.records.is_empty() {
        return Ok(None);
    }
    let mut process = replay(&log, true, false).map_err(|error| error.to_string())?;
    Ok(Some(process.run()))
}
