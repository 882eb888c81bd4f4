//! What a test leaves behind for the next one in the same JVM: static fields that it writes, and objects that class
//! initialisers made.

use crate::calls::concrete;
use crate::code::{Code, Instr};
use crate::junit::Case;
use crate::library::{Access, Model};
use crate::machine::Task;
use crate::program::{FieldPlace, Program};
use crate::state::{Control, Frame, Slot, State, Then};
use parallax_engines::{Concrete, Machine, Stop};
use parallax_heap::ClassId;
use std::collections::HashSet;

/// Whether the run of a test writes what the program's classes share.
pub(crate) fn writes_shared(task: &Task, case: &Case) -> bool {
    // Of a run that cannot be looked at nothing is known.
    looked_at(task, case).unwrap_or(true)
}

fn looked_at(task: &Task, case: &Case) -> Result<bool, Stop> {
    let mut shared =
        Shared { program: &task.program, made: 0, own: false, shared: HashSet::new(), written: false };
    let arguments = &case.input.objects[1].fields;
    let calls = case.calls.iter().map(|call| (&call.method, &call.arguments));
    let mut state = State::new(Concrete::new(task.program.universe(), &case.input, 0));
    for (method, arguments) in calls.chain([(&task.method, arguments)]) {
        let task = Task { method: method.clone(), traced: false, ..task.unconditioned() };
        let types = &method.signature.parameters;
        state.memory_mut()?.objects[1].fields = types.iter().zip(arguments).map(concrete).collect();
        state = task.walk_on(state, &mut |state| shared.sees(state))?.0;
    }
    Ok(shared.written)
}

struct Shared<'a> {
    program: &'a Program,
    /// Objects that were there before the last instruction.
    made: usize,
    /// Whether it belonged to the initialiser of one of the program's own classes.
    own: bool,
    /// Objects that such initialisers made.
    shared: HashSet<usize>,
    written: bool,
}

impl Shared<'_> {
    fn sees(&mut self, state: &State<Concrete>) -> Result<(), Stop> {
        let made = state.memory()?.objects.len();
        if self.own {
            self.shared.extend(self.made..made);
        }
        self.made = made;
        let initialised = self.initialised(state);
        self.own = !initialised.is_empty();
        if let (Control::Run, Some(frame)) = (&state.control, &state.frame)
            && let Some(code) = &frame.method.code
        {
            self.written |= self.writes(state.memory()?, frame, code, &initialised);
        }
        Ok(())
    }

    /// The program's own classes whose initialisers run.
    fn initialised(&self, state: &State<Concrete>) -> Vec<ClassId> {
        if state.initialising == 0 {
            return Vec::new();
        }
        let frames = state.callers.newest_first().chain(&state.frame);
        let class = |frame: &Frame<Concrete>| match frame.then {
            Then::Initialised(class) => Some(class),
            _ => None,
        };
        frames.filter_map(class).filter(|class| self.program.class(*class).own).collect()
    }

    /// Whether the instruction that comes next writes what was there before the run.
    fn writes(
        &self,
        memory: &Concrete,
        frame: &Frame<Concrete>,
        code: &Code,
        initialised: &[ClassId],
    ) -> bool {
        let shared = |from_top: usize| {
            let slot = frame.stack.len().checked_sub(from_top).map(|at| &frame.stack[at]);
            let Some(Slot::Ref(Some(at))) = slot else { return false };
            // A string only remembers its hash code.
            let text = &*self.program.class(memory.objects[*at].class).name == "java/lang/String";
            initialised.is_empty() && !text && self.shared.contains(at)
        };
        match code.instructions.get(frame.next) {
            Some(Instr::PutStatic(member)) => match self.program.field(member) {
                // An initialiser may write the fields of its own class.
                Ok(FieldPlace::Static(class, ..)) => {
                    self.program.class(class).own && !initialised.contains(&class)
                }
                _ => false,
            },
            Some(Instr::PutField(_)) => shared(2),
            Some(Instr::ArrayStore(_)) => shared(3),
            Some(Instr::Invoke(_, member, _)) => {
                match self.program.resolve(member).ok().and_then(|method| method.model) {
                    Some(Model::ArrayCopy | Model::Unsafe(Access::Put)) => shared(3),
                    Some(Model::Unsafe(Access::CompareAndSet)) => shared(4),
                    _ => false,
                }
            }
            _ => false,
        }
    }
}
