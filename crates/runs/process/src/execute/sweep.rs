//! Dropping the operations of a block whose results nobody reads: most flags, above all.
//!
//! Going backwards through the block, each byte of the file is live or dead. All registers become live again and again,
//! wherever the program may stop, so that must not cost a step for each of them: a byte carries the number of the moment
//! it last changed, and a moment is forgotten by counting on.

use super::improve::Boundary;
use super::node::{Kind, Node, Slot};

/// Which bytes of the file are live, at the point that a backward walk has come to.
struct Live {
    /// For each byte of a register, when it last died; for each byte of a temporary, when somebody was last found to
    /// read it.
    marks: Vec<u64>,
    now: u64,
    /// Registers marked at this moment are dead, all others live.
    registers: u64,
    /// Temporaries marked at this moment are live, all others dead.
    temporaries: u64,
    /// Where temporaries start.
    first_temporary: usize,
}

impl Live {
    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// At the end of a block: registers are live, temporaries are not.
    fn start(&mut self, first_temporary: usize) {
        self.first_temporary = first_temporary;
        self.temporaries = self.tick();
        self.revive_registers();
    }

    fn revive_registers(&mut self) {
        self.registers = self.tick();
    }

    fn is_live(&self, at: usize) -> bool {
        if at < self.first_temporary {
            self.marks[at] != self.registers
        } else {
            self.marks[at] == self.temporaries
        }
    }

    fn set(&mut self, at: usize, live: bool) {
        self.marks[at] = match (at < self.first_temporary, live) {
            (true, true) | (false, false) => 0,
            (true, false) => self.registers,
            (false, true) => self.temporaries,
        };
    }

    fn any(&self, slot: Slot) -> bool {
        slot.range().any(|at| self.is_live(at))
    }

    fn set_all(&mut self, slot: Slot, live: bool) {
        slot.range().for_each(|at| self.set(at, live));
    }
}

/// Drops what nobody reads, block after block.
pub struct Sweeper {
    live: Live,
}

impl Sweeper {
    /// For a file of so many bytes.
    pub fn new(size: usize) -> Self {
        let live = Live { marks: vec![0; size], now: 0, registers: 0, temporaries: 0, first_temporary: 0 };
        Sweeper { live }
    }

    /// Sweeps a block.
    pub fn sweep(&mut self, nodes: &mut Vec<Node>, labels: usize, boundary: &Boundary) {
        let live = &mut self.live;
        live.start(boundary.temporaries);
        let leave = |live: &mut Live| {
            live.revive_registers();
            for flag in boundary.dead {
                live.set_all(*flag, false);
            }
        };
        leave(live);
        // What is live at each label that a branch further up goes to.
        let mut at_label: Vec<Option<Vec<bool>>> = vec![None; labels];
        let mut wanted = vec![false; labels];
        for node in nodes.iter() {
            if let Kind::Branch(label) = node.kind {
                wanted[label] = true;
            }
        }
        let mut keep = vec![true; nodes.len()];
        for (index, node) in nodes.iter().enumerate().rev() {
            match node.kind {
                Kind::Label(label) => {
                    if wanted[label] {
                        at_label[label] = Some((0..boundary.end).map(|at| live.is_live(at)).collect());
                    }
                    continue;
                }
                Kind::Branch(label) => match &at_label[label] {
                    Some(there) => {
                        let lives = there.iter().enumerate().filter(|(_, lives)| **lives);
                        lives.for_each(|(at, _)| live.set(at, true));
                    }
                    // Backwards: whatever is read up there.
                    None => (0..boundary.end).for_each(|at| live.set(at, true)),
                },
                // The block may end here; flags that are dead at its end are dead on every way out.
                Kind::Jump | Kind::JumpIf(_) => leave(live),
                _ => {}
            }
            let written = node.written();
            if !node.has_effect() && written.is_none_or(|slot| !live.any(slot)) {
                keep[index] = false;
                continue;
            }
            if let Some(written) = written {
                live.set_all(written, false);
            }
            if node.may_stop() {
                let dead = boundary.flags.iter().enumerate().fold(0u64, |dead, (index, flag)| {
                    dead | u64::from(!live.is_live(usize::from(flag.at))) << index
                });
                live.revive_registers();
                for (index, flag) in boundary.flags.iter().enumerate() {
                    if dead >> index & 1 != 0 {
                        live.set_all(*flag, false);
                    }
                }
            }
            node.reads(|slot| live.set_all(slot, true));
        }
        let mut keep = keep.into_iter();
        nodes.retain(|_| keep.next().expect("one per operation"));
    }
}
