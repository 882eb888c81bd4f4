//! What is kept in a file: the second who opens a recording answers as the first did, without looking at it again; a file that is
//! damaged or belongs to something else is not used, and that is said.

use crate::recorded::recorder::Test;
use crate::recorded::{compile, folder, record_command};
use parallax_record::Archive;
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Filter, Numbers, Ranges, Settings, Travel};
use std::path::Path;

const SETTINGS: Settings = Settings { workers: 2, budget: 1 << 30, interval: 20_000 };

pub fn tests() -> Vec<Test> {
    vec![
        (String::from("kept: damage is noticed"), Box::new(damaged)),
        (String::from("kept: half of it"), Box::new(half)),
        (String::from("kept: another recording, another length"), Box::new(foreign)),
    ]
}

fn recorded(name: &str, place: &Path) -> Result<std::path::PathBuf, String> {
    let binary = compile(name, &["-static"], place)?;
    let recording = place.join("one.rec");
    record_command(&recording, Some(3), &[binary.display().to_string()])?;
    Ok(recording)
}

fn open(recording: &Path) -> Result<Travel, String> {
    Travel::open(recording, "0", SETTINGS).map_err(|error| error.to_string())
}

/// All that is asked of a recording here.
fn answers(travel: &Travel) -> Result<Vec<u64>, String> {
    let filters =
        [Filter::Call(Ranges::all()), Filter::SystemCall(Numbers::All), Filter::Write((0..u64::MAX).into())];
    let found = travel.search(&filters, travel.span(), Direction::Backward, 5_000, &Unwatched);
    Ok(found.map_err(|error| error.to_string())?.hits.iter().map(|hit| hit.time).collect())
}

fn check(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// The first opening looks at everything, and leaves a file.
fn made(recording: &Path) -> Result<Vec<u64>, String> {
    let travel = open(recording)?;
    check(travel.known() == 0 && travel.notice().is_none(), "something was known before")?;
    answers(&travel)
}

fn damaged() -> Result<(), String> {
    let place = folder("kept");
    let recording = recorded("locks", &place.0)?;
    let expected = made(&recording)?;
    let index = recording.join("0.index");
    let whole = std::fs::read(&index).map_err(|error| error.to_string())?;
    // Anywhere: the head, what was seen, keyframes.
    let steps = whole.len() / 40;
    for at in (0..whole.len()).step_by(steps.max(1)) {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        std::fs::write(&index, &bad).map_err(|error| error.to_string())?;
        let travel = open(&recording)?;
        check(travel.known() == 0, &format!("a file with byte {at} changed was used"))?;
        check(travel.notice().is_some_and(|word| word.contains("0.index")), "nobody said so")?;
    }
    for length in [0, 7, 19, 40, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&index, &whole[..length]).map_err(|error| error.to_string())?;
        let travel = open(&recording)?;
        check(travel.known() == 0, &format!("a file cut to {length} bytes was used"))?;
        check(travel.notice().is_some(), "nobody said so")?;
    }
    // The last of them is made anew.
    check(answers(&open(&recording)?)? == expected, "other answers")?;
    let travel = open(&recording)?;
    check(travel.known() == travel.span().end - 1, "it was not made anew")?;
    check(answers(&travel)? == expected, "other answers from the file")?;
    // A packed copy is the same recording, and finds nothing beside itself.
    let packed = place.0.join("one.plx");
    Archive::open(&recording).and_then(|all| all.pack(&packed)).map_err(|error| error.to_string())?;
    check(made(&packed)? == expected, "other answers when packed")?;
    std::fs::copy(&index, place.0.join("one.plx.0.index")).map_err(|error| error.to_string())?;
    check(open(&packed)?.known() > 0, "the index of the folder serves the packed recording")
}

fn half() -> Result<(), String> {
    let place = folder("half");
    let recording = recorded("locks", &place.0)?;
    let log = Archive::open(&recording).and_then(|archive| archive.log("0"));
    let plain = Travel::new(log.map_err(|error| error.to_string())?, SETTINGS);
    let expected = answers(&plain.map_err(|error| error.to_string())?)?;
    let travel = open(&recording)?;
    let middle = (travel.span().end / 2).max(10 * SETTINGS.interval);
    check(middle < travel.span().end, "the program is too short for this test")?;
    travel.state(middle).map_err(|error| error.to_string())?;
    drop(travel);
    let travel = open(&recording)?;
    let known = travel.known();
    check(middle <= known + 1 && known < travel.span().end - 1, &format!("{known} of {middle} are known"))?;
    check(answers(&travel)? == expected, "other answers")?;
    drop(travel);
    let travel = open(&recording)?;
    check(travel.known() == travel.span().end - 1, "the rest was not kept")?;
    check(answers(&travel)? == expected, "other answers from the file")
}

fn foreign() -> Result<(), String> {
    let place = folder("foreign");
    let other = folder("foreign-other");
    let recording = recorded("hello", &place.0)?;
    let second = recorded("locks", &other.0)?;
    made(&recording)?;
    std::fs::copy(recording.join("0.index"), second.join("0.index")).map_err(|error| error.to_string())?;
    let travel = open(&second)?;
    check(travel.known() == 0, "the index of another recording was used")?;
    check(travel.notice().is_some_and(|word| word.contains("another recording")), "nobody said so")?;
    drop(travel);
    let settings = Settings { interval: SETTINGS.interval + 1, ..SETTINGS };
    let travel = Travel::open(&recording, "0", settings).map_err(|error| error.to_string())?;
    check(travel.known() == 0 && travel.notice().is_some(), "an index of other intervals was used")
}
