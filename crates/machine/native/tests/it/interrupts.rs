//! Signals that arrive anywhere in translated code: the processor single-steps it, and after some instruction of the host's the
//! handler asks it to leave. Wherever that was, time and state are right at the next check.

use crate::home::{CODE, Home, INTERRUPT_AFTER, STEPPED, STEPPED_CACHE};
use crate::lockstep::{Exact, STEPS, WAYS, arrived, listing, put};
use crate::programs::{program, registers};
use parallax_native::{Mistake, Options};
use parallax_silicon::random::Random;
use std::sync::atomic::Ordering;

const TRAP_FLAG: u64 = 1 << 8;

/// Interrupts random programs at random places; how often.
pub fn search(rounds: u64, seed: u64, mistake: Option<Mistake>) -> Result<u64, String> {
    let mut exact = Exact::new();
    let mut random = Random::new(seed);
    let mut interrupted = 0;
    for round in 0..rounds {
        let program = program(&exact.forms, &mut random);
        let registers = registers(&exact.blank, &mut random);
        let course = exact.course(&program, &registers, STEPS + 2 * Options::LONGEST as u64);
        for (options, far) in WAYS {
            let options = Options { mistake, ..options };
            let mut home = Home::new(&program.code, options, far);
            let mut longest = 400;
            for _ in 0..8 {
                put(&mut home, &course.moments[0]);
                home.context().flags |= TRAP_FLAG;
                home.context().allow(STEPS, options.counters);
                STEPPED.store(0, Ordering::Relaxed);
                INTERRUPT_AFTER.store(1 + random.below(longest), Ordering::Relaxed);
                STEPPED_CACHE.store(&raw mut home.cache, Ordering::Relaxed);
                let came = home.run(CODE);
                STEPPED_CACHE.store(std::ptr::null_mut(), Ordering::Relaxed);
                home.context().flags &= !TRAP_FLAG;
                let (stepped, after) =
                    (STEPPED.load(Ordering::Relaxed), INTERRUPT_AFTER.load(Ordering::Relaxed));
                if stepped < after {
                    // It ended before: the next interrupts come earlier.
                    longest = stepped.max(1);
                }
                interrupted += u64::from(stepped >= after);
                arrived(&mut home, &course, 0, STEPS, came).map_err(|why| {
                    let listing = listing(&program, &course);
                    format!("seed {seed}, round {round}, after {after} of the host: {why}\n{came:x?} {options:?}\n{listing}")
                })?;
            }
        }
    }
    Ok(interrupted)
}

#[test]
fn interrupts_anywhere() {
    let interrupted = search(40, 1, None).unwrap_or_else(|why| panic!("{why}"));
    assert!(interrupted > 600, "{interrupted} interrupts");
}
