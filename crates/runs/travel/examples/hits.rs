//! What a hit costs: `hits RECORDING ADDRESS(hex) [COUNT]`. Prints a JSON line of microseconds per hit.

use parallax_trace::{Direction, Target, Unwatched};
use parallax_travel::{Examine, Filter, Settings, Side, State, Test, Travel, Unanswered};
use std::sync::Arc;
use std::time::Instant;

/// Reads a register and the word it points to, as a test of an argument does.
struct Even;

impl Examine for Even {
    fn side(&self) -> Side {
        Side::Before
    }

    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered> {
        let mut word = [0; 8];
        let stack = state.register("RSP").unwrap_or(0);
        Ok(state.read(stack, &mut word).is_ok() && state.register("RDI").is_some_and(|rdi| rdi % 2 == 0))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let travel = Travel::open(arguments[0].as_ref(), "0", Settings::default())?;
    let address = u64::from_str_radix(arguments[1].trim_start_matches("0x"), 16)?;
    let most = arguments.get(2).map_or(Ok(usize::MAX), |text| text.parse())?;
    travel.prepare(&Unwatched)?;
    let plain = Filter::Execute(address.into());
    let begun = Instant::now();
    let found =
        travel.search(std::slice::from_ref(&plain), travel.span(), Direction::Forward, most, &Unwatched)?;
    let hits = found.hits.len().max(1);
    let per = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / hits as f64;
    let search = per(begun);
    let times: Vec<_> = found.hits.iter().map(|hit| (hit.time, Side::Before)).collect();
    let begun = Instant::now();
    for piece in times.chunks(32) {
        travel.states(piece, &Unwatched)?;
    }
    let states = per(begun);
    let begun = Instant::now();
    let tested = Filter::When(Box::new(plain), Test(Arc::new(Even)));
    let passed = travel.search(&[tested], travel.span(), Direction::Forward, most, &Unwatched)?;
    let test = per(begun);
    let begun = Instant::now();
    let few = times.iter().take(200);
    let count = few.len().max(1) as f64;
    for (time, _) in few {
        travel.state(*time)?;
    }
    let one = begun.elapsed().as_secs_f64() * 1e6 / count;
    println!(
        "{{\"hits\": {hits}, \"passed\": {}, \"search_us\": {search:.2}, \"states_us\": {states:.2}, \
         \"test_us\": {test:.2}, \"state_us\": {one:.2}}}",
        passed.hits.len()
    );
    Ok(())
}
