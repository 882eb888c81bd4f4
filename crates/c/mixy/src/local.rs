//! What the text of one function shows by itself: pointers that were tested, or followed, shortly before.
//!
//! Inference knows no order of statements, so it warns of `if (p) *p = 1` and of every use of `p` after the first. Both are
//! refuted here without executing anything: a forward analysis keeps, for each point of a function, expressions that are
//! not null there. An expression is a local variable, or what is read through one; it is forgotten when the variable is
//! assigned, or when memory that it may be read from is written. After a dereference the pointer is not null: on the way
//! where it is null the program has gone wrong already, and that place has a warning of its own.
//!
//! Where a value is not null, no null flows on from there either, so that inference knows more in turn: the two take turns
//! until neither does.
//!
//! A test says nothing of an address that was computed from null (`&p->next` where `p` is null): it is not equal to null, and
//! following it goes wrong. Inference says which values may be such addresses, wherever they come from.

use crate::graph::Var;
use crate::region::{Functions, Known, Program};
use parallax_cmodule::{
    BlockId, Callee, Cast, Constant, Function, FunctionId, GlobalId, Operand, Operation, Register, Terminator,
};
use parallax_op::{BinOp, RelOp};
use parallax_points::external::{Effect, effects};
use parallax_points::{ObjectId, ObjectKind, Site, has_body};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// What is not null, by the text around it.
#[derive(Default)]
pub(crate) struct Settled {
    /// What is used where, and is not null there.
    pub uses: FxHashSet<(Site, Var)>,
    /// Parameters that were not null if the function has returned: it follows them whatever it does.
    pub followed: FxHashSet<(FunctionId, u32)>,
}

impl Settled {
    /// How much is known.
    pub fn size(&self) -> usize {
        self.uses.len() + self.followed.len()
    }
}

/// Settles what the text of functions shows, for a program of which less is settled; `near` is what may be an address near null.
///
/// Which values are near null depends on what is settled where they are computed, and what is settled on which are near null. Both
/// hold from one instruction of a run to the next, so the least fixed point is right: it is reached from nothing being near null
/// the first time, and from what was near null with less settled after that.
pub(crate) fn settle(program: &mut Program<'_>, functions: &Functions, near: &mut Known) {
    let before = std::mem::take(&mut program.settled.followed);
    let null = program.inferred(functions).into_known();
    loop {
        program.settled = settled(program, functions, &before, &null, near);
        let found = program.inferred(functions).into_known();
        if !near.add_near(&found) {
            *near = found;
            return;
        }
    }
}

/// What is settled if null reaches no more than this: what it never reaches is not null when it is assigned to a variable, whatever
/// else the variable holds at other times. Some parameters are known to be followed.
fn settled(
    program: &Program<'_>,
    functions: &Functions,
    followed: &FxHashSet<(FunctionId, u32)>,
    null: &Known,
    near: &Known,
) -> Settled {
    let mut settled = Settled::default();
    let ids = (0..program.module.functions.len() as u32).map(FunctionId);
    for id in ids.filter(|&id| has_body(program.module, id)) {
        let function = program.module.function(id);
        let strange = |terminator: &Terminator| matches!(terminator, Terminator::Unsupported(_));
        if !function.blocks.iter().any(|block| strange(&block.terminator)) {
            let inferred = Inferred { null: functions.contains(id).then_some(null), near, followed };
            Body::new(program, inferred, id, function).solve(&mut settled);
        }
    }
    settled
}

/// Number of an expression.
type ExprId = u32;

/// A value that the text names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Expr {
    /// A local variable that nothing points to.
    Slot(u32),
    /// The address of one that something may point to: the register of its `alloca`.
    Stack(Register),
    /// The address of a global.
    Global(GlobalId),
    /// An address so many bytes further.
    Offset(ExprId, i64),
    /// What is read there.
    Load(ExprId),
}

/// Objects that an access may touch; none where that may be any.
type Touched = Option<SmallVec<[ObjectId; 4]>>;
/// Blocks, one before the other, whose tests are looked at for a choice.
const FAR_TESTS: usize = 8;
/// Objects that are told apart: with more, an access touches any.
const MOST_OBJECTS: usize = 64;

/// Expressions that are not null.
type Facts = BTreeSet<ExprId>;
/// Expressions whose value a register holds.
type Held = FxHashMap<Register, SmallVec<[ExprId; 2]>>;

/// What is known at a point of a block. Registers are only followed within it.
#[derive(Clone, Default)]
struct State {
    facts: Facts,
    held: Held,
    /// Registers that are not null.
    sure: FxHashSet<Register>,
    /// Addresses that were computed from another register: null as that one is.
    base: FxHashMap<Register, Register>,
}

/// What inference says.
struct Inferred<'p> {
    /// What may be null, in a function that it looked at.
    null: Option<&'p Known>,
    /// What may be an address that was computed from null.
    near: &'p Known,
    /// Parameters that functions follow.
    followed: &'p FxHashSet<(FunctionId, u32)>,
}

struct Body<'p, 'm> {
    program: &'p Program<'m>,
    inferred: Inferred<'p>,
    id: FunctionId,
    function: &'p Function,
    /// What makes each register.
    made: FxHashMap<Register, &'p Operation>,
    exprs: Vec<Expr>,
    numbers: FxHashMap<Expr, ExprId>,
    /// For each expression, the objects that it may point to: of whatever it is worth in the whole program, and so the same
    /// for every register that holds it.
    targets: Vec<Touched>,
    /// Where each block may be entered from.
    before: Vec<Vec<BlockId>>,
    /// What holds along each edge that was walked.
    edges: FxHashMap<(BlockId, BlockId), Facts>,
    /// What registers held at the end of each block.
    ends: FxHashMap<BlockId, Held>,
}

impl<'p, 'm> Body<'p, 'm> {
    fn new(program: &'p Program<'m>, inferred: Inferred<'p>, id: FunctionId, function: &'p Function) -> Self {
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let made = instructions.filter_map(|i| Some((i.result?, &i.operation))).collect();
        let mut before = vec![Vec::new(); function.blocks.len()];
        for (number, block) in function.blocks.iter().enumerate() {
            let from = BlockId(number as u32);
            for to in block.terminator.successors() {
                if !before[to.0 as usize].contains(&from) {
                    before[to.0 as usize].push(from);
                }
            }
        }
        Body {
            program,
            inferred,
            id,
            function,
            made,
            exprs: Vec::new(),
            numbers: FxHashMap::default(),
            targets: Vec::new(),
            before,
            edges: FxHashMap::default(),
            ends: FxHashMap::default(),
        }
    }

    fn solve(&mut self, settled: &mut Settled) {
        let mut waiting = vec![BlockId(0)];
        while let Some(block) = waiting.pop() {
            let Some(facts) = self.entering(block) else { continue };
            let after = self.walk(block, facts, &mut |_, _| {});
            let Some(after) = after else { continue };
            self.ends.insert(block, after.held.clone());
            for (to, facts) in self.leaving(block, &after) {
                // Facts only go away, so this ends.
                let new = match self.edges.get(&(block, to)) {
                    Some(old) => old & &facts,
                    None => facts,
                };
                if self.edges.get(&(block, to)) != Some(&new) {
                    self.edges.insert((block, to), new);
                    waiting.push(to);
                }
            }
        }
        let mut at_return: Option<Facts> = None;
        let mut chosen: FxHashMap<(Site, Register), bool> = FxHashMap::default();
        for block in (0..self.function.blocks.len() as u32).map(BlockId) {
            let Some(facts) = self.entering(block) else { continue };
            let flows = &self.program.points.flows;
            let id = self.id;
            let after = self.walk(block, facts, &mut |site, register| {
                settled.uses.insert((site, Var(flows.register(id, register).0)));
            });
            if let Some(after) = &after {
                self.choose(block, after, &mut chosen);
            }
            let returns = matches!(self.function.blocks[block.0 as usize].terminator, Terminator::Return(_));
            if let (Some(after), true) = (after, returns) {
                at_return = Some(match at_return {
                    Some(facts) => &facts & &after.facts,
                    None => after.facts,
                });
            }
        }
        let flows = &self.program.points.flows;
        let sure = chosen.into_iter().filter(|(_, sure)| *sure);
        settled.uses.extend(sure.map(|((site, of), _)| (site, Var(flows.register(self.id, of).0))));
        let followed = at_return.unwrap_or_default();
        for (parameter, slot) in self.kept_parameters() {
            if self.numbers.get(&Expr::Slot(slot)).is_some_and(|expr| followed.contains(expr)) {
                settled.followed.insert((self.id, parameter));
            }
        }
    }

    /// Parameters, each with the variable that holds it and nothing else.
    fn kept_parameters(&self) -> Vec<(u32, u32)> {
        let mut stored: FxHashMap<u32, Vec<&Operand>> = FxHashMap::default();
        for instruction in self.function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Operation::SlotStore { slot, value } = &instruction.operation {
                stored.entry(slot.0).or_default().push(value);
            }
        }
        let parameters = self.function.parameters.len() as u32;
        let kept = stored.into_iter().filter_map(|(slot, values)| match values.as_slice() {
            [Operand::Register(register)] if register.0 < parameters => Some((register.0, slot)),
            _ => None,
        });
        kept.collect()
    }

    /// What holds at the start of a block, whichever way leads there; none where no way does.
    fn entering(&self, block: BlockId) -> Option<Facts> {
        if block == BlockId(0) {
            return Some(Facts::new());
        }
        let before = self.before[block.0 as usize].iter();
        let mut all = before.filter_map(|from| self.edges.get(&(*from, block)));
        let first = all.next()?.clone();
        Some(all.fold(first, |facts, other| &facts & other))
    }

    /// Goes through a block; `known` is told what is used and not null. None where its end is not reached.
    fn walk(&mut self, block: BlockId, facts: Facts, known: &mut dyn FnMut(Site, Register)) -> Option<State> {
        let mut state = State { facts, ..State::default() };
        let function = self.function;
        let instructions = &function.blocks[block.0 as usize].instructions;
        for (index, instruction) in instructions.iter().enumerate() {
            let site = Site { function: self.id, block, index: index as u32 };
            for operand in used(&instruction.operation) {
                if let Operand::Register(register) = operand
                    && self.is_sure(&state, operand)
                {
                    known(site, *register);
                }
            }
            self.step(&mut state, site, &instruction.operation, instruction.result)?;
        }
        if let Terminator::Return(Some(operand)) = &function.blocks[block.0 as usize].terminator
            && let Operand::Register(register) = operand
            && self.is_sure(&state, operand)
        {
            // What is returned flows on at the place behind the last instruction.
            known(Site { function: self.id, block, index: instructions.len() as u32 }, *register);
        }
        Some(state)
    }

    fn step(
        &mut self,
        state: &mut State,
        site: Site,
        operation: &Operation,
        result: Option<Register>,
    ) -> Option<()> {
        match operation {
            Operation::SlotLoad { slot } => {
                let expr = self.number(Expr::Slot(slot.0));
                if let Some(result) = result {
                    self.hold(state, result, expr);
                }
            }
            Operation::SlotStore { slot, value } => {
                let expr = self.number(Expr::Slot(slot.0));
                let sure = self.is_sure(state, value);
                self.forget(state, |body, known| body.mentions(known, expr));
                if sure {
                    state.facts.insert(expr);
                }
                if let Operand::Register(register) = value {
                    state.held.entry(*register).or_default().push(expr);
                }
            }
            // Another object each time, where it stands in a loop.
            Operation::Alloca { .. } => {
                if let Some(result) = result {
                    let expr = self.number(Expr::Stack(result));
                    self.forget(state, |body, known| body.mentions(known, expr));
                }
            }
            Operation::Address { base, offset, indices, .. } => {
                let Some(result) = result else { return Some(()) };
                if indices.is_empty()
                    && let Some(base) = self.expressions(state, base).first()
                {
                    let expr = self.number(Expr::Offset(*base, *offset));
                    state.held.entry(result).or_default().push(expr);
                }
                if self.is_sure(state, base) {
                    state.sure.insert(result);
                }
                if let Operand::Register(base) = base {
                    state.base.insert(result, *base);
                }
            }
            Operation::Load { pointer } => {
                self.learn(state, pointer);
                if let (Some(result), Some(&at)) = (result, self.expressions(state, pointer).first()) {
                    let expr = self.number(Expr::Load(at));
                    self.hold(state, result, expr);
                }
            }
            Operation::Store { pointer, value, .. } => {
                self.learn(state, pointer);
                let sure = self.is_sure(state, value);
                let at = self.expressions(state, pointer).first().copied();
                self.written(state, &self.touched(pointer));
                // Where the address itself is read from memory, this may have changed it.
                if let Some(at) = at
                    && !self.reads(at)
                {
                    let expr = self.number(Expr::Load(at));
                    if sure {
                        state.facts.insert(expr);
                    }
                    if let Operand::Register(register) = value {
                        state.held.entry(*register).or_default().push(expr);
                    }
                }
            }
            Operation::Call { callee, arguments } => {
                if let Callee::Pointer(pointer) = callee {
                    self.learn(state, pointer);
                }
                let Program { module, points, declared, returning, .. } = self.program;
                let named = match callee {
                    Callee::Function(id) => Some(*id),
                    _ => None,
                };
                let outside = named.filter(|id| !has_body(module, *id));
                let listed = outside.and_then(|id| effects(&module.function(id).name));
                for (index, argument) in arguments.iter().enumerate() {
                    let followed = listed.is_some_and(|all| all.contains(&Effect::Dereferences(index as u8)));
                    let promised = outside.is_some_and(|id| declared.arguments.contains(&(id, index as u32)));
                    let targets = points.targets(site);
                    let in_each = |id: &FunctionId| self.inferred.followed.contains(&(*id, index as u32));
                    let in_all = !targets.is_empty() && targets.iter().all(in_each);
                    if followed || promised || in_all {
                        self.learn(state, &argument.value);
                    }
                }
                let name = outside.map(|id| module.function(id).name.as_str());
                let quiet = name.is_some_and(|name| {
                    listed.is_some_and(|all| all.iter().all(changes_nothing))
                        || name.starts_with("llvm.expect")
                });
                if !quiet {
                    self.written(state, &None);
                }
                let targets = points.targets(site);
                let returns = targets.is_empty() || targets.iter().any(|id| returning.contains(id));
                if !returns {
                    return None;
                }
            }
            Operation::AtomicUpdate { pointer, .. } | Operation::CompareExchange { pointer, .. } => {
                self.learn(state, pointer);
                self.written(state, &None);
            }
            Operation::VariadicArgument { .. } | Operation::Unsupported(_) => self.written(state, &None),
            _ => {}
        }
        Some(())
    }

    /// Which operands of choices behind a block (`p ? p : q`) are not null where control comes from it: null flows into a choice only
    /// if it may on some way there.
    fn choose(&mut self, block: BlockId, after: &State, chosen: &mut FxHashMap<(Site, Register), bool>) {
        let function = self.function;
        for (to, facts) in self.leaving(block, after) {
            let tested = self.tested_before(block, to);
            let mut here = None;
            for (index, instruction) in function.blocks[to.0 as usize].instructions.iter().enumerate() {
                let Operation::Phi { incoming } = &instruction.operation else { continue };
                let site = Site { function: self.id, block: to, index: index as u32 };
                for (_, value) in incoming.iter().filter(|(from, _)| *from == block) {
                    let Operand::Register(of) = value else { continue };
                    let here = here.get_or_insert_with(|| State { facts: facts.clone(), ..after.clone() });
                    let sure = tested.contains(of) || self.is_sure(here, value);
                    *chosen.entry((site, *of)).or_insert(true) &= sure;
                }
            }
        }
    }

    /// Registers that were tested, and are not null, on every way that leaves a block for another: at its end, and at the ends of
    /// blocks before it from which alone it is entered.
    fn tested_before(&self, mut block: BlockId, mut to: BlockId) -> SmallVec<[Register; 2]> {
        let mut found = SmallVec::new();
        for _ in 0..FAR_TESTS {
            if let Terminator::Branch { condition: Operand::Register(condition), then, otherwise } =
                self.function.blocks[block.0 as usize].terminator
                && then != otherwise
                && let Some((of, null)) = self.tested(condition)
                && null != (to == then)
                && !self.inferred.near.is_near(self.var(of))
            {
                found.push(of);
            }
            let [only] = self.before[block.0 as usize][..] else { break };
            (block, to) = (only, block);
        }
        found
    }

    /// What holds along each way out of a block, those that can be taken.
    fn leaving(&mut self, block: BlockId, after: &State) -> Vec<(BlockId, Facts)> {
        let function = self.function;
        let terminator = &function.blocks[block.0 as usize].terminator;
        if let Terminator::Branch { condition: Operand::Register(condition), then, otherwise } = terminator
            && then != otherwise
        {
            let ways = [(*then, true), (*otherwise, false)];
            let taken = ways.map(|(to, holds)| Some((to, self.assumed(block, after, *condition, holds)?)));
            return taken.into_iter().flatten().collect();
        }
        terminator.successors().into_iter().map(|to| (to, after.facts.clone())).collect()
    }

    /// What holds after a block if its condition came out so; none where no way that was walked so far makes it so.
    fn assumed(&mut self, block: BlockId, after: &State, condition: Register, holds: bool) -> Option<Facts> {
        let mut instructions = self.function.blocks[block.0 as usize].instructions.iter();
        let chosen = instructions.find_map(|instruction| match &instruction.operation {
            Operation::Phi { incoming } if instruction.result == Some(condition) => Some(incoming),
            _ => None,
        });
        let Some(incoming) = chosen else {
            let mut facts = after.facts.clone();
            self.test(&mut facts, &after.held, condition, holds);
            return Some(facts);
        };
        // `a && b` as a value is false where `a` was, and is `b` elsewhere: only that way leads on where it is true.
        let mut all: Option<Facts> = None;
        for (from, value) in incoming {
            let Some(mut facts) = self.edges.get(&(*from, block)).cloned() else { continue };
            match value {
                Operand::Register(value) => {
                    if let Some(held) = self.ends.get(from) {
                        self.test(&mut facts, held, *value, holds);
                    }
                }
                constant if self.constant(constant) == Some(!holds) => continue,
                _ => {}
            }
            let Some(end) = self.walk(block, facts, &mut |_, _| {}) else { continue };
            all = Some(match all {
                Some(all) => &all & &end.facts,
                None => end.facts,
            });
        }
        all
    }

    /// Adds what a condition shows that came out so, registers holding these.
    fn test(&self, facts: &mut Facts, held: &Held, condition: Register, holds: bool) {
        let Some((pointer, null)) = self.tested(condition) else { return };
        if null == holds || self.inferred.near.is_near(self.var(pointer)) {
            return;
        }
        for &expr in held.get(&pointer).into_iter().flatten() {
            // An address so many bytes from null is not null either: that says nothing of what it was computed from.
            if !matches!(self.exprs[expr as usize], Expr::Offset(..)) {
                self.add(facts, expr);
            }
        }
    }

    /// The pointer that a condition is about, and whether it is null where the condition holds.
    fn tested(&self, register: Register) -> Option<(Register, bool)> {
        match self.made.get(&register)? {
            Operation::Compare { op, a, b, .. } => {
                let null = match op {
                    RelOp::Eq => true,
                    RelOp::Ne => false,
                    _ => return None,
                };
                match (a, b) {
                    // `NULL == p` as well as `p == NULL`.
                    (Operand::Register(a), Operand::Constant(id))
                    | (Operand::Constant(id), Operand::Register(a)) => {
                        match self.program.module.constant(*id) {
                            Constant::Null => Some((*a, null)),
                            // A condition that is compared with 0, as `__builtin_expect` leaves it.
                            Constant::Bits(bits) if bits.to_u64() == Some(0) => {
                                let (pointer, inner) = self.tested(*a)?;
                                Some((pointer, inner != null))
                            }
                            _ => None,
                        }
                    }
                    _ => None,
                }
            }
            Operation::Binary { op, a: Operand::Register(a), b }
                if op.op == BinOp::Xor && self.constant(b) == Some(true) =>
            {
                let (pointer, null) = self.tested(*a)?;
                Some((pointer, !null))
            }
            Operation::Cast { op: Cast::ZExt | Cast::SExt, a: Operand::Register(a), .. } => self.tested(*a),
            Operation::Call { callee: Callee::Function(id), arguments } => {
                let expected = self.program.module.function(*id).name.starts_with("llvm.expect");
                match arguments.first().map(|argument| argument.value) {
                    Some(Operand::Register(a)) if expected => self.tested(a),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The truth value that an operand always has.
    fn constant(&self, operand: &Operand) -> Option<bool> {
        let Operand::Constant(id) = operand else { return None };
        match self.program.module.constant(*id) {
            Constant::Bits(bits) if bits.width() == 1 => bits.to_u64().map(|bit| bit == 1),
            _ => None,
        }
    }

    fn number(&mut self, expr: Expr) -> ExprId {
        let next = self.exprs.len() as ExprId;
        let number = *self.numbers.entry(expr).or_insert(next);
        if number == next {
            self.exprs.push(expr);
            let targets = self.pointed_to(expr);
            self.targets.push(targets);
        }
        number
    }

    /// Objects that an expression may point to.
    fn pointed_to(&self, expr: Expr) -> Touched {
        let points = self.program.points;
        match expr {
            Expr::Slot(slot) => {
                few(points.pointees(points.flows.slot(self.id, slot)).map(|(object, _)| object))
            }
            Expr::Stack(register) => {
                few(points.pointees(points.flows.register(self.id, register)).map(|(object, _)| object))
            }
            Expr::Global(global) => few(points.flows.object(ObjectKind::Global(global)).into_iter()),
            Expr::Offset(base, _) => self.targets[base as usize].clone(),
            Expr::Load(at) => {
                let held = self.targets[at as usize].iter().flatten();
                let cells =
                    held.flat_map(|object| points.cells_of(*object).map(|(_, cell)| points.held(cell).2));
                few(cells.flat_map(|node| points.pointees(node).map(|(object, _)| object)))
            }
        }
    }

    /// A register holds what an expression is worth.
    fn hold(&self, state: &mut State, register: Register, expr: ExprId) {
        if self.not_null(&state.facts, expr) {
            state.sure.insert(register);
        }
        state.held.insert(register, smallvec::smallvec![expr]);
    }

    /// Expressions that an operand is worth.
    fn expressions(&mut self, state: &State, operand: &Operand) -> SmallVec<[ExprId; 2]> {
        match operand {
            Operand::Register(register) => match self.made.get(register) {
                Some(Operation::Alloca { .. }) => smallvec::smallvec![self.number(Expr::Stack(*register))],
                _ => state.held.get(register).cloned().unwrap_or_default(),
            },
            Operand::Constant(id) => match *self.program.module.constant(*id) {
                Constant::Global(global, offset) => {
                    let at = self.number(Expr::Global(global));
                    smallvec::smallvec![if offset == 0 { at } else { self.number(Expr::Offset(at, offset)) }]
                }
                _ => SmallVec::new(),
            },
        }
    }

    fn not_null(&self, facts: &Facts, expr: ExprId) -> bool {
        match self.exprs[expr as usize] {
            Expr::Stack(_) | Expr::Global(_) => true,
            Expr::Offset(base, _) => self.not_null(facts, base),
            Expr::Slot(_) | Expr::Load(_) => facts.contains(&expr),
        }
    }

    fn is_sure(&self, state: &State, operand: &Operand) -> bool {
        match operand {
            Operand::Register(register) => {
                let exprs = state.held.get(register);
                state.sure.contains(register)
                    || self.never_null(*register)
                    || exprs.is_some_and(|all| all.iter().any(|expr| self.not_null(&state.facts, *expr)))
                    || state.base.get(register).is_some_and(|base| state.sure.contains(base))
                    || matches!(self.made.get(register), Some(Operation::Alloca { .. }))
            }
            Operand::Constant(id) => {
                matches!(self.program.module.constant(*id), Constant::Global(..) | Constant::Function(_))
            }
        }
    }

    /// Whether inference has no null for a register of a function that it looked at.
    fn never_null(&self, register: Register) -> bool {
        self.inferred.null.is_some_and(|null| !null.is_null(self.var(register)))
    }

    fn var(&self, register: Register) -> Var {
        Var(self.program.points.flows.register(self.id, register).0)
    }

    /// An operand is not null from here on.
    fn learn(&self, state: &mut State, operand: &Operand) {
        let Operand::Register(register) = operand else { return };
        let mut at = Some(*register);
        while let Some(register) = at {
            state.sure.insert(register);
            for expr in state.held.get(&register).cloned().unwrap_or_default() {
                self.add(&mut state.facts, expr);
            }
            at = state.base.get(&register).copied();
        }
    }

    /// An expression is not null: where it is an address, neither is what it was computed from.
    fn add(&self, facts: &mut Facts, expr: ExprId) {
        match self.exprs[expr as usize] {
            Expr::Offset(base, _) => self.add(facts, base),
            Expr::Slot(_) | Expr::Load(_) => {
                facts.insert(expr);
            }
            Expr::Stack(_) | Expr::Global(_) => {}
        }
    }

    /// Forgets expressions whose value is another now.
    fn forget(&self, state: &mut State, gone: impl Fn(&Self, ExprId) -> bool) {
        state.facts.retain(|expr| !gone(self, *expr));
        for exprs in state.held.values_mut() {
            exprs.retain(|expr| !gone(self, *expr));
        }
    }

    /// Memory was written.
    fn written(&self, state: &mut State, touched: &Touched) {
        self.forget(state, |body, expr| body.overwritten(expr, touched));
    }

    /// Whether an expression is, or is computed from, another.
    fn mentions(&self, expr: ExprId, other: ExprId) -> bool {
        expr == other
            || match self.exprs[expr as usize] {
                Expr::Offset(base, _) | Expr::Load(base) => self.mentions(base, other),
                _ => false,
            }
    }

    /// Whether an expression is read from memory.
    fn reads(&self, expr: ExprId) -> bool {
        match self.exprs[expr as usize] {
            Expr::Load(_) => true,
            Expr::Offset(base, _) => self.reads(base),
            _ => false,
        }
    }

    /// Whether an expression is read from what was written.
    fn overwritten(&self, expr: ExprId, touched: &Touched) -> bool {
        match self.exprs[expr as usize] {
            Expr::Offset(base, _) => self.overwritten(base, touched),
            Expr::Load(at) => {
                let apart = match (touched, &self.targets[at as usize]) {
                    (Some(written), Some(read)) => !read.iter().any(|object| written.contains(object)),
                    _ => false,
                };
                !apart || self.overwritten(at, touched)
            }
            Expr::Slot(_) | Expr::Stack(_) | Expr::Global(_) => false,
        }
    }

    /// Objects that an access through a pointer may touch.
    fn touched(&self, pointer: &Operand) -> Touched {
        let points = self.program.points;
        match pointer {
            Operand::Register(register) => {
                few(points.pointees(points.flows.register(self.id, *register)).map(|(object, _)| object))
            }
            Operand::Constant(id) => match *self.program.module.constant(*id) {
                Constant::Global(global, _) => {
                    few(points.flows.object(ObjectKind::Global(global)).into_iter())
                }
                _ => None,
            },
        }
    }
}

/// Objects, each once; none where there are many, and where none is known: then it may be any.
fn few(all: impl Iterator<Item = ObjectId>) -> Touched {
    let mut objects: SmallVec<[ObjectId; 4]> = SmallVec::new();
    for object in all {
        if !objects.contains(&object) {
            objects.push(object);
        }
        if objects.len() > MOST_OBJECTS {
            return None;
        }
    }
    (!objects.is_empty()).then_some(objects)
}

/// Whether a function of the library leaves memory that the program reads pointers from as it is.
fn changes_nothing(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Allocates
            | Effect::AllocatesZeroed
            | Effect::Nullable
            | Effect::Never
            | Effect::ReturnsInto(_)
    )
}

/// Operands that inference may warn about, or null flows on from.
fn used(operation: &Operation) -> SmallVec<[&Operand; 4]> {
    match operation {
        Operation::Load { pointer } => smallvec::smallvec![pointer],
        Operation::Address { base, .. } => smallvec::smallvec![base],
        Operation::Store { pointer, value, .. } => smallvec::smallvec![pointer, value],
        Operation::SlotStore { value, .. } => smallvec::smallvec![value],
        Operation::AtomicUpdate { pointer, .. } | Operation::CompareExchange { pointer, .. } => {
            smallvec::smallvec![pointer]
        }
        Operation::Call { callee, arguments } => {
            let pointer = match callee {
                Callee::Pointer(pointer) => Some(pointer),
                _ => None,
            };
            pointer.into_iter().chain(arguments.iter().map(|argument| &argument.value)).collect()
        }
        _ => SmallVec::new(),
    }
}
