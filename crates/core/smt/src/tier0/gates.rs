//! Gates over a SAT solver: each a definition of a new variable, each built once.

use super::transcript::{Step, Transcript, dimacs};
use super::watch::Watch;
use batsat::{Lit, Solver as Sat, SolverInterface, SolverOpts, lbool};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And,
    Xor,
    Mux,
    Majority,
}

/// A circuit in the making, as clauses.
pub(crate) struct Gates {
    sat: Sat<Watch>,
    known: FxHashMap<(Gate, Lit, Lit, Lit), Lit>,
    truth: Lit,
    clause: Vec<Lit>,
    transcript: Option<Transcript>,
}

impl Gates {
    /// No gates; what the solver is told and asked goes into the transcript, if there is one.
    pub fn new(watch: Watch, transcript: Option<Transcript>) -> Self {
        let mut sat = Sat::new(SolverOpts::default(), watch);
        let truth = Lit::new(sat.new_var_default(), true);
        if let Some(transcript) = &transcript {
            transcript.write(Step::New);
        }
        let mut gates = Gates { sat, known: FxHashMap::default(), truth, clause: Vec::new(), transcript };
        gates.clause(&[truth]);
        gates
    }

    pub fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    pub fn as_constant(&self, lit: Lit) -> Option<bool> {
        (lit.var() == self.truth.var()).then_some(lit == self.truth)
    }

    /// A new unknown; the search tries `preferred` first, always, where given.
    pub fn unknown(&mut self, preferred: Option<bool>) -> Lit {
        let preference = match preferred {
            None => lbool::UNDEF,
            Some(value) => lbool::new(value),
        };
        Lit::new(self.sat.new_var(preference, true), true)
    }

    /// How many variables there are.
    pub fn size(&self) -> usize {
        self.sat.num_vars() as usize
    }

    pub fn clause(&mut self, lits: &[Lit]) {
        if let Some(transcript) = &self.transcript {
            transcript.write(Step::Clause(lits.iter().map(|&lit| dimacs(lit)).collect()));
        }
        self.clause.clear();
        self.clause.extend_from_slice(lits);
        self.sat.add_clause_reuse(&mut self.clause);
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            (Some(false), _) | (_, Some(false)) => return self.constant(false),
            _ => {}
        }
        if a == b {
            return a;
        }
        if a == !b {
            return self.constant(false);
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.gate(Gate::And, a, b, a, |gates, g| {
            gates.clause(&[!g, a]);
            gates.clause(&[!g, b]);
            gates.clause(&[g, !a, !b]);
        })
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        if let Some(value) = self.as_constant(a) {
            return b ^ value;
        }
        if let Some(value) = self.as_constant(b) {
            return a ^ value;
        }
        if a.var() == b.var() {
            return self.constant(a != b);
        }
        // Negations come out, so that one gate serves all four.
        let odd = a.sign() == b.sign();
        let (a, b) = (a.apply_sign(a.sign()), b.apply_sign(b.sign()));
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        let gate = self.gate(Gate::Xor, a, b, a, |gates, g| {
            gates.clause(&[!g, a, b]);
            gates.clause(&[!g, !a, !b]);
            gates.clause(&[g, !a, b]);
            gates.clause(&[g, a, !b]);
        });
        gate ^ !odd
    }

    /// `t` where `c` holds, else `e`.
    pub fn mux(&mut self, c: Lit, t: Lit, e: Lit) -> Lit {
        if let Some(value) = self.as_constant(c) {
            return if value { t } else { e };
        }
        if t == e {
            return t;
        }
        let (c, t, e) = if c.sign() { (c, t, e) } else { (!c, e, t) };
        let truth = self.truth;
        if t == truth || t == c {
            return self.or(c, e);
        }
        if t == !truth || t == !c {
            return self.and(!c, e);
        }
        if e == truth || e == !c {
            return self.or(!c, t);
        }
        if e == !truth || e == c {
            return self.and(c, t);
        }
        if t == !e {
            return !self.xor(c, t);
        }
        self.gate(Gate::Mux, c, t, e, |gates, g| {
            gates.clause(&[!c, !t, g]);
            gates.clause(&[!c, t, !g]);
            gates.clause(&[c, !e, g]);
            gates.clause(&[c, e, !g]);
            // Implied, but propagation alone does not see it.
            gates.clause(&[!t, !e, g]);
            gates.clause(&[t, e, !g]);
        })
    }

    /// At least two of three: the carry of an addition, the borrow of a comparison.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        for (x, y, z) in [(a, b, c), (b, c, a), (c, a, b)] {
            match self.as_constant(x) {
                Some(true) => return self.or(y, z),
                Some(false) => return self.and(y, z),
                None => {}
            }
            if x == y {
                return x;
            }
            if x == !y {
                return z;
            }
        }
        let mut sorted = [a, b, c];
        sorted.sort_unstable();
        let [a, b, c] = sorted;
        self.gate(Gate::Majority, a, b, c, |gates, g| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                gates.clause(&[!x, !y, g]);
                gates.clause(&[x, y, !g]);
            }
        })
    }

    /// All of many.
    pub fn all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut lits: Vec<Lit> = lits.into_iter().filter(|&lit| lit != self.truth).collect();
        lits.sort_unstable();
        lits.dedup();
        let contradiction = lits.windows(2).any(|pair| pair[0] == !pair[1]);
        if contradiction || lits.contains(&!self.truth) {
            return self.constant(false);
        }
        match lits[..] {
            [] => self.truth,
            [one] => one,
            [a, b] => self.and(a, b),
            _ => {
                let g = self.unknown(None);
                for &lit in &lits {
                    self.clause(&[!g, lit]);
                }
                for lit in &mut lits {
                    *lit = !*lit;
                }
                lits.push(g);
                self.clause(&lits);
                g
            }
        }
    }

    fn gate(&mut self, gate: Gate, a: Lit, b: Lit, c: Lit, define: impl FnOnce(&mut Self, Lit)) -> Lit {
        if let Some(&known) = self.known.get(&(gate, a, b, c)) {
            return known;
        }
        let output = self.unknown(None);
        define(self, output);
        self.known.insert((gate, a, b, c), output);
        output
    }

    pub fn transcript(&self) -> Option<Transcript> {
        self.transcript.clone()
    }

    pub fn watch(&mut self) -> &mut Watch {
        self.sat.cb_mut()
    }

    /// Whether the clauses can still be satisfied at all, as far as is known.
    pub fn is_consistent(&self) -> bool {
        self.sat.is_ok()
    }

    /// Searches for an assignment under which `assumptions` hold; nothing when the watch stopped it.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        let answer = self.sat.solve_limited(assumptions);
        let answer = if answer == lbool::TRUE {
            Some(true)
        } else if answer == lbool::FALSE {
            Some(false)
        } else {
            None
        };
        if let Some(transcript) = &self.transcript {
            let assumed = assumptions.iter().map(|&lit| dimacs(lit)).collect();
            transcript.write(Step::Ask { assumed, answer });
        }
        answer
    }

    /// The value of a literal in the last assignment found.
    pub fn value(&self, lit: Lit) -> bool {
        self.sat.value_lit(lit) == lbool::TRUE
    }

    /// Whether an assumption had a part in the last failure.
    pub fn failed(&self, assumption: Lit) -> bool {
        // The final clause holds the negations of the assumptions that it refutes.
        self.sat.unsat_core_contains_lit(assumption) || self.sat.unsat_core_contains_lit(!assumption)
    }
}
