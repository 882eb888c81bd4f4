//! Where there is room for few keyframes, every time can still be reached: the first keyframe stays.

use crate::recorded::recorder::Test;
use crate::recorded::{compile, folder, record_command};
use parallax_record::Archive;
use parallax_trace::{Target, Unwatched};
use parallax_travel::{Settings, Travel};

pub fn tests() -> Vec<Test> {
    vec![(String::from("thinned: every time is reached"), Box::new(reached))]
}

fn reached() -> Result<(), String> {
    let place = folder("thinned");
    let binary = compile("hello", &["-static"], &place.0)?;
    let recording = place.0.join("one.rec");
    record_command(&recording, None, &[binary.display().to_string()])?;
    let log = Archive::open(&recording).and_then(|archive| archive.log("0"));
    let log = log.map_err(|error| error.to_string())?;
    let travel = |budget: u64| {
        let settings = Settings { workers: 1, budget, interval: log.last() / 10 };
        let travel = Travel::new(log.clone(), settings).map_err(|error| error.to_string())?;
        travel.prepare(&Unwatched).map_err(|error| error.to_string())?;
        Ok::<Travel, String>(travel)
    };
    let (roomy, narrow) = (travel(1 << 30)?, travel(1)?);
    let (all, left) = (roomy.keyframes().0, narrow.keyframes().0);
    if all < 10 || left > 2 {
        return Err(format!("{left} keyframes are left of {all}"));
    }
    for tenth in 0..=10 {
        let time = 1 + log.last() * tenth / 10;
        let shown = |travel: &Travel| {
            let state = travel.state(time).map_err(|error| format!("state {time}: {error}"))?;
            Ok::<_, String>((state.pc(), state.register("RSP"), state.register("RAX")))
        };
        let (expected, found) = (shown(&roomy)?, shown(&narrow)?);
        if found != expected {
            return Err(format!("state {time} is {found:x?} instead of {expected:x?}"));
        }
    }
    Ok(())
}
