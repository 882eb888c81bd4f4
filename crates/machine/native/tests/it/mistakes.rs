//! Every mistake that the translator can be told to make is noticed by a test.

use crate::{changes, counting, interrupts, lockstep};
use parallax_native::Mistake;

/// What the tests say about a translator with a mistake.
fn noticed(mistake: Mistake) -> Result<(), String> {
    let some = Some(mistake);
    match mistake {
        Mistake::NoCheckBeforeIndirect => counting::computed_loop(some),
        Mistake::HalfTarget => changes::half_target(some),
        Mistake::StaleLink => changes::changed_function(true, some),
        Mistake::StaleSlot => changes::changed_function(false, some),
        Mistake::TornCounter => interrupts::search(40, 1, some).map(|_| ()),
        // Both ways of looking must see it.
        Mistake::SideExitCount | Mistake::CountedTwice if counting::search(60, 1, some).is_ok() => Ok(()),
        // Most such shifts are left, since what follows may read a flag that they leave undefined.
        Mistake::ShiftWritesFlags => lockstep::search(2000, 1, some).map(|_| ()),
        _ => lockstep::search(150, 1, some).map(|_| ()),
    }
}

#[test]
fn every_planted_mistake_is_noticed() {
    let missed: Vec<Mistake> = Mistake::ALL.into_iter().filter(|mistake| noticed(*mistake).is_ok()).collect();
    assert!(missed.is_empty(), "not noticed: {missed:?}");
}
