//! Searching: intervals from the near end, on all workers, until there are enough hits.

use crate::collect::{Held, Plan};
use crate::error::TravelError;
use crate::filter::Filter;
use crate::finder::find;
use crate::findings::Findings;
use crate::hand::Traveller;
use crate::seen::Seen;
use crate::timeline::Timeline;
use crate::travel::Travel;
use parallax_trace::{Direction, Found, Hit, Time, Watch};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Where in an interval each condition holds.
type Lists = Vec<Held>;

/// What a search found, with the conditions whose tests have still to be made.
pub(crate) struct Sought {
    pub found: Found,
    /// For each hit, which of its conditions are in doubt.
    pub doubts: Vec<u64>,
}

/// A search that workers take part in. Intervals are numbered from the near end.
struct Hunt {
    conditions: Vec<Filter>,
    plan: Plan,
    intervals: Range<usize>,
    direction: Direction,
    /// Steps of an interval.
    interval: u64,
    /// Steps of the recording.
    last: u64,
    timeline: Arc<Timeline>,
    findings: Arc<Findings>,
    next: Mutex<usize>,
    stop: AtomicBool,
    done: Mutex<BTreeMap<usize, Result<Lists, TravelError>>>,
    arrived: Condvar,
}

impl Hunt {
    /// The interval at a position.
    fn at(&self, position: usize) -> usize {
        match self.direction {
            Direction::Forward => self.intervals.start + position,
            Direction::Backward => self.intervals.end - 1 - position,
        }
    }

    /// The steps before and up to the end of an interval.
    fn steps(&self, interval: usize) -> Range<u64> {
        let start = interval as u64 * self.interval;
        start..start.saturating_add(self.interval).min(self.last)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What a worker does.
    fn run(&self, traveller: &mut Traveller) {
        while let Some(mut positions) = self.claim() {
            if self.direction == Direction::Backward {
                // A replay goes forwards.
                positions.reverse();
            }
            for position in positions {
                if self.stopped() {
                    return;
                }
                let lists = self.look(traveller, self.at(position));
                let failed = lists.is_err();
                self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(position, lists);
                self.arrived.notify_all();
                if failed {
                    return;
                }
            }
        }
    }

    /// The next positions: those that are reached from one keyframe, so that no two workers run the same steps.
    fn claim(&self) -> Option<Vec<usize>> {
        const MOST: usize = 64;
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *next;
        if first >= self.intervals.len() || self.stopped() {
            return None;
        }
        *next += 1;
        if self.at_once(first).is_some() {
            return Some(vec![first]);
        }
        let mut known = self.timeline.lock();
        let mut keyframe = |position: usize| {
            let steps = self.steps(self.at(position));
            let looked = known.frontier() >= steps.end;
            if looked { known.keyframe(steps.start).map(|keyframe| keyframe.time()) } else { None }
        };
        if let Some(own) = keyframe(first) {
            while *next < self.intervals.len() && *next - first < MOST && keyframe(*next) == Some(own) {
                *next += 1;
            }
        }
        Some((first..*next).collect())
    }

    fn look(&self, traveller: &mut Traveller, interval: usize) -> Result<Lists, TravelError> {
        let steps = self.steps(interval);
        self.timeline.wait(steps.end, || self.stopped())?;
        let seen = self.timeline.lock().seen(interval).ok_or(TravelError::Empty)?;
        let known = self.known(&seen, interval);
        if known.iter().all(Option::is_some) {
            return Ok(known.into_iter().flatten().collect());
        }
        let begins = self.plan.begins(steps.start);
        let keyframe = self.timeline.lock().keyframe(begins).ok_or(TravelError::Empty)?;
        let count = self.conditions.len();
        let found = find(traveller, &self.timeline, &self.plan, count, &keyframe, steps, || self.stopped())?;
        let lists = found.into_iter().zip(known).zip(&self.conditions);
        let lists = lists.map(|((held, known), condition)| {
            known.unwrap_or_else(|| {
                self.findings.add(condition, interval, held.clone());
                held
            })
        });
        Ok(lists.collect())
    }

    /// What is known of each condition in an interval that has been looked at, without running it.
    fn known(&self, seen: &Seen, interval: usize) -> Vec<Option<Held>> {
        let known = self.conditions.iter().map(|condition| {
            if condition.is_noted() {
                let times: Arc<[Time]> = seen.known(condition).into();
                let is_tested = matches!(condition, Filter::When(..));
                let doubtful = if is_tested { times.clone() } else { Arc::default() };
                Some(Held { times, doubtful })
            } else if !seen.may(condition) {
                Some(Held::default())
            } else {
                self.findings.get(condition, interval)
            }
        });
        known.collect()
    }

    /// The lists of a position, if nothing has to run for them: who walks from hit to hit need not wait for a worker.
    fn at_once(&self, position: usize) -> Option<Lists> {
        let interval = self.at(position);
        let seen = self.timeline.lock().seen(interval)?;
        self.known(&seen, interval).into_iter().collect()
    }

    /// Waits for the lists of a position.
    fn wait(&self, position: usize, watch: &dyn Watch) -> Result<Lists, TravelError> {
        const PATIENCE: Duration = Duration::from_millis(10);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(lists) = done.remove(&position) {
                return lists;
            }
            if watch.stop() {
                return Err(TravelError::Stopped);
            }
            let waited = self.arrived.wait_timeout(done, PATIENCE);
            done = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Lets the workers go when the search is over, however it ended.
struct Release(Arc<Hunt>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn search(
    travel: &Travel,
    conditions: &[Filter],
    within: Range<Time>,
    direction: Direction,
    max: usize,
    watch: &dyn Watch,
) -> Result<Sought, TravelError> {
    let size = travel.settings.interval;
    // Step t is in the interval that starts after t - 1 steps or before.
    let intervals = ((within.start - 1) / size) as usize..((within.end - 2) / size) as usize + 1;
    let hunt = Arc::new(Hunt {
        conditions: conditions.to_vec(),
        plan: Plan::new(conditions),
        intervals: intervals.clone(),
        direction,
        interval: size,
        last: travel.last,
        timeline: travel.timeline.clone(),
        findings: travel.findings.clone(),
        next: Mutex::new(0),
        stop: AtomicBool::new(false),
        done: Mutex::default(),
        arrived: Condvar::new(),
    });
    let _release = Release(hunt.clone());
    let mut want = None;
    let mut found = Found {
        hits: Vec::new(),
        decided: match direction {
            Direction::Forward => within.start..within.start,
            Direction::Backward => within.end..within.end,
        },
    };
    let mut doubts = Vec::new();
    for position in 0..intervals.len() {
        let at_once = if want.is_none() { hunt.at_once(position) } else { None };
        let lists = match at_once {
            Some(lists) => lists,
            None => {
                if want.is_none() {
                    want = Some(travel.want(hunt.steps(intervals.end - 1).end)?);
                    *hunt.next.lock().unwrap_or_else(PoisonError::into_inner) = position;
                    for finder in travel.finders.iter().take(intervals.len() - position) {
                        let hunt = hunt.clone();
                        finder.give(move |traveller| hunt.run(traveller))?;
                    }
                }
                match hunt.wait(position, watch) {
                    Ok(lists) => lists,
                    Err(TravelError::Stopped) => return Ok(Sought { found, doubts }),
                    Err(error) => return Err(error),
                }
            }
        };
        let steps = hunt.steps(hunt.at(position));
        let part = within.start.max(steps.start + 1)..within.end.min(steps.end + 1);
        let mut hits = merge(&lists, &part);
        if direction == Direction::Backward {
            hits.reverse();
        }
        let room = max - found.hits.len();
        let cut = hits.len() >= room;
        hits.truncate(room);
        let end = match (cut, hits.last()) {
            (true, Some((last, _))) => Some(last.time),
            _ => None,
        };
        match direction {
            Direction::Forward => found.decided.end = end.map_or(part.end, |time| time + 1),
            Direction::Backward => found.decided.start = end.unwrap_or(part.start),
        }
        for (hit, doubt) in hits {
            found.hits.push(hit);
            doubts.push(doubt);
        }
        if cut {
            return Ok(Sought { found, doubts });
        }
        watch.progress(match direction {
            Direction::Forward => found.decided.end,
            Direction::Backward => found.decided.start,
        });
    }
    found.decided = within;
    Ok(Sought { found, doubts })
}

/// The times of all lists in a range, with the conditions that hold at each, and those of them that are in doubt.
fn merge(lists: &[Held], within: &Range<Time>) -> Vec<(Hit, u64)> {
    let part = |list: &Arc<[Time]>| {
        let from = list.partition_point(|time| *time < within.start);
        from..list.partition_point(|time| *time < within.end).max(from)
    };
    let mut hits: Vec<(Hit, u64)> = Vec::new();
    for (index, held) in lists.iter().enumerate() {
        let bit = 1 << index;
        let doubtful = &held.doubtful[part(&held.doubtful)];
        let doubt = |time: &Time| if doubtful.binary_search(time).is_ok() { bit } else { 0 };
        let times = &held.times[part(&held.times)];
        hits.extend(times.iter().map(|time| (Hit { time: *time, which: bit }, doubt(time))));
    }
    if lists.len() > 1 {
        hits.sort_unstable_by_key(|(hit, _)| hit.time);
        hits.dedup_by(|next, kept| {
            let same = next.0.time == kept.0.time;
            if same {
                kept.0.which |= next.0.which;
                kept.1 |= next.1;
            }
            same
        });
    }
    hits
}
