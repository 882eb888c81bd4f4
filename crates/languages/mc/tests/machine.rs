//! MC against an interpreter that knows nothing of `sem`: registers in an array, memory in a map, one match.

use parallax_mc::{Instruction, MEMORY, Operand, Program, Register, WIDTH, ZF, read};
use parallax_op::Bits;
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Concrete, Language};
use parallax_source::SourceFile;
use parallax_term::{Store, SymbolKind};
use proptest::prelude::*;
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq)]
struct Machine {
    registers: [u32; 4],
    flag: bool,
    memory: HashMap<u32, u32>,
}

impl Machine {
    fn address(&self, program: &Program, operand: &Operand) -> Option<u32> {
        let number = |bits: &Bits| bits.to_u64().expect("32 bits") as u32;
        match operand {
            Operand::Indirect(r, c) => Some(self.registers[*r as usize].wrapping_add(number(c))),
            Operand::Data(index, c) => {
                let at = program.placement(&program.data[*index as usize]).expect("data has a place");
                Some(number(&at).wrapping_add(number(c)))
            }
            _ => None,
        }
    }

    fn value(&self, program: &Program, operand: &Operand) -> u32 {
        match (operand, self.address(program, operand)) {
            (_, Some(at)) => self.memory.get(&at).copied().unwrap_or(0),
            (Operand::Direct(r), _) => self.registers[*r as usize],
            (Operand::Immediate(c), _) => c.to_u64().expect("32 bits") as u32,
            _ => unreachable!("memory has an address"),
        }
    }

    fn step(&mut self, program: &Program) {
        let eip = Register::Eip as usize;
        let at = self.registers[eip];
        let instruction = &program.instructions[(at / 4) as usize];
        // What an instruction reads of EIP is its own address.
        let mut next = at.wrapping_add(4);
        match instruction {
            Instruction::Mov(to, so) | Instruction::Xor(to, so) => {
                let mut value = self.value(program, so);
                if matches!(instruction, Instruction::Xor(..)) {
                    value ^= self.value(program, to);
                }
                match (to, self.address(program, to)) {
                    (Operand::Direct(Register::Eip), _) => next = value,
                    (Operand::Direct(r), _) => self.registers[*r as usize] = value,
                    (_, Some(address)) => drop(self.memory.insert(address, value)),
                    _ => unreachable!("nobody writes to a number"),
                }
            }
            Instruction::Cmp(to, so) => self.flag = self.value(program, to) == self.value(program, so),
            Instruction::Jz(so) => {
                if self.flag {
                    next = self.value(program, so);
                }
            }
        }
        self.registers[eip] = next;
    }
}

fn operand() -> impl Strategy<Value = String> {
    let register = prop::sample::select(vec!["eax", "ebx", "ebp"]);
    prop_oneof![
        3 => register.clone().prop_map(str::to_owned),
        2 => (register, prop::sample::select(vec![0, 4, 8])).prop_map(|(r, c)| format!("[{r}+{c}]")),
        2 => prop::sample::select(vec!["[x]", "[y]"]).prop_map(str::to_owned),
    ]
}

fn source() -> impl Strategy<Value = String> {
    let number = prop::sample::select(vec![0u32, 1, 4, 0x10_0000, 0x10_0004, 0xffff_ffff]);
    prop_oneof![3 => operand(), 1 => number.prop_map(|n| n.to_string())]
}

fn line(length: u32) -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (operand(), source()).prop_map(|(a, b)| format!("mov {a}, {b}")),
        2 => (operand(), source()).prop_map(|(a, b)| format!("cmp {a}, {b}")),
        2 => (operand(), source()).prop_map(|(a, b)| format!("xor {a}, {b}")),
        2 => (0..=length).prop_map(|to| format!("jz {}", to * 4)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn both_machines_end_alike(lines in prop::collection::vec(line(12), 1..12), start in any::<[u8; 3]>()) {
        let text = lines.join("\n");
        let program = read(&SourceFile::new("random.mc", text.as_str()), 0).expect("well formed");
        let store = Store::new();
        program.declare(&store);
        let mut s = Struct::new();
        for symbol in store.symbols() {
            let info = store.info(symbol);
            if let (SymbolKind::Address { .. }, Some(at)) = (&info.kind, program.placement(&info.name)) {
                s.set_val(symbol, at);
            }
        }
        let mut plain = Machine::default();
        for (index, value) in start.into_iter().enumerate() {
            // Small numbers often meet as addresses.
            let value = u32::from(value & 15) * 4;
            plain.registers[index] = value;
            let symbol = store.lookup(Register::ALL[index].name()).expect("declared");
            s.set_val(symbol, Bits::new(WIDTH, value.into()));
        }
        let mut state = program.state(&Concrete, &store, &s);
        for _ in 0..64 {
            let pc = program.pc(&state);
            if !program.has_instruction(&pc) {
                break;
            }
            state = program.step(&Concrete, state, &pc).expect("never stuck");
            plain.step(&program);
            let now = program.structure(&Concrete, &store, &state);
            for r in Register::ALL {
                let symbol = store.lookup(r.name()).expect("declared");
                let Scalar::Val(value) = now.lookup_constant(&Concrete, &store, symbol) else { unreachable!() };
                prop_assert_eq!(value.to_u64(), Some(plain.registers[r as usize].into()), "{:?}\n{}", r, text);
            }
            let Scalar::Bool(flag) = now.lookup_constant(&Concrete, &store, store.lookup(ZF).expect("declared"))
            else {
                unreachable!()
            };
            prop_assert_eq!(flag, plain.flag);
            let memory = now.lookup_function(&Concrete, &store, store.lookup(MEMORY).expect("declared"));
            for (at, value) in &plain.memory {
                let cell = memory.get(&Bits::new(WIDTH, (*at).into())).to_u64();
                prop_assert_eq!(cell, Some((*value).into()), "cell {:#x}\n{}", at, text);
            }
            let set = memory.entries().filter(|(_, value)| !value.is_zero()).count();
            prop_assert_eq!(set, plain.memory.values().filter(|value| **value != 0).count());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-zA-Z0-9\\[\\]+,:;# \n-]{0,80}") {
        let _ = read(&SourceFile::new("any.mc", text.as_str()), 0);
    }
}
