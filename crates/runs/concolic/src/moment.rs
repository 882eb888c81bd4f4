//! A moment of a run: the program runs there as it is, and what comes next is explored from its real memory.

use crate::concrete;
use crate::input::{Input, Kind, Source, Sources};
use crate::subject::{Command, Placed, Subject, SubjectError};
use std::str::FromStr;

/// The entry of a function, the how-manieth of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The function, or an address of the program's file.
    pub function: String,
    /// Which of its calls, from 1.
    pub count: u64,
}

impl FromStr for Moment {
    type Err = SubjectError;

    /// `NAME` or `NAME#N`.
    fn from_str(text: &str) -> Result<Self, SubjectError> {
        let (function, count) = match text.rsplit_once('#') {
            Some((function, count)) => (function, count.parse().ok().filter(|count| *count > 0)),
            None => (text, Some(1)),
        };
        match count {
            Some(count) if !function.is_empty() => Ok(Moment { function: function.to_owned(), count }),
            _ => Err(SubjectError::Moment(text.to_owned())),
        }
    }
}

/// Where the function that was entered comes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The address behind the call.
    pub address: u64,
    /// The stack pointer there.
    pub stack: u64,
}

/// Something of the state at a moment that is to be unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Register(String),
    /// Bytes at an address, or from where a register or a global points or lies.
    Memory {
        base: String,
        offset: u64,
        bytes: usize,
    },
}

/// `RDI`, or `[RDI+8]:16`, `[counter]:4`, `[0x404010]:4`.
fn place(text: &str) -> Option<Place> {
    let Some(rest) = text.strip_prefix('[') else {
        let fits = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
        return fits.then(|| Place::Register(text.to_uppercase()));
    };
    let (inside, bytes) = rest.split_once("]:")?;
    let bytes = bytes.parse().ok().filter(|bytes| (1..=1 << 20).contains(bytes))?;
    let (base, offset) = match inside.split_once('+') {
        Some((base, offset)) => (base, number(offset)?),
        None => (inside, 0),
    };
    (!base.is_empty()).then(|| Place::Memory { base: base.to_owned(), offset, bytes })
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Subject {
    /// Loads a program, runs it to a moment, and makes these places of its state unknown. `steps` bounds the run.
    /// With it comes the input that leaves everything as it is.
    pub fn at(
        command: &Command,
        moment: &Moment,
        unknown: &[String],
        memory: u64,
        steps: u64,
    ) -> Result<(Subject, Input), SubjectError> {
        let mut subject = Subject::loaded(command, &Sources::default(), memory)?;
        subject.shared.borrow_mut().is_silent = true;
        // Libraries are loaded, and functions that depend on the processor chosen, when the program itself begins.
        subject.go_to(subject.entry, 1, steps, "its entry")?;
        let address = subject.function(&moment.function, steps)?;
        subject.go_to(address, moment.count, steps, &moment.function)?;
        subject.until = Some(subject.way_back());
        subject.keep_outside();
        subject.find_callers();
        let mut input = Vec::new();
        for text in unknown {
            let place = place(text).ok_or_else(|| SubjectError::Unknown(text.clone()))?;
            let (kind, placed, bytes) = subject.placed_at(place, text)?;
            let index = subject.sources.0.len();
            let real = match &placed {
                Placed::Register(name) => subject.process.world().registers.get_bytes(name).to_vec(),
                Placed::Memory(address) => subject.process.peek(*address, bytes as u64),
            };
            if real.len() != bytes {
                return Err(SubjectError::Unmapped(text.clone()));
            }
            input.extend(real);
            subject.sources.0.push(Source { kind, bytes });
            subject.placed.push((index, placed));
        }
        Ok((subject, input))
    }

    fn placed_at(&mut self, place: Place, text: &str) -> Result<(Kind, Placed, usize), SubjectError> {
        let processor = self.process.world().registers.processor().clone();
        match place {
            Place::Register(name) => {
                let known = processor.cells.iter().find(|cell| cell.name == name);
                let cell = known.ok_or_else(|| SubjectError::Unknown(text.to_owned()))?;
                let bytes = usize::from(cell.place.bytes);
                Ok((Kind::Register(name.clone()), Placed::Register(name), bytes))
            }
            Place::Memory { base, offset, bytes } => {
                let upper = base.to_uppercase();
                let start = if processor.register(&upper).is_some_and(|r| r.place.bytes == 8) {
                    self.process.world().registers.get(&upper)
                } else {
                    match number(&base) {
                        Some(address) => address,
                        None => self.place(&base)?,
                    }
                };
                let kind = Kind::Memory { base: base.replace("0x", "m"), offset };
                Ok((kind, Placed::Memory(start.wrapping_add(offset)), bytes))
            }
        }
    }

    /// Runs until an address was come to so many times, where a block begins.
    pub(crate) fn go_to(
        &mut self,
        address: u64,
        count: u64,
        steps: u64,
        name: &str,
    ) -> Result<(), SubjectError> {
        let mut left = count;
        let start = self.process.time();
        loop {
            if self.process.pc() == address {
                left -= 1;
                if left == 0 {
                    return Ok(());
                }
            }
            let missed = |why: String| SubjectError::NotReached { name: name.to_owned(), count, why };
            if self.process.time() - start >= steps {
                return Err(missed(format!("{steps} instructions were run")));
            }
            if let Some(ending) = concrete::block(self) {
                return Err(missed(format!("the program {}", concrete::ended(ending))));
            }
        }
    }

    /// The address of a function, the one that was chosen if several stand for its name (an IFUNC).
    pub(crate) fn function(&mut self, name: &str, steps: u64) -> Result<u64, SubjectError> {
        let (address, is_chosen) = self.named(name)?;
        if !is_chosen {
            return Ok(address);
        }
        if self.is_static()
            && let Ok((main, false)) = self.named("main")
        {
            // A static program finds out about its processor on the way to `main`.
            self.go_to(main, 1, steps, "main")?;
        }
        self.chosen(address).ok_or_else(|| SubjectError::NotChosen(name.to_owned()))
    }

    /// What the function that chooses among several chooses on this processor: it is called, and what it did undone.
    pub(crate) fn chosen(&mut self, chooser: u64) -> Option<u64> {
        const MOST: u64 = 1_000_000;
        // It returns to where nothing that it calls goes, and where there is code.
        let back = self.entry;
        let before = self.process.snapshot();
        let registers = &mut self.process.world().registers;
        let stack = registers.get("RSP").wrapping_sub(0x200) & !15;
        registers.set("RSP", stack - 8);
        registers.set("RDI", 0);
        let written = self.process.world().memory.poke(stack - 8, &back.to_le_bytes());
        self.process.jump(chooser);
        let start = self.process.time();
        let mut ended = written.is_err();
        while !ended && self.process.pc() != back {
            ended = concrete::block(self).is_some() || self.process.time() - start > MOST;
        }
        let found = self.process.world().registers.get("RAX");
        self.process.go_back(&before);
        (!ended).then_some(found)
    }

    /// Whether the function of the moment has come back.
    pub(crate) fn has_returned(&mut self) -> bool {
        self.until.is_some_and(|until| self.is_back(until))
    }
}
