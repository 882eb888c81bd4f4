//! The meaning of operations against a plain array of bytes: registers that are parts of others, memory in both byte
//! orders, branches inside an instruction.

use parallax_ir::meaning::{State, Value, exec};
use parallax_ir::{Builder, Instruction, Op, Processor, Register, RegisterKind, Space, Varnode};
use parallax_op::{BinOp, Bits, RelOp, UnOp};
use parallax_sem::{ByteOrder, Concrete};
use proptest::prelude::*;
use std::rc::Rc;

const FILE: u64 = 40;

fn processor(order: ByteOrder) -> Rc<Processor> {
    let register = |name: &str, offset, bytes| Register {
        name: name.to_owned(),
        place: Varnode::register(offset, bytes),
        kind: RegisterKind::Word,
    };
    // Four registers with parts, as processors have them, and the program counter.
    let mut registers = vec![register("PC", 32, 8)];
    for (number, name) in ["A", "B", "C", "D"].into_iter().enumerate() {
        let at = number as u64 * 8;
        registers.push(register(name, at, 8));
        registers.push(register(&format!("{name}4"), at, 4));
        registers.push(register(&format!("{name}2"), at + 2, 2));
        registers.push(register(&format!("{name}1"), at + 1, 1));
    }
    Rc::new(Processor::new("bytes", order, 8, Varnode::register(32, 8), registers, Vec::new()))
}

/// The model: the register file and 64 bytes of memory, and temporaries.
#[derive(Clone)]
struct Model {
    order: ByteOrder,
    file: Vec<u8>,
    temporaries: Vec<u8>,
    memory: Vec<u8>,
}

impl Model {
    fn number(&self, bytes: &[u8]) -> u128 {
        let ordered: Vec<u8> = match self.order {
            ByteOrder::Little => bytes.iter().rev().copied().collect(),
            ByteOrder::Big => bytes.to_vec(),
        };
        ordered.into_iter().fold(0, |sum, byte| sum << 8 | u128::from(byte))
    }

    fn bytes(&self, value: u128, count: u16) -> Vec<u8> {
        let little: Vec<u8> = (0..count).map(|i| (value >> (8 * i)) as u8).collect();
        match self.order {
            ByteOrder::Little => little,
            ByteOrder::Big => little.into_iter().rev().collect(),
        }
    }

    fn read(&self, place: Varnode) -> u128 {
        let range = place.offset as usize..place.end() as usize;
        match place.space {
            Space::Constant => place.offset.into(),
            Space::Register => self.number(&self.file[range]),
            Space::Temporary => self.number(&self.temporaries[range]),
        }
    }

    fn write(&mut self, place: Varnode, value: u128) {
        let bytes = self.bytes(value, place.bytes);
        let range = place.offset as usize..place.end() as usize;
        match place.space {
            Space::Constant => unreachable!("nobody writes to a constant"),
            Space::Register => self.file[range].copy_from_slice(&bytes),
            Space::Temporary => self.temporaries[range].copy_from_slice(&bytes),
        }
    }

    fn bits(&self, place: Varnode) -> Bits {
        Bits::new(place.width(), self.read(place))
    }

    fn run(&mut self, instruction: &Instruction) {
        let mut index = 0;
        while let Some(op) = instruction.ops.get(index) {
            index += 1;
            let whole = |bits: Bits| bits.to_u128().expect("at most 64 bits");
            match op {
                Op::Copy { out, a } => self.write(*out, self.read(*a)),
                Op::Un { op, out, a } => self.write(*out, whole(op.apply(&self.bits(*a)))),
                Op::Bin { op, out, a, b } => {
                    self.write(*out, whole(op.apply(&self.bits(*a), &self.bits(*b))))
                }
                Op::Rel { op, out, a, b } => {
                    self.write(*out, op.apply(&self.bits(*a), &self.bits(*b)).into())
                }
                Op::Zext { out, a } => self.write(*out, self.read(*a)),
                Op::Sext { out, a } => {
                    let (value, width) = (self.read(*a), a.width());
                    let sign = value >> (width - 1) & 1;
                    self.write(*out, if sign == 1 { value | u128::MAX << width } else { value });
                }
                Op::Extract { out, a, low } => self.write(*out, self.read(*a) >> low),
                Op::Select { out, when, then, otherwise } => {
                    let chosen = if self.read(*when) == 0 { otherwise } else { then };
                    self.write(*out, self.read(*chosen));
                }
                Op::Load { out, address } => {
                    let at = self.read(*address) as usize;
                    let value = self.number(&self.memory[at..at + usize::from(out.bytes)]);
                    self.write(*out, value);
                }
                Op::Store { address, value } => {
                    let at = self.read(*address) as usize;
                    let bytes = self.bytes(self.read(*value), value.bytes);
                    self.memory[at..at + bytes.len()].copy_from_slice(&bytes);
                }
                Op::Branch { when, to } => {
                    if when.is_none_or(|when| self.read(when) != 0) {
                        index = usize::from(*to);
                    }
                }
                other => panic!("not made by this test: {other:?}"),
            }
        }
    }
}

/// A register or a part of one, of this many bytes.
fn place(bytes: u16, number: u8) -> Varnode {
    let base = u64::from(number & 3) * 8;
    let inner = match bytes {
        8 => 0,
        4 => 0,
        2 => 2,
        _ => 1,
    };
    Varnode::register(base + inner, bytes)
}

/// One operation from numbers.
fn push(builder: &mut Builder, (kind, size, a, b, c): (u8, u8, u8, u8, u8)) {
    let bytes = [1u16, 2, 4, 8][usize::from(size & 3)];
    let (x, y, out) = (place(bytes, a), place(bytes, b), place(bytes, c));
    let choose = |count: usize| usize::from(a ^ b.rotate_left(3) ^ c.rotate_left(5)) % count;
    match kind % 9 {
        0 | 1 => {
            let made = builder.bin(BinOp::ALL[choose(BinOp::ALL.len())], x, y);
            builder.copy(out, made);
        }
        2 => {
            let made = builder.un(UnOp::ALL[choose(UnOp::ALL.len())], x);
            builder.copy(out, made);
        }
        3 => {
            let truth = builder.rel(RelOp::ALL[choose(RelOp::ALL.len())], x, y);
            builder.copy(place(1, c), truth);
        }
        4 => {
            let part = builder.sext(place(2, a), 8);
            let other = builder.zext(place(1, b), 8);
            let sum = builder.bin(BinOp::Add, part, other);
            builder.copy(place(8, c), sum);
        }
        5 => {
            let part = builder.extract(place(8, a), u16::from(b % 5) * 8, 4);
            builder.copy(place(4, c), part);
        }
        6 => {
            let address = builder.bin_constant(BinOp::And, place(8, a), 31);
            builder.store(address, y);
        }
        7 => {
            let address = builder.bin_constant(BinOp::And, place(8, b), 31);
            let loaded = builder.load(address, bytes);
            builder.copy(out, loaded);
        }
        _ => {
            // Skips an assignment where two parts are in order.
            let when = builder.rel(RelOp::Ult, x, y);
            let behind = builder.label();
            builder.branch(Some(when), behind);
            builder.copy(out, y);
            builder.place(behind);
            let chosen = builder.select(when, x, out);
            builder.copy(place(bytes, c.wrapping_add(1)), chosen);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn operations_are_what_they_are_on_bytes(
        operations in prop::collection::vec(any::<(u8, u8, u8, u8, u8)>(), 1..14),
        start in any::<[u8; 32]>(),
        big in any::<bool>(),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let processor = processor(order);
        let mut builder = Builder::new();
        for operation in operations {
            push(&mut builder, operation);
        }
        let instruction = builder.finish(0x1000, 4, "random".to_owned());
        let mut file = vec![0; FILE as usize];
        file[..32].copy_from_slice(&start);
        let temporaries = vec![0; usize::from(instruction.temporary_bytes)];
        let mut model = Model { order, file, temporaries, memory: vec![0; 64] };
        let mut state = State::identity(&Concrete, &processor);
        for index in 0..processor.cells.len() {
            let value = model.bits(processor.cells[index].place);
            state.set_cell(index, Value::Word(value));
        }
        model.run(&instruction);
        let state = exec(&Concrete, &instruction, state).expect("it has a meaning");
        for register in &processor.registers {
            let found = state.read(&Concrete, register.place).expect("it is one").word(&Concrete, register.place.width());
            let expected = if register.name == "PC" { Bits::new(64, 0x1004) } else { model.bits(register.place) };
            prop_assert_eq!(found, expected, "{} after\n{:#?}", register.name, instruction.ops);
        }
        let address = Varnode::constant(0, 8);
        let mut look = Builder::new();
        for at in 0..8u64 {
            let value = look.load(Varnode::constant(at * 8, 8), 8);
            look.store(address, value);
            look.copy(place(8, 0), value);
            let looked = std::mem::take(&mut look).finish(0x1004, 4, "look".to_owned());
            let seen = exec(&Concrete, &looked, state.clone()).expect("it has a meaning");
            let found = seen.read(&Concrete, place(8, 0)).expect("it is one").word(&Concrete, 64);
            let expected = model.number(&model.memory[at as usize * 8..at as usize * 8 + 8]);
            prop_assert_eq!(found, Bits::new(64, expected), "memory at {} after\n{:#?}", at * 8, instruction.ops);
        }
    }
}
