//! Where ways through a method part and come together: its joins and loops, and which variables are read from there on.
//!
//! A compiler gives instructions in an order in which what comes together lies after what parted, but for the jumps back
//! of loops. So the state that is least far is the one to run, if others are to be met where ways come together.

use crate::code::{Code, Instr, Kind};

/// What is known of the ways through a method.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// First and last instruction of each loop, the outer before the inner: where a jump goes back to, and from where.
    loops: Vec<(usize, usize)>,
    /// For each instruction that jumps lead to: which variables are read before they are written.
    live: Vec<Option<Variables>>,
}

/// A set of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Variables(Vec<u64>);

impl Variables {
    fn has(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    fn add(&mut self, n: usize) {
        if self.0.len() <= n / 64 {
            self.0.resize(n / 64 + 1, 0);
        }
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: usize) {
        if let Some(word) = self.0.get_mut(n / 64) {
            *word &= !(1 << (n % 64));
        }
    }

    fn extend(&mut self, other: &Variables) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

impl Instr {
    /// Where it may jump to.
    fn targets(&self) -> Vec<usize> {
        match self {
            Instr::IfZero(_, target)
            | Instr::IfInt(_, target)
            | Instr::IfSame(_, target)
            | Instr::IfNull(_, target)
            | Instr::Goto(target)
            | Instr::Subroutine(target) => vec![*target],
            Instr::Switch(cases, default) => {
                cases.iter().map(|(_, target)| *target).chain([*default]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the instruction after it may be next.
    fn goes_on(&self) -> bool {
        !matches!(self, Instr::Goto(_) | Instr::Switch(..) | Instr::Return(_) | Instr::Throw)
    }
}

impl Flow {
    /// The flow of a method.
    pub fn of(code: &Code) -> Flow {
        let mut loops: Vec<(usize, usize)> = Vec::new();
        let mut join = vec![false; code.instructions.len()];
        for (at, instruction) in code.instructions.iter().enumerate() {
            for target in instruction.targets() {
                if let Some(join) = join.get_mut(target) {
                    *join = true;
                }
                if target <= at {
                    match loops.iter_mut().find(|(first, _)| *first == target) {
                        Some((_, last)) => *last = (*last).max(at),
                        None => loops.push((target, at)),
                    }
                }
            }
        }
        loops.sort_unstable_by_key(|&(first, last)| (first, std::cmp::Reverse(last)));
        let live = live(code);
        let live = live.into_iter().zip(join).map(|(live, join)| join.then_some(live)).collect();
        Flow { loops, live }
    }

    /// Whether ways come together before an instruction.
    pub fn is_join(&self, at: usize) -> bool {
        self.live.get(at).is_some_and(Option::is_some)
    }

    /// Whether a variable is read from a join on.
    pub fn is_live(&self, at: usize, variable: usize) -> bool {
        self.live.get(at).and_then(Option::as_ref).is_none_or(|live| live.has(variable))
    }

    /// The first instructions of the loops around an instruction, the outer before the inner.
    pub fn loops_around(&self, at: usize) -> impl Iterator<Item = usize> {
        let around = self.loops.iter().filter(move |(first, last)| (*first..=*last).contains(&at));
        around.map(|(first, _)| *first)
    }

    /// Whether a loop lies within another, both by their first instructions.
    pub fn is_within(&self, inner: usize, outer: usize) -> bool {
        inner != outer && self.loops_around(inner).any(|first| first == outer)
    }
}

/// Which variables are read before they are written, from each instruction on.
fn live(code: &Code) -> Vec<Variables> {
    let mut live = vec![Variables::default(); code.instructions.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, instruction) in code.instructions.iter().enumerate().rev() {
            let mut now = Variables::default();
            if instruction.goes_on() {
                now.extend(&live[at + 1]);
            }
            for target in instruction.targets() {
                now.extend(&live[target]);
            }
            match instruction {
                Instr::Store(kind, n) => {
                    now.remove((*n).into());
                    if matches!(kind, Kind::Long | Kind::Double) {
                        now.remove(usize::from(*n) + 1);
                    }
                }
                Instr::Load(_, n) | Instr::Increment(n, _) | Instr::SubroutineReturn(n) => {
                    now.add((*n).into());
                }
                _ => {}
            }
            // An exception may leave the range after any part of it.
            for handler in code.handlers.iter().filter(|handler| (handler.start..handler.end).contains(&at)) {
                now.extend(&live[handler.target]);
            }
            // A subroutine returns to where it was called from: whatever is read anywhere counts.
            if matches!(instruction, Instr::SubroutineReturn(_)) {
                (0..code.locals).for_each(|n| now.add(n));
            }
            if now != live[at] {
                live[at] = now;
                changed = true;
            }
        }
    }
    live.pop();
    live
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_op::RelOp;

    /// `for (a = 0; a < b; a++) for (c = 0; c < b; c++) if (c < a) d = c; return d`
    fn nested() -> Flow {
        let load = |n| Instr::Load(Kind::Int, n);
        let store = |n| Instr::Store(Kind::Int, n);
        let less = |target| Instr::IfInt(RelOp::Sge, target);
        let zero = || Instr::Push(crate::code::Constant::Int(0));
        let instructions = vec![
            zero(),
            store(0),
            load(0), // 2: the outer loop
            load(1),
            less(20),
            zero(),
            store(2),
            load(2), // 7: the inner loop
            load(1),
            less(18),
            load(2),
            load(0),
            less(15),
            load(2),
            store(3),
            Instr::Increment(2, 1), // 15: after the condition
            Instr::Goto(7),
            Instr::Nop,
            Instr::Increment(0, 1), // 18: after the inner loop
            Instr::Goto(2),
            load(3), // 20
            Instr::Return(Some(Kind::Int)),
        ];
        Flow::of(&Code { instructions, locals: 4, stack: 2, ..Code::default() })
    }

    #[test]
    fn ways_come_together_where_jumps_lead() {
        let flow = nested();
        let joins: Vec<usize> = (0..22).filter(|at| flow.is_join(*at)).collect();
        assert_eq!(joins, [2, 7, 15, 18, 20]);
        assert_eq!(flow.loops_around(16).collect::<Vec<_>>(), [2, 7]);
        assert_eq!(flow.loops_around(18).collect::<Vec<_>>(), [2]);
        assert_eq!(flow.loops_around(20).count(), 0);
        assert!(flow.is_within(7, 2) && !flow.is_within(2, 7) && !flow.is_within(2, 2));
    }

    #[test]
    fn what_is_written_first_is_not_live() {
        let flow = nested();
        let live = |at| (0..4).filter(|n| flow.is_live(at, *n)).collect::<Vec<_>>();
        assert_eq!(live(2), [0, 1, 3], "the inner counter begins anew");
        assert_eq!(live(15), [0, 1, 2, 3]);
        assert_eq!(live(20), [3]);
    }
}
