//! What searches have found, kept by interval: whoever walks through hits one by one asks for the same interval often.

use crate::collect::Held;
use crate::filter::Filter;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// So many times are kept.
const MOST: usize = 4 << 20;

struct Finding {
    held: Held,
    used: u64,
}

impl Finding {
    fn size(&self) -> usize {
        self.held.times.len() + self.held.doubtful.len() + 1
    }
}

#[derive(Default)]
struct Kept {
    found: FxHashMap<Filter, FxHashMap<usize, Finding>>,
    times: usize,
    now: u64,
}

/// The times at which a condition holds in an interval, as far as they were found and are kept.
#[derive(Default)]
pub(crate) struct Findings(Mutex<Kept>);

impl Findings {
    pub fn get(&self, condition: &Filter, interval: usize) -> Option<Held> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.now += 1;
        let now = kept.now;
        let finding = kept.found.get_mut(condition)?.get_mut(&interval)?;
        finding.used = now;
        Some(finding.held.clone())
    }

    pub fn add(&self, condition: &Filter, interval: usize, held: Held) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.now += 1;
        let finding = Finding { held, used: kept.now };
        let added = finding.size();
        let old = kept.found.entry(condition.clone()).or_default().insert(interval, finding);
        kept.times = kept.times + added - old.map_or(0, |old| old.size());
        if kept.times > MOST {
            kept.forget();
        }
    }
}

impl Kept {
    /// Forgets the half that was not used for longest.
    fn forget(&mut self) {
        let mut uses: Vec<u64> =
            self.found.values().flat_map(|by| by.values()).map(|finding| finding.used).collect();
        uses.sort_unstable();
        let limit = uses[uses.len() / 2];
        for by in self.found.values_mut() {
            by.retain(|_, finding| finding.used > limit);
        }
        self.found.retain(|_, by| !by.is_empty());
        self.times = self.found.values().flat_map(|by| by.values()).map(Finding::size).sum();
    }
}
