//! Replays that take another way through the same steps: in pieces, and with all flags kept.
//!
//! A flag that no instruction reads may be an older one, and which one it is depends on how the code was translated. The frame
//! of a signal handler shows it, so a replay takes the flags of a frame from the recording.

use crate::recorder::{Test, recorder};
use crate::{compile, folder};
use parallax_record::{Archive, SavedEnding, replay};

/// Steps of a piece: they end in the middle of blocks.
const PIECE: u64 = 997;

pub fn tests() -> Vec<Test> {
    vec![(String::from("pieces: flags in frames"), Box::new(flags))]
}

fn flags() -> Result<(), String> {
    let place = folder("pieces");
    let binary = compile("signals", &[], &place)?;
    let recording = place.join("one.rec");
    let command = [binary.display().to_string()];
    recorder(&recording, None, &command).output().map_err(|error| error.to_string())?;
    let log = Archive::open(&recording).and_then(|archive| archive.log("0"));
    let log = log.map_err(|error| error.to_string())?;
    let mut process = replay(&log, true, false).map_err(|error| error.to_string())?;
    process.engine().set_exact_flags(true);
    let ending = loop {
        let limit = process.time() + PIECE;
        if let Some(ending) = process.run_until(limit) {
            break ending;
        }
    };
    let _ = std::fs::remove_dir_all(&place);
    if log.ending() == Some(SavedEnding::new(&ending)) { Ok(()) } else { Err(ending.to_string()) }
}
