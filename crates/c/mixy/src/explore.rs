//! A symbolic block: the explorer entered with the qualifiers of its cells, and the two switches.

use crate::declared::Mode;
use crate::finding::{Finding, FlowPath, Status, Step, Where, used_at};
use crate::footprint::Footprint;
use crate::graph::Var;
use crate::host::BlockHost;
use crate::leaves::{Leaf, leaves};
use crate::left_null::left_null;
use crate::mix::{Actual, Conflict, Context, Mistake, Mixer, Outcome, typed};
use crate::names::site_location;
use crate::region::Functions;
use crate::world::{World, delivers, is_open, prints, returns_twice, whole, writes_through};
use parallax_cexplore::explore::Explorer;
use parallax_cmachine::{
    Anything, Fill, GlobalStart, HavocCell, Kind, Machine, ObjectId, Oracle, Origin, PendingCall, Raw,
    Reporter, State, Stop, Target, Value,
};
use parallax_cmodule::{DebugTypeId, FunctionId, GlobalId, Module, Operand, Register, TypeKind};
use parallax_path::{Bound, Frontier, Split, Strategy};
use parallax_points::external::{Effect, effects, is_plain};
use parallax_points::flow::carries;
use parallax_points::{ANYWHERE, ObjectId as Abstract, Site, has_body};
use parallax_sem::Symbolic;
use parallax_term::{Formula, Term};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

type Sym<'s> = Symbolic<'s>;
type Engine<'s> = Machine<'s, Sym<'s>, BlockHost<'s>>;

impl<'m> Mixer<'m> {
    /// Executes a block symbolically: every path, each with what it leaves null. `start` is the start of the program.
    pub(crate) fn explore(
        &mut self,
        function: FunctionId,
        context: &Context,
        start: bool,
    ) -> (Outcome, usize) {
        let mut outcome = Outcome::default();
        let program = self.program;
        let name = program.module.function(function).name.clone();
        let inner =
            Explorer::new(self.store, program.module, self.exploring, parallax_smt::solver(self.store));
        let machine = Machine::new(program.module, inner);
        let unresolved: BTreeSet<String> = machine.unresolved().into_iter().map(str::to_string).collect();
        let inner = machine.host;
        let answered = (0..program.module.functions.len() as u32)
            .map(FunctionId)
            .filter(|&id| match has_body(program.module, id) {
                true => self.mode(id, Mode::Symbolic) == Mode::Typed,
                false => {
                    unresolved.contains(&program.module.function(id).name) || is_open(program.module, id)
                }
            })
            .collect();
        let makers = self.makers.clone();
        let own =
            self.footprints.through(function, |callee| self.mode(callee, Mode::Symbolic) != Mode::Typed);
        let named = named(program.module, &own.functions);
        let world = World::of(program.module, &named);
        let named = match start {
            true => (0..program.module.globals.len() as u32).map(GlobalId).collect(),
            false => named,
        };
        let mut bits = context.bits.clone();
        if start {
            // Nothing calls the start with what constants hold.
            let initial = program.sources(&Functions::All, true).into_iter();
            bits.extend(initial.filter(|source| source.site.is_none()).map(|source| source.var));
        }
        let host = BlockHost::new(
            inner,
            program,
            makers,
            function,
            context.actuals.clone(),
            bits,
            own,
            named,
            answered,
            self.near_uses.clone(),
            self.plant,
        );
        let mut machine: Engine<'m> = Machine::new(program.module, host);
        if context.near {
            let words = "what it is entered with may be an address that was computed from null".into();
            machine.host.bounded(Bound::Unsupported(words));
        }
        let mut lowest = usize::MAX;
        let mut frontier = Frontier::new(Strategy::Depth, 1);
        if let Some(words) = &world.strange {
            machine.host.bounded(Bound::Unsupported(words.clone()));
        }
        let mut block = Block {
            mixer: self,
            outcome: &mut outcome,
            lowest: &mut lowest,
            function,
            start,
            world,
            near: false,
        };
        if start && !program.around.is_empty() {
            let words = "functions that run before or after the program".into();
            machine.host.bounded(Bound::Unsupported(words));
        }
        match block.enter(&mut machine, function) {
            Ok(_) if context.near => {}
            Ok(state) => {
                frontier.push(state, true);
                block.run(&mut machine, &mut frontier);
            }
            Err(Stop::Unsupported(words)) => machine.host.bounded(Bound::Unsupported(words)),
            Err(Stop::Bound(bound)) => machine.host.bounded(bound),
            Err(_) => {}
        }
        let whole = whole(machine.host.inner.ledger.clone().close(&frontier));
        for (kind, site) in std::mem::take(&mut machine.host.problems) {
            let words = format!("{} is executed symbolically", program.module.function(site.function).name);
            let location = site_location(program.module, site);
            outcome.findings.push(Finding {
                kind,
                found_by: Where::Symbolic,
                site,
                sink: site,
                status: Status::Possible(format!("a path through {name} shows it, from unknown memory")),
                subject: "a pointer".into(),
                paths: vec![FlowPath {
                    origin: None,
                    steps: vec![Step { function: Some(site.function), location, words }],
                    plain: false,
                }],
                contexts: BTreeSet::from([describe_context(context)]),
                witness: None,
            });
        }
        outcome.findings.extend(self.stored_in(&machine.host.own.functions));
        if let Err(why) = whole {
            outcome.gaps.insert(format!("{name} could not be explored to the end: {why}"));
            if self.demoted.insert(function) {
                self.restart_wanted = true;
            }
        }
        (outcome, lowest)
    }
}

/// The ways of a conflict, each with the place where null is used: the finding is at the call, and this is somewhere below.
fn ending(module: &Module, conflict: &Conflict) -> Vec<FlowPath> {
    let last = used_at(module, conflict.kind, conflict.site);
    let mut paths = conflict.paths.clone();
    if paths.is_empty() {
        paths.push(FlowPath { origin: None, steps: Vec::new(), plain: false });
    }
    paths.iter_mut().for_each(|path| path.steps.push(last.clone()));
    paths
}

/// Globals that functions name, or that the initialisers of such globals do.
fn named(module: &Module, functions: &FxHashSet<FunctionId>) -> FxHashSet<GlobalId> {
    let operands = functions.iter().flat_map(|id| module.function(*id).operands());
    let mut constants: Vec<_> = operands.filter_map(Operand::constant).collect();
    let mut found = FxHashSet::default();
    while !constants.is_empty() {
        for global in module.named_by(std::mem::take(&mut constants)).globals {
            if found.insert(global) {
                constants.extend(module.global(global).initialiser);
            }
        }
    }
    found
}

fn describe_context(context: &Context) -> String {
    let null: Vec<String> = context
        .actuals
        .iter()
        .enumerate()
        .filter(|(_, a)| a.null)
        .map(|(i, _)| format!("{}", i + 1))
        .collect();
    format!("null arguments: [{}], null cells: {}", null.join(" "), context.bits.len())
}

/// One exploration.
struct Block<'b, 'm> {
    mixer: &'b mut Mixer<'m>,
    outcome: &'b mut Outcome,
    lowest: &'b mut usize,
    function: FunctionId,
    start: bool,
    world: World,
    /// Whether something that was asked about may be an address that was computed from null.
    near: bool,
}

impl<'m> Block<'_, 'm> {
    fn enter(
        &mut self,
        machine: &mut Engine<'m>,
        function: FunctionId,
    ) -> Result<State<Sym<'m>>, Stop<Sym<'m>>> {
        let mut state = machine.start()?;
        // Only what the block can name is unknown; the start of the program knows its initialisers.
        let start = self.start;
        let apart: Vec<bool> = (0..self.mixer.program.module.globals.len() as u32)
            .map(|id| start || machine.host.is_apart(ObjectId(id)))
            .collect();
        machine.unknown_memory(&mut state, &mut |global| match apart[global.0 as usize] {
            true => GlobalStart::Apart,
            false => GlobalStart::Unknown,
        });
        self.world_changes(machine, &mut state)?;
        let values = machine.unknown_arguments(&mut state, function)?;
        machine.begin(&mut state, function, values)?;
        Ok(state)
    }

    fn run(&mut self, machine: &mut Engine<'m>, frontier: &mut Frontier<State<Sym<'m>>>) {
        let budget = self.mixer.budget;
        let started = Instant::now();
        let end = started.checked_add(budget.time);
        let end = end.into_iter().chain(self.mixer.trial).min();
        machine.host.inner.oracle.set_deadline(end);
        let mut paths = 0;
        'states: while let Some(mut state) = frontier.pick() {
            loop {
                let bound = if state.steps >= budget.steps {
                    Some(Bound::Steps(budget.steps))
                } else if state.frames.len() > budget.depth {
                    Some(Bound::Unsupported(format!("{} nested calls", budget.depth)))
                } else if state.visits.values().any(|&count| count > budget.loops) {
                    Some(Bound::Loops(budget.loops))
                } else {
                    None
                };
                if let Some(bound) = bound {
                    machine.host.bounded(bound);
                    break;
                }
                if paths >= budget.paths {
                    machine.host.bounded(Bound::Paths(budget.paths));
                    break 'states;
                }
                if end.is_some_and(|end| Instant::now() > end) {
                    machine.host.bounded(Bound::Time(budget.time));
                    break 'states;
                }
                let stepped = machine.step(&mut state);
                let stepped = match (stepped, machine.pending.take()) {
                    (Ok(()), Some(call)) => self.answer(machine, &mut state, call),
                    (stepped, _) => stepped,
                };
                let is_over = stepped.is_err();
                if let Err(stop) = stepped {
                    self.ended(machine, &mut state, stop, &mut paths);
                }
                // What is asked at a switch may split states too.
                while let Some((mut other, stop)) = machine.stopped.pop() {
                    self.ended(machine, &mut other, stop, &mut paths);
                }
                for fork in machine.forks.drain(..) {
                    frontier.push(fork, false);
                }
                if is_over {
                    break;
                }
            }
        }
        if let Some(summary) = self.mixer.summaries.get_mut(&(self.function, Mode::Symbolic)) {
            summary.paths += paths;
        }
    }

    /// A path ends.
    fn ended(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        stop: Stop<Sym<'m>>,
        paths: &mut u64,
    ) {
        *paths += 1;
        match stop {
            // With frames left, the program ended inside: nothing comes back to typed code.
            Stop::Exit(value) => {
                if state.frames.is_empty() && state.exits.status.is_some() {
                    self.returned(machine, state, value);
                }
            }
            Stop::Dead | Stop::Excluded => {}
            Stop::Bound(bound) => machine.host.bounded(bound),
            Stop::Unsupported(words) => machine.host.bounded(Bound::Unsupported(words)),
        }
    }

    /// Whether a pointer may be null on a path, or an address that was computed from null, in one of the variables that it is
    /// going to be in.
    fn may_be_null(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        value: &Value<Sym<'m>>,
        exists: Option<Formula>,
        vars: &[Var],
    ) -> bool {
        if moved_from_null(machine, value) && vars.iter().any(|&var| self.mixer.may_hold_near(var)) {
            self.near = true;
            return true;
        }
        if let Value::Pointer(pointer) = value {
            if let Some(Target::Token(id)) = pointer.only().map(|entry| entry.target) {
                let token = &state.tokens[id.0 as usize];
                if token.entries.is_empty() {
                    let Some(null) = token.null else {
                        return !token.nonnull && machine.host.info(state, token).null;
                    };
                    let asked = exists.map_or(null, |exists| self.mixer.store.and(exists, null));
                    return matches!(machine.host.split(&state.path, &asked), Split::True | Split::Both);
                }
            }
            let harmless = |target: &Target| matches!(target, Target::Object(_) | Target::Function(_));
            if pointer.entries.iter().all(|entry| harmless(&entry.target)) {
                return false;
            }
        }
        if matches!(value, Value::Many(_)) {
            return true;
        }
        let Ok(null) = machine.is_null(state, value) else { return true };
        let asked = match exists {
            Some(exists) => self.mixer.store.and(exists, null),
            None => null,
        };
        matches!(machine.host.split(&state.path, &asked), Split::True | Split::Both)
    }

    /// The type and the size of what an object holds.
    fn shape(&self, state: &State<Sym<'m>>, id: ObjectId) -> (Option<DebugTypeId>, u64) {
        let module = self.mixer.program.module;
        let object = state.memory.object(id);
        let known = state.input_objects.iter().chain(state.private_inputs.iter()).find(|o| o.object == id);
        let ty = match known {
            Some(known) => known.ty,
            None => object.variable.and_then(|v| module.variables[v.0 as usize].ty),
        };
        (ty, object.capacity)
    }

    /// What a leaf holds: nothing yet, or a value; `None` for what cannot be told.
    fn held(&self, machine: &Engine<'m>, state: &State<Sym<'m>>, id: ObjectId, leaf: &Leaf) -> Held<'m> {
        let content = &state.memory.object(id).content;
        if content.log.is_some() {
            return Held::Unclear;
        }
        if content.first_missing(leaf.at, leaf.len).is_some() {
            return match content.fill {
                Fill::Zero => Held::Zero,
                Fill::Undefined => Held::Nothing,
                Fill::Input(_) => Held::Unread,
            };
        }
        match content.read(&machine.host, leaf.at, leaf.len) {
            Raw::Value(value) => Held::Value(value),
            Raw::Parts(_) => Held::Unclear,
        }
    }

    /// A call that is answered here: typed code, or code that is not there.
    fn answer(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        call: PendingCall<Sym<'m>>,
    ) -> Result<(), Stop<Sym<'m>>> {
        let program = self.mixer.program;
        let target = call.function;
        if !has_body(program.module, target) {
            return self.external(machine, state, call);
        }
        let context = self.abstracted(machine, state, &call);
        let (out, low) = self.mixer.block(target, Mode::Typed, context);
        if out.near {
            let name = &program.module.function(target).name;
            let words = format!("{name} may leave an address that was computed from null");
            machine.host.bounded(Bound::Unsupported(words));
        }
        *self.lowest = (*self.lowest).min(low);
        self.outcome.findings.extend(out.findings.iter().cloned());
        self.outcome.gaps.extend(out.gaps.iter().cloned());
        self.outcome.assumptions.extend(out.assumptions.iter().cloned());
        let site = machine.host.site(state);
        for conflict in &out.conflicts {
            let Some(site) = site else { continue };
            if conflict.own {
                self.outcome.findings.push(typed(conflict.clone()));
                continue;
            }
            self.outcome.findings.push(Finding {
                kind: conflict.kind,
                found_by: Where::Symbolic,
                site,
                sink: conflict.site,
                status: Status::Possible("typed code that is called here has it".into()),
                subject: conflict.subject.clone(),
                paths: ending(program.module, conflict),
                contexts: BTreeSet::new(),
                witness: None,
            });
        }
        if !out.conflicts.is_empty() && self.mixer.planted(Mistake::CutAtConflict) {
            return Err(Stop::Dead);
        }
        if !program.returning.contains(&target) {
            return Err(Stop::Dead);
        }
        let footprint = self.mixer.footprints.of(target);
        let name = program.module.function(target).name.as_str();
        self.havoc(machine, state, name, footprint, &out.nulls)?;
        let result = self.result(machine, state, &call, out.result)?;
        machine.answer(state, call, result);
        Ok(())
    }

    /// What a call returns that was not executed.
    fn result(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        call: &PendingCall<Sym<'m>>,
        null: bool,
    ) -> Result<Option<Value<Sym<'m>>>, Stop<Sym<'m>>> {
        let program = self.mixer.program;
        let definition = program.module.function(call.function);
        let Some(register) = call.result else { return Ok(None) };
        let layout = program.module.ty(definition.result);
        let content = match layout.kind {
            TypeKind::Void => return Ok(None),
            TypeKind::Pointer => {
                let ty = definition.signature.first().copied().flatten();
                let ty = parallax_cmachine::strip(program.module, ty);
                let pointee = ty.and_then(|t| match program.module.debug_types[t.0 as usize] {
                    parallax_cmodule::DebugType::Pointer(pointee) => pointee,
                    _ => None,
                });
                Anything::Pointer { pointee, nonnull: false }
            }
            TypeKind::Int(width) if width % 8 == 0 => Anything::Number(u64::from(width) / 8),
            TypeKind::Float(_) => Anything::Number(layout.store_size),
            _ => return Err(Stop::Unsupported(format!("the result of {}", definition.name))),
        };
        let name = self.fresh_name(&definition.name);
        let caller = state.frame().function;
        let node = program.points.flows.register(caller, register);
        let points = program.points.pointees(node).collect();
        machine.host.left.insert(name.clone(), Actual { null, points });
        Ok(Some(machine.havoc_value(state, content, &name)))
    }

    fn fresh_name(&mut self, of: &str) -> String {
        self.mixer.names += 1;
        format!("{of}#{}", self.mixer.names)
    }

    /// A function without a body and without a model.
    fn external(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        call: PendingCall<Sym<'m>>,
    ) -> Result<(), Stop<Sym<'m>>> {
        let module = self.mixer.program.module;
        let name = module.function(call.function).name.clone();
        let listed = effects(&name);
        if listed.unwrap_or_default().contains(&Effect::Never) {
            return Err(Stop::Dead);
        }
        if module.function(state.frame().function).library {
            return Err(Stop::Unsupported(format!("{name}, which the library calls, asks the world")));
        }
        if delivers(&name) {
            return Err(Stop::Unsupported(format!("{name} may run handlers of signals")));
        }
        if writes_through(&name) || (self.world.counts && prints(&name)) {
            return Err(Stop::Unsupported(format!("{name} writes what is not its argument")));
        }
        for effect in listed.unwrap_or_default() {
            if let Effect::Dereferences(index) = effect
                && let Some(value) = call.arguments.get(usize::from(*index))
            {
                self.followed(machine, state, value)?;
            }
        }
        if listed.is_none() && !is_plain(&name) {
            self.outcome.assumptions.insert(format!(
                "{name} has no body here: assumed that it returns what is not null and leaves no null behind"
            ));
        }
        if returns_twice(&name) {
            return Err(Stop::Unsupported(format!("{name} returns a second time")));
        }
        if let Some(site) = machine.host.site(state) {
            let back = self.mixer.program.points.targets(site);
            if back.iter().any(|&id| has_body(self.mixer.program.module, id)) {
                return Err(Stop::Unsupported(format!("{name} calls functions of the program")));
            }
            let footprint = Rc::new(self.mixer.footprints.of_call(site));
            self.near = false;
            let left = self.left_null(machine, state, listed.unwrap_or_default(), &footprint, site);
            if self.near {
                let words = format!("{name} may change an address that was computed from null");
                machine.host.bounded(Bound::Unsupported(words));
            }
            self.havoc(machine, state, &name, footprint, &left)?;
        }
        let null = listed.unwrap_or_default().contains(&Effect::Nullable);
        let result = self.result(machine, state, &call, null)?;
        machine.answer(state, call, result);
        Ok(())
    }

    /// Code that is not executed follows a pointer: an error where it is null, and the end of that way.
    fn followed(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        value: &Value<Sym<'m>>,
    ) -> Result<(), Stop<Sym<'m>>> {
        let null = machine.is_null(state, value)?;
        let possible = matches!(machine.host.split(&state.path, &null), Split::True | Split::Both);
        let near = moved_from_null(machine, value);
        machine.host.follows_null(state, possible, near);
        let fine = self.mixer.store.not(null);
        machine.assume(state, &fine)
    }

    /// Code that is not executed may have changed what the library keeps.
    fn world_changes(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
    ) -> Result<(), Stop<Sym<'m>>> {
        let numbers = std::mem::take(&mut self.world.numbers);
        let cells = numbers.iter().map(|&(object, bytes)| HavocCell {
            object,
            at: 0,
            content: Anything::Number(bytes),
            name: self.fresh_name("a number of the library"),
        });
        let cells: Vec<HavocCell> = cells.collect();
        self.world.numbers = numbers;
        machine.havoc(state, &cells)
    }

    /// What may be null after a call of the library, of what it may change: what may have been before, and what it sets.
    fn left_null(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        listed: &[Effect],
        footprint: &Footprint,
        site: Site,
    ) -> BTreeSet<Var> {
        let program = self.mixer.program;
        let mut left = self.null_cells(machine, state, footprint);
        left.retain(|cell| footprint.changed.contains(cell));
        if let Some(call) = self.mixer.call_at(site) {
            let cells = left_null(program.module, program.points, site, call, listed);
            left.extend(cells.into_iter().map(|cell| program.graph.cell(cell)));
        }
        left
    }

    /// Symbolic to typed, at a call: what may be null of what the callee may touch.
    fn abstracted(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        call: &PendingCall<Sym<'m>>,
    ) -> Context {
        let program = self.mixer.program;
        let mut context = Context::default();
        self.near = false;
        let parameters = &program.module.function(call.function).parameters;
        for (index, value) in call.arguments.iter().enumerate() {
            let pointer = parameters.get(index).is_some_and(|p| {
                matches!(program.module.ty(p.ty).kind, TypeKind::Pointer) && p.by_value.is_none()
            });
            // A number may be a pointer that typed code made a number of: null, if any is.
            let node = program.points.flows.register(call.function, Register(index as u32));
            let word = index < parameters.len() && !pointer && self.mixer.may_hold_null(Var(node.0));
            // What was null for a declared parameter was reported, and is not so on the rest of the path.
            let null = word || pointer && self.may_be_null(machine, state, value, None, &[Var(node.0)]);
            context.actuals.push(Actual { null, points: Vec::new() });
        }
        let footprint = self.mixer.footprints.of(call.function);
        context.bits = self.null_cells(machine, state, &footprint);
        context.near = self.near;
        context
    }

    /// Cells of a footprint that may be null now.
    fn null_cells(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        footprint: &Footprint,
    ) -> BTreeSet<Var> {
        let program = self.mixer.program;
        let mut bits: BTreeSet<Var> = BTreeSet::new();
        let mut known: BTreeSet<Abstract> = BTreeSet::new();
        let ids: Vec<ObjectId> = state.memory.objects().map(|(id, _)| id).collect();
        for id in ids {
            let stands = machine.host.stands_for(state, id);
            if stands.is_empty() || state.memory.object(id).read_only || machine.host.is_apart(id) {
                continue;
            }
            let relevant = stands.iter().any(|a| {
                program.points.cells_of(*a).any(|(_, c)| footprint.cells.contains(&program.graph.cell(c)))
            });
            if !relevant {
                continue;
            }
            if (id.0 as usize) < program.module.globals.len() {
                known.extend(&stands);
            }
            let exists = state.input_objects.iter().find(|o| o.object == id).map(|o| o.exists);
            let (ty, bytes) = self.shape(state, id);
            let Some(all) = leaves(program.module, ty, bytes) else {
                // Too large to look at: everything that the bits allow may be null.
                continue;
            };
            for leaf in all.iter().filter(|leaf| leaf.pointer.is_some()) {
                let cells: Vec<_> = stands
                    .iter()
                    .filter_map(|a| machine.host.cell(*a, leaf.at))
                    .filter(|cell| footprint.cells.contains(cell))
                    .collect();
                if cells.is_empty() {
                    continue;
                }
                match self.held(machine, state, id, leaf) {
                    Held::Unread => {
                        if !self.mixer.planted(Mistake::UnreadNotPassed) {
                            bits.extend(
                                cells.into_iter().filter(|&cell| machine.host.unseen_null(state, cell)),
                            );
                        }
                    }
                    Held::Nothing => {}
                    Held::Zero | Held::Unclear => bits.extend(cells),
                    Held::Value(value) => {
                        if self.may_be_null(machine, state, &value, exists, &cells) {
                            bits.extend(cells);
                        }
                    }
                }
            }
        }
        if !self.mixer.planted(Mistake::UndiscoveredNotPassed) {
            for &cell in &footprint.cells {
                let Some(id) = program.graph.as_cell(program.points, cell) else { continue };
                let object = program.points.held(id).0;
                if !known.contains(&object) && machine.host.unseen_null(state, cell) {
                    bits.insert(cell);
                }
            }
        }
        bits.extend(self.mixer.zeros_in(&footprint.cells));
        bits
    }

    /// After a call that is not executed, of what has this name: what it may have changed is unknown.
    fn havoc(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        called: &str,
        footprint: Rc<Footprint>,
        nulls: &BTreeSet<Var>,
    ) -> Result<(), Stop<Sym<'m>>> {
        if self.mixer.planted(Mistake::NoHavoc) {
            return Ok(());
        }
        self.world_changes(machine, state)?;
        let program = self.mixer.program;
        let mut cells = Vec::new();
        let ids: Vec<ObjectId> = state.memory.objects().map(|(id, _)| id).collect();
        for id in ids {
            let object = state.memory.object(id);
            let gone = machine.host.truth(&object.alive) == Some(false);
            if object.read_only || gone || machine.host.is_apart(id) {
                continue;
            }
            let stands = machine.host.stands_for(state, id);
            let everything: Vec<Abstract> =
                stands.iter().copied().filter(|a| footprint.written.contains(&(*a, ANYWHERE))).collect();
            let touched = stands.iter().any(|a| footprint.written.iter().any(|(o, _)| o == a));
            if !touched {
                continue;
            }
            let (ty, bytes) = self.shape(state, id);
            let Some(all) = leaves(program.module, ty, bytes) else {
                return Err(Stop::Unsupported(
                    "an object with too many parts is changed by typed code".into(),
                ));
            };
            if state.memory.object(id).content.log.is_some() {
                return Err(Stop::Unsupported(
                    "an array written at unknown places is changed by typed code".into(),
                ));
            }
            for leaf in all {
                let classes = stands.iter().filter(|a| {
                    let class = program.points.class(program.module, **a, leaf.at as i64) & !7;
                    everything.contains(a) || footprint.written.contains(&(**a, class))
                });
                let changed: Vec<Abstract> = classes.copied().collect();
                if changed.is_empty() {
                    continue;
                }
                let name = self.fresh_name(called);
                let content = match leaf.pointer {
                    None => Anything::Number(leaf.len),
                    Some(pointee) => {
                        let mut info = Actual::default();
                        for a in &stands {
                            let Some(cell) = program.points.cell(program.module, *a, leaf.at as i64) else {
                                continue;
                            };
                            info.null |= nulls.contains(&program.graph.cell(cell));
                            info.points.extend(program.points.pointees(program.points.held(cell).2));
                        }
                        info.null &= !self.mixer.planted(Mistake::HavocNeverNull);
                        machine.host.left.insert(name.clone(), info);
                        Anything::Pointer { pointee, nonnull: false }
                    }
                };
                cells.push(HavocCell { object: id, at: leaf.at, content, name });
            }
        }
        machine.havoc(state, &cells)?;
        // A pointer that nobody uses marks the states that this call happened in.
        let name = self.fresh_name("a call of");
        machine.host.calls.insert(name.clone(), (footprint, Rc::new(nulls.clone())));
        machine.havoc_value(state, Anything::Pointer { pointee: None, nonnull: false }, &name);
        Ok(())
    }

    /// Symbolic to typed, at return: cells that the block changed and that may be null.
    fn returned(
        &mut self,
        machine: &mut Engine<'m>,
        state: &mut State<Sym<'m>>,
        value: Option<Value<Sym<'m>>>,
    ) {
        let program = self.mixer.program;
        self.near = false;
        let result = program.module.function(self.function).result;
        if let Some(value) = &value {
            let returned = Var(program.points.flows.result(self.function).0);
            self.outcome.result |= match program.module.ty(result).kind {
                TypeKind::Pointer => self.may_be_null(machine, state, value, None, &[returned]),
                // What is returned in other forms, as a number or with others, is null where inference says that it may be.
                _ => carries(program.module, result),
            };
        }
        let footprint = self.mixer.footprints.of(self.function);
        let globals = program.module.globals.len() as u32;
        let ids: Vec<ObjectId> = state.memory.objects().map(|(id, _)| id).collect();
        let mut known: BTreeSet<Abstract> = BTreeSet::new();
        for id in ids {
            let object = state.memory.object(id);
            let ignored = object.kind == Kind::Heap && self.mixer.planted(Mistake::ZeroedNotWritten);
            let apart = machine.host.is_apart(id);
            if object.read_only || matches!(object.kind, Kind::Stack(_)) || ignored || apart {
                continue;
            }
            let stands = machine.host.stands_for(state, id);
            if id.0 < globals {
                known.extend(&stands);
            }
            if stands.is_empty() || !stands.iter().any(|a| footprint.objects.contains(a)) {
                continue;
            }
            let exists = state.input_objects.iter().find(|o| o.object == id).map(|o| o.exists);
            let (ty, bytes) = self.shape(state, id);
            let Some(all) = leaves(program.module, ty, bytes) else {
                machine.host.bounded(Bound::Unsupported("an object with too many parts".into()));
                continue;
            };
            for leaf in all.iter().filter(|leaf| leaf.pointer.is_some()) {
                let mut cells: Vec<_> =
                    stands.iter().filter_map(|a| machine.host.cell(*a, leaf.at)).collect();
                if self.mixer.planted(Mistake::OneOfA) {
                    cells.truncate(1);
                }
                cells.retain(|cell| !self.outcome.nulls.contains(cell));
                if cells.is_empty() {
                    continue;
                }
                let null = match self.held(machine, state, id, leaf) {
                    Held::Unread | Held::Nothing => false,
                    Held::Zero => state.memory.object(id).kind == Kind::Heap,
                    Held::Unclear => true,
                    Held::Value(value) => {
                        !unchanged(state, &value, id, leaf.at)
                            && self.may_be_null(machine, state, &value, exists, &cells)
                    }
                };
                if null {
                    self.outcome.nulls.extend(cells);
                }
            }
        }
        self.outcome.near |= self.near;
        self.outcome.nulls.extend(self.mixer.zeros_in(&footprint.changed));
        if !self.mixer.planted(Mistake::UndiscoveredNotReturned) {
            let left: BTreeSet<_> =
                machine.host.calls_on(state).flat_map(|(_, nulls)| nulls.iter().copied()).collect();
            for cell in left {
                let Some(id) = program.graph.as_cell(program.points, cell) else { continue };
                if !known.contains(&program.points.held(id).0) {
                    self.outcome.nulls.insert(cell);
                }
            }
        }
    }
}

/// Whether a value may be an address that was computed from null.
fn moved_from_null<'m>(machine: &Engine<'m>, value: &Value<Sym<'m>>) -> bool {
    let moved = |offset: &Term| machine.host.value(64, offset).is_none_or(|bits| !bits.is_zero());
    let pointer = match value {
        Value::Pointer(pointer) => pointer,
        // Null that was written as bytes is a number, and so is what is computed from it.
        Value::Bits(number) => return moved(number),
        Value::Part(..) | Value::Many(_) => return true,
    };
    pointer.entries.iter().any(|entry| match entry.target {
        Target::Null | Target::Token(_) => moved(&entry.offset),
        Target::Number => true,
        Target::Object(_) | Target::Function(_) => false,
    })
}

/// What a leaf holds.
enum Held<'s> {
    /// Nobody has looked.
    Unread,
    /// Nothing was ever written.
    Nothing,
    /// Zero, because all of it was made so.
    Zero,
    /// Something that cannot be told.
    Unclear,
    /// This.
    Value(Value<Sym<'s>>),
}

/// Whether a cell holds what it held on entry.
fn unchanged(state: &State<Sym<'_>>, value: &Value<Sym<'_>>, id: ObjectId, at: u64) -> bool {
    let Value::Pointer(pointer) = value else { return false };
    match pointer.only().map(|entry| entry.target) {
        Some(Target::Token(token)) => state.tokens[token.0 as usize].origin == Origin::Cell(id, at),
        _ => false,
    }
}
