//! Replaying all processes of a recording, each once.
//!
//! A child's stream starts at a fork of its parent. The parent's replay stops there, and its child is replayed from that very
//! state before the parent goes on: so nothing runs twice, and what a shell and its commands wrote comes in the order in
//! which it waited for them.

use crate::archive::Archive;
use crate::format::OpenError;
use crate::log::Log;
use crate::record::{Record, SavedEnding};
use crate::replaying::replay_to;
use crate::shown::Shown;
use parallax_process::{Ending, Process, Snapshot, StartError};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a replay of one process came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The name of its stream.
    pub stream: String,
    /// The time of its end.
    pub steps: u64,
    /// The time of its beginning: its parent had made so many steps.
    pub since: u64,
    /// How it ended.
    pub ending: Ending,
    /// How it ended when it was recorded, if the recording says.
    pub recorded: Option<Ending>,
    /// How that compares.
    pub verdict: Verdict,
}

/// How a replay compares with its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It came to the recorded end.
    Same,
    /// The recording was cut, and it came to the last that is recorded.
    Cut,
    /// It left the recording.
    Departed,
}

/// Why a process could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Its recording cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its program cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// A process on its way.
struct Member {
    stream: String,
    log: Arc<Log>,
    process: Process,
    /// Where its output goes, if it is wanted.
    output: Option<Shown>,
    /// Times and streams of the children that it has not come to.
    forks: VecDeque<(u64, String)>,
}

impl Member {
    fn new(archive: &Archive, stream: &str, verifies: bool, shows: bool) -> Result<Member, ReplayError> {
        let log = archive.log(stream)?;
        let output = shows.then(Shown::new);
        let process = replay_to(&log, verifies, output.clone())?;
        let known = archive.streams();
        let fork = |record: &Record| match record {
            // A child that was killed at once has no stream.
            Record::Fork { time, child: Ok((_, name, _)), .. }
                if *time >= log.since && known.contains(name) =>
            {
                Some((*time, name.clone()))
            }
            _ => None,
        };
        let forks = log.records.iter().filter_map(fork).collect();
        Ok(Member { stream: stream.to_owned(), log, process, output, forks })
    }

    /// The process as a child finds it, with what the child's stream says of mappings.
    fn born(&mut self, child: &Member) -> Option<Snapshot> {
        let snapshot = self.process.snapshot();
        let mappings = child.log.mappings();
        let saved = snapshot.save()?;
        Snapshot::restore(saved, snapshot.pages(), &|number| mappings.get(&number).cloned())
    }

    fn finish(mut self) -> Replayed {
        let mut ending = self.process.run();
        let recorded = self.log.ending().or_else(|| self.log.told.clone());
        let steps = self.process.time();
        let at_last =
            !self.log.complete && matches!(ending, Ending::Closed { .. }) && steps >= self.log.last();
        let verdict = if recorded.as_ref() == Some(&SavedEnding::new(&ending)) {
            Verdict::Same
        } else if at_last && let Some(told) = &self.log.told {
            // All was recorded, and what came next was its end.
            ending = told.restore();
            Verdict::Same
        } else if at_last {
            Verdict::Cut
        } else {
            Verdict::Departed
        };
        let recorded = recorded.map(|recorded| recorded.restore());
        Replayed { stream: self.stream, steps, since: self.log.since, ending, recorded, verdict }
    }
}

/// Replays one process alone, through its parents if it has any.
pub fn replay_one(
    archive: &Archive,
    stream: &str,
    verifies: bool,
    shows: bool,
) -> Result<Replayed, ReplayError> {
    Ok(Member::new(archive, stream, verifies, shows)?.finish())
}

/// Replays the first process and all that descend from it; `each` hears of them as they end.
pub fn replay_family(
    archive: &Archive,
    verifies: bool,
    shows: bool,
    mut each: impl FnMut(Replayed),
) -> Result<(), ReplayError> {
    let mut alive = vec![Member::new(archive, "0", verifies, shows)?];
    while let Some(member) = alive.last_mut() {
        let Some((time, name)) = member.forks.pop_front() else {
            if let Some(member) = alive.pop() {
                each(member.finish());
            }
            continue;
        };
        // The fork itself is the child's to make.
        let before = time.saturating_sub(1);
        if member.process.time() < before {
            // A replay that ends too early says so when it is finished.
            let _ = member.process.run_until(before);
        }
        let mut child = Member::new(archive, &name, verifies, shows)?;
        if member.process.time() <= before
            && let Some(born) = member.born(&child)
        {
            child.process.go_back(&born);
            if let (Some(own), Some(parents)) = (&child.output, &member.output) {
                own.inherit(parents);
            }
        }
        alive.push(child);
    }
    Ok(())
}
