//! A thread that owns a replay: processes cannot move between threads, so work goes to them.

use crate::collect::Collector;
use crate::error::TravelError;
use crate::passing::Surroundings;
use crate::show::Showing;
use crate::state::Places;
use parallax_process::Process;
use parallax_process::elf::Machine;
use parallax_record::{Log, replay};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A replay that can be moved in time.
pub(crate) struct Traveller {
    log: Arc<Log>,
    process: Option<Process>,
    /// What collects for searches.
    pub armed: Option<Collector>,
    /// What it remembers to show states.
    pub showing: Showing,
    /// Where the registers of each machine are.
    places: Vec<(Machine, Arc<Places>)>,
    closing: Arc<AtomicBool>,
}

/// After so many steps a run looks whether it is still wanted.
const SLICE: u64 = 200_000;

impl Traveller {
    /// The process, which is started when it is first asked for.
    pub fn process(&mut self) -> Result<&mut Process, TravelError> {
        if self.process.is_none() {
            let started = replay(&self.log, false, false);
            self.process = Some(started.map_err(|error| TravelError::Start(error.to_string()))?);
        }
        Ok(self.process.as_mut().expect("just started"))
    }

    /// Where the registers of the process are.
    pub fn places(&mut self) -> Result<Arc<Places>, TravelError> {
        let machine = self.process()?.machine();
        if let Some((_, places)) = self.places.iter().find(|(known, _)| *known == machine) {
            return Ok(places.clone());
        }
        let places = Arc::new(Places::of(self.process()?));
        self.places.push((machine, places.clone()));
        Ok(places)
    }

    /// What tests may see of the process besides registers and memory.
    pub fn surroundings(&mut self) -> Result<Surroundings, TravelError> {
        let places = self.places()?;
        let process = self.process()?;
        Ok(Surroundings::new(places, process.program(), process.machine()))
    }

    /// Runs until so many steps have been made, unless `stop` says that nobody wants them.
    pub fn run_to(&mut self, steps: u64, stop: impl Fn() -> bool) -> Result<(), TravelError> {
        let closing = self.closing.clone();
        let last = self.log.last();
        let process = self.process()?;
        while process.time() < steps {
            if closing.load(Ordering::Relaxed) || stop() {
                return Err(TravelError::Stopped);
            }
            let limit = steps.min(process.time() + SLICE);
            if let Some(ending) = process.run_until(limit)
                && process.time() < steps
            {
                return Err(TravelError::Ended { time: process.time(), last, why: ending.to_string() });
            }
        }
        Ok(())
    }
}

type Job = Box<dyn FnOnce(&mut Traveller) + Send>;

/// A thread with a replay of its own.
pub(crate) struct Hand {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    closing: Arc<AtomicBool>,
}

impl Hand {
    pub fn new(log: Arc<Log>, name: &str) -> Result<Hand, TravelError> {
        // Blocks of operations may nest calls when they are not optimised.
        const STACK: usize = 16 << 20;
        let closing = Arc::new(AtomicBool::new(false));
        let (jobs, received) = channel::<Job>();
        let own = closing.clone();
        let work = move || {
            let mut traveller = Traveller {
                log,
                process: None,
                armed: None,
                showing: Showing::default(),
                places: Vec::new(),
                closing: own,
            };
            while let Ok(job) = received.recv() {
                job(&mut traveller);
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work);
        let thread = thread.map_err(|error| TravelError::Worker(error.to_string()))?;
        Ok(Hand { jobs: Some(jobs), thread: Some(thread), closing })
    }

    /// Lets the thread do something, after what it was given before.
    pub fn give(&self, job: impl FnOnce(&mut Traveller) + Send + 'static) -> Result<(), TravelError> {
        let gone = || TravelError::Worker(String::from("its thread is gone"));
        self.jobs.as_ref().ok_or_else(gone)?.send(Box::new(job)).map_err(|_| gone())
    }

    /// Lets the thread do something and waits for the answer.
    pub fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Traveller) -> Result<T, TravelError> + Send + 'static,
    ) -> Result<T, TravelError> {
        let (answer, answered) = channel();
        self.give(move |traveller| {
            // Whoever asked may have gone.
            let _ = answer.send(job(traveller));
        })?;
        answered.recv().unwrap_or_else(|_| Err(TravelError::Worker(String::from("its thread ended"))))
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told its askers so.
            let _ = thread.join();
        }
    }
}
