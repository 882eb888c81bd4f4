//! The meaning of MC over the semantic core: Fig. 4, one function per judgment.
//!
//! Fig. 4 prints the two outcomes of `JZ` exchanged; Example 7 has them right, and so has this.

use crate::{Instruction, MEMORY, Operand, Program, Register, SIZE, WIDTH, ZF};
use parallax_op::{BinOp, Bits, BoolOp, RelOp, Width};
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{ConstantTables, Core, Language, Procedures, Stuck, Successors};
use parallax_term::Store;
use std::rc::Rc;

/// Where data cells lie when addresses are numbers, and how far apart.
const DATA: u32 = 0x10_0000;
const SPACING: u32 = 4;

/// An MC state `(mem, reg, flag)`, and where the named data is.
#[derive(Clone)]
pub struct State<C: Core> {
    mem: C::Map,
    reg: [C::Val; 4],
    flag: C::Bool,
    data: Rc<[C::Val]>,
}

/// R: the value of a register.
fn register<C: Core>(r: Register, state: &State<C>) -> C::Val {
    state.reg[r as usize].clone()
}

fn address<C: Core>(core: &C, base: &C::Val, offset: &Bits) -> C::Val {
    if offset.is_zero() { base.clone() } else { core.binop(BinOp::Add, WIDTH, base, &core.constant(offset)) }
}

/// Where a memory operand is; registers and immediates are nowhere.
fn location<C: Core>(core: &C, operand: &Operand, state: &State<C>) -> Option<C::Val> {
    match operand {
        Operand::Indirect(r, c) => Some(address(core, &register(*r, state), c)),
        Operand::Data(name, c) => Some(address(core, &state.data[*name as usize], c)),
        Operand::Direct(_) | Operand::Immediate(_) => None,
    }
}

/// O: the value of an operand.
fn operand<C: Core>(core: &C, so: &Operand, state: &State<C>) -> C::Val {
    match so {
        Operand::Direct(r) => register(*r, state),
        Operand::Immediate(c) => core.constant(c),
        memory => core.access(&state.mem, &location(core, memory, state).expect("a memory operand")),
    }
}

fn store<C: Core>(core: &C, mut state: State<C>, to: &Operand, value: C::Val) -> State<C> {
    match (to, location(core, to, &state)) {
        (Operand::Direct(r), _) => state.reg[*r as usize] = value,
        (_, Some(location)) => state.mem = core.update(state.mem, &location, value),
        (_, None) => unreachable!("the reader refuses to write to an immediate"),
    }
    state
}

/// `store_eip`: on to the next instruction.
fn store_eip<C: Core>(core: &C, mut state: State<C>) -> State<C> {
    state.reg[Register::Eip as usize] = next(core, &state);
    state
}

fn next<C: Core>(core: &C, state: &State<C>) -> C::Val {
    core.offset(WIDTH, &register(Register::Eip, state), SIZE as u16)
}

/// I: the meaning of an instruction.
fn instruction<C: Core>(core: &C, i: &Instruction, state: State<C>) -> State<C> {
    match i {
        Instruction::Mov(to, so) => {
            let value = operand(core, so, &state);
            // Writing EIP is a jump: nothing is added to it.
            if *to == Operand::Direct(Register::Eip) {
                return store(core, state, to, value);
            }
            store_eip(core, store(core, state, to, value))
        }
        Instruction::Cmp(to, so) => {
            let difference =
                core.binop(BinOp::Sub, WIDTH, &operand(core, to, &state), &operand(core, so, &state));
            let mut state = state;
            state.flag = core.relop(RelOp::Eq, WIDTH, &difference, &core.constant(&Bits::zero(WIDTH)));
            store_eip(core, state)
        }
        Instruction::Xor(to, so) => {
            let value = core.binop(BinOp::Xor, WIDTH, &operand(core, to, &state), &operand(core, so, &state));
            if *to == Operand::Direct(Register::Eip) {
                return store(core, state, to, value);
            }
            store_eip(core, store(core, state, to, value))
        }
        Instruction::Jz(so) => {
            let target = core.cond(WIDTH, &state.flag, &operand(core, so, &state), &next(core, &state));
            store(core, state, &Operand::Direct(Register::Eip), target)
        }
    }
}

impl Program {
    fn index(&self, pc: &Bits) -> Option<usize> {
        let at = pc.to_u64()?.checked_sub(self.base.into())?;
        (at.is_multiple_of(u64::from(SIZE)) && at / u64::from(SIZE) < self.instructions.len() as u64)
            .then_some((at / u64::from(SIZE)) as usize)
    }
}

impl Language for Program {
    type State<C: Core> = State<C>;
    type Control = ();

    fn declare(&self, store: &Store) {
        for r in Register::ALL {
            store.symbol(r.name(), WIDTH);
        }
        store.bool_symbol(ZF);
        for name in &self.data {
            store.address(name, WIDTH, 1);
        }
        store.func_symbol(MEMORY, WIDTH, WIDTH);
    }

    fn state<C: Core>(&self, core: &C, store: &Store, s: &Struct<C>) -> State<C> {
        let scalar = |name: &str| s.lookup_constant(core, store, store.lookup(name).expect("declared"));
        let value = |name: &str| match scalar(name) {
            Scalar::Val(value) => value,
            Scalar::Bool(_) => unreachable!("{name} is a vector"),
        };
        let flag = match scalar(ZF) {
            Scalar::Bool(flag) => flag,
            Scalar::Val(_) => unreachable!("the flag is a truth value"),
        };
        State {
            mem: s.lookup_function(core, store, store.lookup(MEMORY).expect("declared")),
            // The program starts where it lies.
            reg: Register::ALL
                .map(|r| if r == Register::Eip { core.constant(&self.entry()) } else { value(r.name()) }),
            flag,
            data: self.data.iter().map(|name| value(name)).collect(),
        }
    }

    fn structure<C: Core>(&self, _: &C, store: &Store, state: &State<C>) -> Struct<C> {
        let symbol = |name: &str| store.lookup(name).expect("declared");
        let mut s = Struct::new();
        for r in Register::ALL {
            s.set_val(symbol(r.name()), register(r, state));
        }
        s.set_bool(symbol(ZF), state.flag.clone());
        for (name, address) in self.data.iter().zip(state.data.iter()) {
            s.set_val(symbol(name), address.clone());
        }
        s.set_map(symbol(MEMORY), state.mem.clone());
        s
    }

    fn placement(&self, symbol: &str) -> Option<Bits> {
        let index = self.data.iter().position(|name| name == symbol)? as u32;
        Some(Bits::new(WIDTH, (DATA + SPACING * index).into()))
    }

    fn pc_width(&self) -> Width {
        WIDTH
    }

    fn entry(&self) -> Bits {
        Bits::new(WIDTH, self.base.into())
    }

    fn pc<C: Core>(&self, state: &State<C>) -> C::Val {
        register(Register::Eip, state)
    }

    fn at<C: Core>(&self, core: &C, mut state: State<C>, pc: &Bits) -> State<C> {
        state.reg[Register::Eip as usize] = core.constant(pc);
        state
    }

    fn has_instruction(&self, pc: &Bits) -> bool {
        self.index(pc).is_some()
    }

    /// At the start of one of the instructions.
    fn belongs<C: Core>(&self, core: &C, pc: &C::Val) -> C::Bool {
        let number = |value: u32| core.constant(&Bits::new(WIDTH, value.into()));
        let from_start = core.binop(BinOp::Sub, WIDTH, pc, &number(self.base));
        let length = self.instructions.len() as u32 * SIZE;
        let between = core.binop(BinOp::Urem, WIDTH, &from_start, &number(SIZE));
        core.boolop(
            BoolOp::And,
            &core.relop(RelOp::Ult, WIDTH, &from_start, &number(length)),
            &core.relop(RelOp::Eq, WIDTH, &between, &number(0)),
        )
    }

    fn line(&self, pc: &Bits) -> Option<usize> {
        self.index(pc).map(|index| self.lines[index])
    }

    fn step<C: Core>(&self, core: &C, state: State<C>, pc: &Bits) -> Result<State<C>, Stuck> {
        let index = self.index(pc).expect("has an instruction");
        Ok(instruction(core, &self.instructions[index], state))
    }

    fn successors(&self, at: u64) -> Option<Successors> {
        let index = self.index(&Bits::new(WIDTH, at.into()));
        let eip = Operand::Direct(Register::Eip);
        let known = |so: &Operand| match so {
            Operand::Immediate(to) => to.to_u64(),
            _ => None,
        };
        let next = Some(at + u64::from(SIZE));
        let within = match index.map(|index| &self.instructions[index]) {
            None => [None, None],
            Some(Instruction::Jz(so)) => [next, known(so)],
            Some(Instruction::Mov(to, so)) if *to == eip => [None, known(so)],
            Some(Instruction::Xor(to, _)) if *to == eip => [None, None],
            Some(_) => [next, None],
        };
        Some(Successors { within: within.into_iter().flatten().collect(), ..Successors::default() })
    }

    fn control<C: Core>(&self, _: &State<C>) {}

    fn join<C: Core>(&self, core: &C, b: &C::Bool, t: &State<C>, e: &State<C>) -> State<C> {
        State {
            mem: core.cond_map(b, &t.mem, &e.mem),
            reg: std::array::from_fn(|r| core.cond(WIDTH, b, &t.reg[r], &e.reg[r])),
            flag: core.cond_bool(b, &t.flag, &e.flag),
            data: t.data.clone(),
        }
    }
}

impl Procedures for Program {}

impl ConstantTables for Program {}
