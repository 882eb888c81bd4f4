//! How a path ends: what is counted, kept and proved then.

use super::search::{PathEnd, PathRecord, Search};
use super::unknown::UnknownMemory;
use crate::place::written;
use parallax_cmachine::{Output, State, Stop, Value};
use parallax_path::{Bound, Premise};
use parallax_sem::Symbolic;
use parallax_term::Term;

impl<'s> Search<'s, '_> {
    /// A state does not go on.
    pub(super) fn settle(&mut self, state: &State<Symbolic<'s>>, stop: Stop<Symbolic<'s>>) {
        let everywhere = self.machine.host.oracle.store.true_();
        match stop {
            Stop::Exit(status) => {
                self.paths += 1;
                self.machine.host.prove(state, everywhere);
                self.machine.host.ledger.reach_end();
                if self.settings.leaks {
                    for (object, lost) in crate::leak::leaked(&mut self.machine, state) {
                        self.machine.host.leak(state, object, lost);
                    }
                }
                if self.settings.tests {
                    self.record(state, status);
                }
            }
            Stop::Dead if self.machine.host.reported => {
                self.paths += 1;
                self.machine.host.prove(state, everywhere);
                let host = &self.machine.host;
                match host.excused {
                    true => host.ledger.exclude(Premise::new("the contracts that were found out")),
                    false => host.ledger.reach_end(),
                }
            }
            Stop::Dead => self.justify(state),
            Stop::Excluded => {
                let place = self.place(state).unwrap_or_default();
                self.machine.host.ledger.exclude(Premise::new(format!("what is assumed at {place}")));
            }
            Stop::Bound(bound) => self.note(bound),
            Stop::Unsupported(words) => {
                let place = self.place(state);
                self.machine.host.ledger.note_at(Bound::Unsupported(words), place);
            }
        }
    }

    /// A path that ends without a report, a bound or an assumption is one that cannot be. Where that is not so, something
    /// was left out, and the answer must not look complete.
    fn justify(&mut self, state: &State<Symbolic<'s>>) {
        if self.machine.host.noted {
            return;
        }
        let host = &self.machine.host;
        match state.path.sat(&host.oracle, host.oracle.store.true_()) {
            Ok(None) => {}
            Ok(Some(_)) => {
                let bound = Bound::Missing("nothing that could happen next was found".into());
                host.ledger.note_at(bound, self.place(state));
            }
            Err(reason) => self.note(Bound::Solver(reason)),
        }
    }

    fn place(&self, state: &State<Symbolic<'s>>) -> Option<String> {
        let module = self.machine.module;
        written(module, state.user_location(module).1)
    }

    /// Keeps a path that ends with a status.
    fn record(&mut self, state: &State<Symbolic<'s>>, status: Option<Value<Symbolic<'s>>>) {
        let host = &mut self.machine.host;
        let Some(model) = host.model(&state.path, &[]) else { return };
        let status = match &status {
            Some(Value::Bits(term)) => Some(*term),
            _ => None,
        };
        let output: Vec<Output<Term>> = state
            .output
            .to_vec()
            .into_iter()
            .filter(|(file, _)| *file == 1)
            .map(|(_, piece)| piece.clone())
            .collect();
        let byte = |term: Term| host.value_in(&model, term).to_u128().unwrap_or(0) as u8;
        self.records.push(PathRecord {
            input: host.input_of(state, &model),
            end: PathEnd::Exit(status.map_or(0, byte)),
            stdout: output
                .iter()
                .flat_map(|piece| piece.bytes(|&term| host.value_in(&model, term)))
                .collect(),
            decisions: state.events.to_vec().into_iter().copied().collect(),
            conditions: state.path.formulas(),
            values: state.inputs.to_vec().into_iter().map(|(_, _, term)| *term).collect(),
            output,
            status,
            unknown: UnknownMemory::of(host.store, self.machine.module, state),
        });
    }
}
