//! The nodes of decision diagrams, each built once.

use rustc_hash::FxHashMap;
use std::time::Instant;

/// Nodes between two looks at the clock.
const LOOK: usize = 512;

/// The diagram has grown beyond use, or took too long.
pub(crate) struct TooLarge;

/// A variable, what follows where it is false, and where it is true.
pub(crate) type Node = (u32, u32, u32);

/// All nodes.
pub(crate) struct Nodes {
    list: Vec<Node>,
    unique: FxHashMap<Node, u32>,
    /// How many are worth their memory.
    most: usize,
    deadline: Option<Instant>,
}

impl Nodes {
    /// No node but these, which are never asked for by what they are made of.
    pub fn new(first: Vec<Node>, most: usize, deadline: Option<Instant>) -> Self {
        Nodes { list: first, unique: FxHashMap::default(), most, deadline }
    }

    /// When it is too late.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn get(&self, at: u32) -> Option<Node> {
        self.list.get(at as usize).copied()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The node that asks for a variable; what does not depend on it is no node.
    pub fn make(&mut self, variable: u32, low: u32, high: u32) -> Result<u32, TooLarge> {
        if low == high {
            return Ok(low);
        }
        if let Some(&known) = self.unique.get(&(variable, low, high)) {
            return Ok(known);
        }
        let late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if self.list.len() >= self.most || self.list.len().is_multiple_of(LOOK) && late() {
            return Err(TooLarge);
        }
        let at = self.list.len() as u32;
        self.list.push((variable, low, high));
        self.unique.insert((variable, low, high), at);
        Ok(at)
    }
}
