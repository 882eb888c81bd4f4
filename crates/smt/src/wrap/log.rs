//! Every query as SMT-LIB text.

use super::forward;
use crate::{Answer, Solver};
use parallax_term::{Formula, Script};
use std::time::Instant;

/// Hands each query to a sink as a script of its own: with the answer as its status, the time it took in a comment,
/// and `(check-sat)` at its end, for any other solver to repeat.
pub struct Log<S, F> {
    inner: S,
    sink: F,
    number: u64,
}

impl<S, F: FnMut(&str)> Log<S, F> {
    /// Logs queries to `inner`.
    pub fn new(inner: S, sink: F) -> Self {
        Log { inner, sink, number: 0 }
    }
}

impl<'s, S: Solver<'s>, F: FnMut(&str)> Solver<'s> for Log<S, F> {
    forward!(inner);

    fn check(&mut self, query: &[Formula]) -> Answer {
        let start = Instant::now();
        let answer = self.inner.check(query);
        let took = start.elapsed();
        self.number += 1;
        let status = match &answer {
            Answer::Sat(_) => "sat",
            Answer::Unsat => "unsat",
            Answer::Unknown(_) => "unknown",
        };
        let script = query.iter().fold(Script::new(), |script, &formula| script.assert(formula)).check_sat();
        let text = format!(
            "; query {}: {status} after {:.3} ms\n(set-info :status {status})\n{}",
            self.number,
            took.as_secs_f64() * 1e3,
            script.render(self.inner.store()),
        );
        (self.sink)(&text);
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        self.inner.unsat_core()
    }
}
