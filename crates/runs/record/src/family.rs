//! Replaying all processes of a recording, each once.
//!
//! A child's stream starts at a fork of its parent. The parent's replay stops there, and its child is replayed from that very
//! state before the parent goes on: so nothing runs twice, and what a shell and its commands wrote comes in the order in
//! which it waited for them.
//!
//! A replay by the processor itself runs code of strangers. It happens in a process that has given everything up before, so all
//! streams are read first.

use crate::archive::Archive;
use crate::format::OpenError;
use crate::log::Log;
use crate::record::{Record, SavedEnding};
use crate::replaying::replay_to;
use crate::shown::Shown;
use parallax_process::sealed::{self, Unsealed};
use parallax_process::{Ending, Process, Snapshot, StartError, prepare_alone};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// It cannot be replayed by the processor itself: nothing was done.
    #[error("{0}")]
    NotNatively(String),
    /// The process that replayed it ended.
    #[error("the process that replayed it natively ended by {0}")]
    Lost(String),
}

/// Where the streams come from, and how they are replayed.
struct Source<'a> {
    archive: &'a Archive,
    /// The names of all streams.
    known: Vec<String>,
    /// Those that were read before.
    read: FxHashMap<String, Arc<Log>>,
    verifies: bool,
    shows: bool,
    natively: bool,
}

impl<'a> Source<'a> {
    fn new(archive: &'a Archive, verifies: bool, shows: bool) -> Source<'a> {
        let known = archive.streams();
        Source { archive, known, read: FxHashMap::default(), verifies, shows, natively: false }
    }

    fn log(&self, stream: &str) -> Result<Arc<Log>, OpenError> {
        match self.read.get(stream) {
            Some(log) => Ok(log.clone()),
            None => self.archive.log(stream),
        }
    }
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
    /// Whether it runs natively now.
    is_awake: bool,
}

impl Member {
    fn new(source: &Source, stream: &str) -> Result<Member, ReplayError> {
        let log = source.log(stream)?;
        let output = source.shows.then(Shown::new);
        let process = replay_to(&log, source.verifies, output.clone())?;
        let fork = |record: &Record| match record {
            // A child that was killed at once has no stream.
            Record::Fork { time, child: Ok((_, name, _)), .. }
                if *time >= log.since && source.known.contains(name) =>
            {
                Some((*time, name.clone()))
            }
            _ => None,
        };
        let forks = log.records.iter().filter_map(fork).collect();
        Ok(Member { stream: stream.to_owned(), log, process, output, forks, is_awake: false })
    }

    /// Goes on natively, if that is how the recording is replayed. One process at a time can. Where it cannot, it goes on exactly,
    /// unless nothing has been done yet.
    fn wake(&mut self, source: &Source) -> Result<(), ReplayError> {
        if source.natively && !self.is_awake {
            self.is_awake = true;
            if let Err(why) = self.process.use_native()
                && self.process.time() == 0
            {
                return Err(ReplayError::NotNatively(why));
            }
        }
        Ok(())
    }

    /// Lets another process go on.
    fn rest(&mut self, source: &Source) {
        if source.natively {
            self.process.rest();
            self.is_awake = false;
        }
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
    one(&Source::new(archive, verifies, shows), stream)
}

/// Replays the first process and all that descend from it; `each` hears of them as they end.
pub fn replay_family(
    archive: &Archive,
    verifies: bool,
    shows: bool,
    each: impl FnMut(Replayed),
) -> Result<(), ReplayError> {
    family(&Source::new(archive, verifies, shows), each)
}

/// Replays one process alone, or the first and all that descend from it, by the processor itself, in a sealed process.
pub fn replay_natively(
    archive: &Archive,
    stream: Option<&str>,
    verifies: bool,
    shows: bool,
) -> Result<Vec<Replayed>, ReplayError> {
    let mut source = Source { natively: true, ..Source::new(archive, verifies, shows) };
    let names = match stream {
        Some(stream) => vec![stream.to_owned()],
        None => source.known.clone(),
    };
    for name in names {
        let log = archive.log(&name)?;
        source.read.insert(name, log);
    }
    let replayed = || -> Vec<u8> {
        let mut all = Vec::new();
        let result = match stream {
            Some(stream) => one(&source, stream).map(|one| all.push(one)),
            None => family(&source, |one| all.push(one)),
        };
        let saved: Vec<_> = all.iter().map(SavedReplayed::new).collect();
        postcard::to_stdvec(&result.map(|()| saved).map_err(|error| error.to_string())).unwrap_or_default()
    };
    let bytes = sealed::work(shows, prepare_alone, replayed).map_err(|why| match why {
        Unsealed::Unavailable(why) => ReplayError::NotNatively(why),
        Unsealed::Ended(how) => ReplayError::Lost(how),
    })?;
    let answer: Result<Vec<SavedReplayed>, String> =
        postcard::from_bytes(&bytes).map_err(|_| ReplayError::Lost(String::from("what is no answer")))?;
    let saved = answer.map_err(ReplayError::NotNatively)?;
    Ok(saved.into_iter().map(SavedReplayed::restore).collect())
}

fn one(source: &Source, stream: &str) -> Result<Replayed, ReplayError> {
    let mut member = Member::new(source, stream)?;
    member.wake(source)?;
    Ok(member.finish())
}

fn family(source: &Source, mut each: impl FnMut(Replayed)) -> Result<(), ReplayError> {
    let mut alive = vec![Member::new(source, "0")?];
    while let Some(member) = alive.last_mut() {
        member.wake(source)?;
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
        let mut child = Member::new(source, &name)?;
        if member.process.time() <= before
            && let Some(born) = member.born(&child)
        {
            child.process.go_back(&born);
            if let (Some(own), Some(parents)) = (&child.output, &member.output) {
                own.inherit(parents);
            }
        }
        member.rest(source);
        alive.push(child);
    }
    Ok(())
}

/// What a replay came to, on its way out of a sealed process.
#[derive(Serialize, Deserialize)]
struct SavedReplayed {
    stream: String,
    steps: u64,
    since: u64,
    ending: SavedEnding,
    recorded: Option<SavedEnding>,
    verdict: Verdict,
}

impl SavedReplayed {
    fn new(one: &Replayed) -> SavedReplayed {
        SavedReplayed {
            stream: one.stream.clone(),
            steps: one.steps,
            since: one.since,
            ending: SavedEnding::new(&one.ending),
            recorded: one.recorded.as_ref().map(SavedEnding::new),
            verdict: one.verdict,
        }
    }

    fn restore(self) -> Replayed {
        let SavedReplayed { stream, steps, since, ending, recorded, verdict } = self;
        let recorded = recorded.map(|recorded| recorded.restore());
        Replayed { stream, steps, since, ending: ending.restore(), recorded, verdict }
    }
}
