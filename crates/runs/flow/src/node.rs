//! What is answered: the steps that made a value, each with the steps that made what it was computed from.

use parallax_process::outside::Tid;
use parallax_trace::Time;

/// Some bytes, and what they held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Of a register.
    Register {
        /// The thread whose register it is.
        thread: Tid,
        /// Its name, or that of the smallest one the bytes belong to.
        name: String,
        /// The first byte of the register that is meant, counted from the lowest.
        low: usize,
        /// Their values, lowest first.
        bytes: Vec<u8>,
    },
    /// Of memory.
    Memory {
        /// The first.
        address: u64,
        /// Their values.
        bytes: Vec<u8>,
    },
}

/// What a step is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// None: what was asked about.
    Asked,
    /// An instruction.
    Instruction {
        /// Its assembly text.
        text: String,
        /// Whether all that is meant here was computed from constants alone.
        constant: bool,
    },
    /// A system call, which brought it.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: [u64; 6],
        /// What it came to.
        result: u64,
        /// The file or other thing that its first argument names, if it is a descriptor that was seen to be opened.
        file: Option<String>,
    },
    /// The delivery of a signal.
    Delivery {
        /// Its number.
        signal: i32,
    },
    /// The return of a signal handler, which restored what its frame held.
    HandlerReturn,
    /// A thread was made, with registers of the one that made it.
    Thread,
    /// Memory was moved (`mremap`).
    Moved,
    /// Another process wrote it to shared memory.
    Foreign,
    /// Memory was mapped: what a file held, or zeros.
    Mapped {
        /// The file and the offset in it; zeros if there is none.
        file: Option<(String, u64)>,
    },
    /// The program's start: the registers and the stack that the kernel made.
    Start {
        /// The program.
        program: String,
    },
    /// What it does is not known.
    Unknown {
        /// Why.
        why: String,
    },
}

/// A step that made a part of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The step; 0 for what was there before the first.
    pub time: Time,
    /// The thread that made it.
    pub thread: Tid,
    /// Its instruction; 0 where it has none.
    pub pc: u64,
    /// What it is.
    pub what: What,
    /// What it made of the value.
    pub made: Vec<Piece>,
    /// The nodes of what that was computed from, latest first. None for an end: an input, a constant, the start.
    pub from: Vec<usize>,
}

impl Node {
    /// Whether the value comes from here: nothing further back counts.
    pub fn is_end(&self) -> bool {
        !matches!(self.what, What::Asked) && self.from.is_empty()
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What was asked about, first, then the steps that made it, latest first.
    pub nodes: Vec<Node>,
    /// What was not followed any further because a bound was reached, and from which time on backwards.
    pub cut: Option<Cut>,
    /// How many steps were looked at one by one.
    pub looked: u64,
}

/// Where following stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Writers before this time were not looked for.
    pub time: Time,
    /// The bytes whose writers were not looked for.
    pub left: Vec<Piece>,
}

impl Origin {
    /// The ways from an end to the value: for each end the shortest chain of nodes, the end first.
    pub fn chains(&self) -> Vec<Vec<usize>> {
        // From the value backwards, nearest first.
        let mut towards: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut order = vec![0];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &from in &self.nodes[node].from {
                if from != 0 && towards[from].is_none() {
                    towards[from] = Some(node);
                    order.push(from);
                }
            }
        }
        let ends = order.iter().filter(|node| self.nodes[**node].is_end());
        let chain = |end: &usize| {
            let mut chain = vec![*end];
            while let Some(next) = chain.last().and_then(|last| towards[*last]) {
                chain.push(next);
            }
            chain
        };
        ends.map(chain).collect()
    }
}
