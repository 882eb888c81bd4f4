//! Crashes told apart: by the signal, and by the calls from where it struck out to the program's own code.
//!
//! The innermost frame alone says little: every `abort` and every failed assertion ends in one instruction of the C library.

use crate::concrete::Outcome;
use crate::explore::{Exploration, Test};
use std::collections::BTreeSet;

/// The address to look a frame up by. A return address is behind the call, and may be that of another line or function.
pub fn call_site(level: usize, address: u64) -> u64 {
    if level == 0 { address } else { address.wrapping_sub(1) }
}

impl Exploration {
    /// Inputs that made the program end by a signal.
    pub fn crashes(&self) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(|test| matches!(test.outcome, Outcome::Killed(..)))
    }

    /// The same, the first one of each crash.
    pub fn distinct_crashes(&self) -> Vec<&Test> {
        let mut seen = BTreeSet::new();
        self.crashes().filter(|test| seen.insert((test.outcome.signal(), self.site(&test.stack)))).collect()
    }

    /// The frames that tell a crash from others, innermost first.
    fn site(&self, stack: &[u64]) -> Vec<u64> {
        let is_own = |(level, address): (usize, &u64)| {
            let at = call_site(level, *address);
            // The C library is part of a static program: there, lines tell what is the program's own, if it has any.
            self.own.contains(&at) && (!self.is_static || self.symbols.line_at(at).is_some())
        };
        let own = stack.iter().enumerate().position(is_own);
        let mut site: Vec<u64> = Vec::new();
        for address in &stack[..own.map_or(stack.len(), |level| level + 1)] {
            // However deep a recursion is, it is one crash.
            if !site.contains(address) {
                site.push(*address);
            }
        }
        site
    }
}
