//! A store that lies on two pages is found by what it writes on either.

use crate::recorded::recorder::Test;
use crate::recorded::{compile, folder, record_command};
use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Filter, Settings, Travel};

/// The end of the first page in `across.c`.
const END: u64 = 0x1000_1000;

pub fn tests() -> Vec<Test> {
    vec![(String::from("across: a store on two pages"), Box::new(store))]
}

fn store() -> Result<(), String> {
    let place = folder("across");
    let binary = compile("across", &["-static"], &place.0)?;
    let recording = place.0.join("one.rec");
    record_command(&recording, None, &[binary.display().to_string()])?;
    let travel = Travel::open(&recording, "0", Settings::default()).map_err(|error| error.to_string())?;
    let writes = |address: u64| -> Result<Vec<u64>, String> {
        let filter = [Filter::Write(address.into())];
        let found = travel.search(&filter, travel.span(), Direction::Forward, usize::MAX, &Unwatched);
        Ok(found.map_err(|error| error.to_string())?.hits.iter().map(|hit| hit.time).collect())
    };
    let (before, behind) = (writes(END - 1)?, writes(END)?);
    if before.len() == 1 && before == behind { Ok(()) } else { Err(format!("{before:?} and {behind:?}")) }
}
