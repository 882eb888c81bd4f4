//! The meaning of PL over the semantic core: Fig. 3 and section 6, one function per judgment.

use crate::reader::LARGEST;
use crate::syntax::{Expression, Instruction, Node, Place, Program, Size, Variable};
use crate::{STORE, WIDTH};
use parallax_op::{Bits, BoolOp, RelOp, Width};
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{ConstantTables, Core, Language, Procedures, Stuck};
use parallax_term::Store;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where globals start when addresses are numbers, and how far they lie apart.
const GLOBALS: u64 = 0x1000;
const SPACING: u64 = 4;
/// Where objects made at run time start.
const OBJECTS: u64 = 0x1000_0000;

/// A PL state: environment, store, program counter, and the activation records of pending calls.
#[derive(Clone)]
pub struct State<C: Core> {
    env: Rc<[C::Val]>,
    store: C::Map,
    pc: C::Val,
    records: Vec<Record<C>>,
    /// The record of the call that has just returned, until its result is collected.
    returned: Option<Record<C>>,
    made: BTreeMap<u32, u32>,
}

#[derive(Clone)]
struct Record<C: Core> {
    site: u32,
    number: u32,
    base: C::Val,
}

/// Pending calls (their site, and which execution of the site) and how many objects each site has made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Control {
    records: Vec<(u32, u32)>,
    returned: Option<(u32, u32)>,
    made: BTreeMap<u32, u32>,
}

/// The site that stands for a caller nobody knows.
const FORMAL: u32 = u32::MAX;

fn variable_address<C: Core>(core: &C, variable: Variable, state: &State<C>) -> C::Val {
    match variable {
        Variable::Global(index) => state.env[index as usize].clone(),
        Variable::Local(offset) => {
            let record = state.records.last().expect("locals are only named inside procedures");
            core.offset(WIDTH, &record.base, offset as u16)
        }
    }
}

/// The value of a node of an expression: E or B.
enum Meaning<C: Core> {
    Val(C::Val),
    Bool(C::Bool),
}

/// E and B: the meanings of an expression's nodes, in order.
fn nodes<C: Core>(core: &C, e: &Expression, state: &State<C>) -> Vec<Meaning<C>> {
    use Meaning::{Bool, Val};
    let mut done: Vec<Meaning<C>> = Vec::with_capacity(e.nodes.len());
    for node in &e.nodes {
        let v = |id: &u32| match &done[*id as usize] {
            Val(value) => value,
            Bool(_) => unreachable!("the reader puts numbers where numbers belong"),
        };
        let b = |id: &u32| match &done[*id as usize] {
            Bool(value) => value,
            Val(_) => unreachable!("the reader puts truth values where they belong"),
        };
        let meaning = match node {
            Node::Const(c) => Val(core.constant(c)),
            Node::Variable(i) => Val(core.access(&state.store, &variable_address(core, *i, state))),
            Node::Address(i) => Val(variable_address(core, *i, state)),
            Node::Deref(e) => Val(core.access(&state.store, v(e))),
            Node::Un(op, e) => Val(core.unop(*op, WIDTH, v(e))),
            Node::Bin(op, e1, e2) => Val(core.binop(*op, WIDTH, v(e1), v(e2))),
            Node::Cond(be, e1, e2) => Val(core.cond(WIDTH, b(be), v(e1), v(e2))),
            Node::FromTruth(be) => Val(core.bool_to_val(WIDTH, b(be))),
            Node::Truth(value) => Bool(core.boolean(*value)),
            Node::Rel(op, e1, e2) => Bool(core.relop(*op, WIDTH, v(e1), v(e2))),
            Node::Not(be) => Bool(core.not(b(be))),
            Node::Connective(op, be1, be2) => Bool(core.boolop(*op, b(be1), b(be2))),
            Node::ToTruth(e) => Bool(core.val_to_bool(WIDTH, v(e))),
        };
        done.push(meaning);
    }
    done
}

/// E: the value of an expression.
pub fn expression<C: Core>(core: &C, e: &Expression, state: &State<C>) -> C::Val {
    match nodes(core, e, state).pop() {
        Some(Meaning::Val(value)) => value,
        _ => unreachable!("the reader made this a number"),
    }
}

/// A condition is an expression that the reader made a truth value.
pub type Condition = Expression;

/// B: the truth of a condition.
pub fn condition<C: Core>(core: &C, e: &Condition, state: &State<C>) -> C::Bool {
    match nodes(core, e, state).pop() {
        Some(Meaning::Bool(value)) => value,
        _ => unreachable!("the reader made this a truth value"),
    }
}

fn place<C: Core>(core: &C, place: &Place, state: &State<C>) -> C::Val {
    match place {
        Place::Variable(variable) => variable_address(core, *variable, state),
        Place::Deref(address) => expression(core, address, state),
    }
}

/// Whether an object can have as many cells.
fn is_size<C: Core>(core: &C, cells: &C::Val) -> C::Bool {
    let least = core.constant(&Bits::new(WIDTH, 1));
    let most = core.constant(&Bits::new(WIDTH, LARGEST.into()));
    let enough = core.relop(RelOp::Ule, WIDTH, &least, cells);
    core.boolop(BoolOp::And, &enough, &core.relop(RelOp::Ule, WIDTH, cells, &most))
}

fn assign<C: Core>(core: &C, mut state: State<C>, address: &C::Val, value: C::Val) -> State<C> {
    state.store = core.update(state.store, address, value);
    state
}

impl Program {
    fn object_name(&self, site: u32, number: u32) -> String {
        match &self.instructions[site as usize] {
            Instruction::Call { procedure, .. } => {
                format!("{}@{}.{number}", self.procedures[*procedure as usize].name, self.base + site)
            }
            _ => format!("new@{}.{number}", self.base + site),
        }
    }

    /// The site and the number in the name of an object that this program makes.
    fn object(&self, name: &str) -> Option<(u32, u32)> {
        let (_, at) = name.rsplit_once('@')?;
        let (site, number) = at.split_once('.')?;
        let site = site.parse::<u32>().ok()?.checked_sub(self.base)?;
        Some((site, number.parse().ok()?))
    }

    /// Where the object that a site makes at its `number`th execution goes when addresses are numbers.
    fn object_placement(&self, site: u32, number: u32) -> Option<Bits> {
        let index = self.sites.binary_search(&site).ok()? as u64;
        let slot = u64::from(number).checked_mul(self.sites.len() as u64)?.checked_add(index)?;
        let address = slot.checked_mul(LARGEST)?.checked_add(OBJECTS)?;
        (address + LARGEST <= 1 << WIDTH).then(|| Bits::new(WIDTH, address.into()))
    }

    fn extent(&self, site: u32) -> u64 {
        match &self.instructions[site as usize] {
            Instruction::Call { procedure, .. } => u64::from(self.procedures[*procedure as usize].cells) * 4,
            Instruction::Malloc(_, Size::Cells(cells)) => *cells,
            Instruction::Malloc(_, Size::Given(_)) => LARGEST,
            _ => 1,
        }
    }

    /// The largest number of an object that a site has addresses for.
    fn last_number(&self, site: u32) -> u32 {
        let room = ((1 << WIDTH) - OBJECTS) / LARGEST / self.sites.len().max(1) as u64;
        let fits = |number: &u32| self.object_placement(site, *number).is_some();
        (0..=u32::try_from(room).unwrap_or(u32::MAX)).rev().find(fits).unwrap_or(0)
    }

    /// Makes the next object of a site: its number and its address.
    fn make<C: Core>(&self, core: &C, state: &mut State<C>, site: u32) -> Result<(u32, C::Val), Stuck> {
        let counter = state.made.entry(site).or_default();
        let number = *counter;
        let placement = self.object_placement(site, number).ok_or_else(|| {
            Stuck::unknown(format!("no addresses are left after {number} objects of one site"))
        })?;
        let (name, extent) = (self.object_name(site, number), self.extent(site));
        if core.objects_per_site() == Some(number) {
            let last =
                self.object_placement(site, self.last_number(site)).unwrap_or_else(|| placement.clone());
            return Ok((number, core.some_address(&name, extent, &placement, &last)));
        }
        *counter += 1;
        Ok((number, core.address(&name, extent, &placement)))
    }

    /// The program counter of an instruction.
    fn pc_bits(&self, at: u32) -> Bits {
        Bits::new(WIDTH, (self.base + at).into())
    }

    /// The instruction at a program counter, as far as there is one.
    fn index(&self, pc: &Bits) -> Option<usize> {
        let at = pc.to_u64()?.checked_sub(self.base.into())?;
        (at < self.instructions.len() as u64).then_some(at as usize)
    }

    fn formal_name(&self, procedure: usize) -> String {
        format!("{}@formal{}", self.procedures[procedure].name, self.base)
    }
}

impl Language for Program {
    type State<C: Core> = State<C>;
    type Control = Control;

    fn declare(&self, store: &Store) {
        store.func_symbol(STORE, WIDTH, WIDTH);
        for name in &self.globals {
            store.address(name, WIDTH, 1);
        }
    }

    fn state<C: Core>(&self, core: &C, store: &Store, s: &Struct<C>) -> State<C> {
        let constant =
            |name: &str| match s.lookup_constant(core, store, store.lookup(name).expect("declared")) {
                Scalar::Val(value) => value,
                Scalar::Bool(_) => unreachable!("{name} is a vector"),
            };
        State {
            env: self.globals.iter().map(|name| constant(name)).collect(),
            store: s.lookup_function(core, store, store.lookup(STORE).expect("declared")),
            pc: core.constant(&self.entry()),
            records: Vec::new(),
            returned: None,
            made: BTreeMap::new(),
        }
    }

    fn structure<C: Core>(&self, _: &C, store: &Store, state: &State<C>) -> Struct<C> {
        let mut s = Struct::new();
        for (name, address) in self.globals.iter().zip(state.env.iter()) {
            s.set_val(store.lookup(name).expect("declared"), address.clone());
        }
        s.set_map(store.lookup(STORE).expect("declared"), state.store.clone());
        s
    }

    fn placement(&self, symbol: &str) -> Option<Bits> {
        if let Some(index) = self.global(symbol) {
            return Some(Bits::new(WIDTH, u128::from(GLOBALS + SPACING * u64::from(index))));
        }
        let (site, number) = self.object(symbol)?;
        self.object_placement(site, number)
    }

    fn pc_width(&self) -> Width {
        WIDTH
    }

    fn entry(&self) -> Bits {
        self.pc_bits(0)
    }

    fn pc<C: Core>(&self, state: &State<C>) -> C::Val {
        state.pc.clone()
    }

    fn at<C: Core>(&self, core: &C, mut state: State<C>, pc: &Bits) -> State<C> {
        state.pc = core.constant(pc);
        state
    }

    fn has_instruction(&self, pc: &Bits) -> bool {
        self.index(pc).is_some()
    }

    fn belongs<C: Core>(&self, core: &C, pc: &C::Val) -> C::Bool {
        let length = Bits::new(WIDTH, self.instructions.len() as u128);
        core.lies_within(WIDTH, pc, &self.pc_bits(0), &length)
    }

    fn line(&self, pc: &Bits) -> Option<usize> {
        self.lines.get(self.index(pc)?).copied()
    }

    /// I: the meaning of an instruction. What does not jump goes on with the next.
    fn step<C: Core>(&self, core: &C, mut state: State<C>, pc: &Bits) -> Result<State<C>, Stuck> {
        let site = self.index(pc).expect("has an instruction") as u32;
        let to = |at: u32| core.constant(&self.pc_bits(at));
        let next = to(site + 1);
        match &self.instructions[site as usize] {
            Instruction::Assign(target, e) => {
                let (address, value) = (place(core, target, &state), expression(core, e, &state));
                state = assign(core, state, &address, value);
                state.pc = next;
            }
            Instruction::Branch(be, t, e) => {
                let taken = condition(core, be, &state);
                state.pc = core.cond(WIDTH, &taken, &to(*t), &to(*e));
            }
            Instruction::Goto(target) => state.pc = to(*target),
            Instruction::Malloc(target, size) => {
                let address = place(core, target, &state);
                let possible = match size {
                    Size::Cells(_) => None,
                    Size::Given(e) => Some(is_size(core, &expression(core, e, &state))),
                };
                let (_, mut object) = self.make(core, &mut state, site)?;
                if let Some(possible) = possible {
                    object = core.cond(WIDTH, &possible, &object, &core.constant(&Bits::zero(WIDTH)));
                }
                state = assign(core, state, &address, object);
                state.pc = next;
            }
            Instruction::Call { procedure, arguments } => {
                let values: Vec<C::Val> = arguments.iter().map(|e| expression(core, e, &state)).collect();
                let (number, base) = self.make(core, &mut state, site)?;
                for (index, value) in values.into_iter().enumerate() {
                    let cell = core.offset(WIDTH, &base, 4 * (index as u16 + 1));
                    state = assign(core, state, &cell, value);
                }
                state.records.push(Record { site, number, base });
                state.pc = to(self.procedures[*procedure as usize].entry);
            }
            Instruction::Return(e) => {
                let value = expression(core, e, &state);
                let record = state.records.pop().expect("procedures are entered by calls");
                state = assign(core, state, &record.base, value);
                // A caller nobody knows is past the end.
                let back =
                    if record.site == FORMAL { self.instructions.len() as u32 } else { record.site + 1 };
                state.pc = to(back);
                state.returned = Some(record);
            }
            Instruction::Collect(target) => {
                let record = state.returned.take().expect("only a return leads here");
                if let Some(target) = target {
                    let address = place(core, target, &state);
                    let value = core.access(&state.store, &record.base);
                    state = assign(core, state, &address, value);
                }
                state.pc = next;
            }
            Instruction::Halt => state.pc = to(self.instructions.len() as u32),
        }
        Ok(state)
    }

    fn control<C: Core>(&self, state: &State<C>) -> Control {
        let name = |record: &Record<C>| (record.site, record.number);
        Control {
            records: state.records.iter().map(name).collect(),
            returned: state.returned.as_ref().map(name),
            made: state.made.clone(),
        }
    }

    fn join<C: Core>(&self, core: &C, b: &C::Bool, t: &State<C>, e: &State<C>) -> State<C> {
        State {
            env: t.env.clone(),
            store: core.cond_map(b, &t.store, &e.store),
            pc: core.cond(WIDTH, b, &t.pc, &e.pc),
            records: t.records.clone(),
            returned: t.returned.clone(),
            made: t.made.clone(),
        }
    }
}

impl Procedures for Program {
    fn callee(&self, pc: &Bits) -> Option<usize> {
        match &self.instructions[self.index(pc)?] {
            Instruction::Call { procedure, .. } => Some(*procedure as usize),
            _ => None,
        }
    }

    fn formal<C: Core>(
        &self,
        core: &C,
        store: &Store,
        s: &Struct<C>,
        procedure: usize,
    ) -> Option<(String, State<C>)> {
        let mut state = self.state(core, store, s);
        let name = self.formal_name(procedure);
        // Past every object: a record of no site.
        let placement = Bits::new(WIDTH, u128::from(OBJECTS - LARGEST));
        let base = core.address(&name, u64::from(self.procedures[procedure].cells) * 4, &placement);
        state.records.push(Record { site: FORMAL, number: 0, base });
        state.pc = core.constant(&self.pc_bits(self.procedures[procedure].entry));
        Some((name, state))
    }

    fn record<C: Core>(&self, state: &State<C>) -> Option<C::Val> {
        state.records.last().map(|record| record.base.clone())
    }

    fn resume<C: Core>(
        &self,
        core: &C,
        store: &Store,
        called: &State<C>,
        after: &Struct<C>,
        made: &Control,
    ) -> Option<State<C>> {
        let mut state = called.clone();
        let record = state.records.pop()?;
        state.store = after.lookup_function(core, store, store.lookup(STORE)?);
        for (site, count) in &made.made {
            *state.made.entry(*site).or_default() += count;
        }
        state.pc = core.constant(&self.pc_bits(record.site + 1));
        state.returned = Some(record);
        Some(state)
    }

    fn renamed<C: Core>(&self, core: &C, object: &str, called: &State<C>) -> Option<C::Val> {
        let (site, number) = self.object(object)?;
        let number = number + called.made.get(&site).copied().unwrap_or(0);
        let placement = self.object_placement(site, number)?;
        Some(core.address(&self.object_name(site, number), self.extent(site), &placement))
    }
}

impl ConstantTables for Program {}
