//! What a processor has besides instructions: registers, a byte order, an address size.

use crate::Varnode;
use parallax_sem::ByteOrder;
use std::collections::HashMap;

/// How a register is shown: as a bit-vector or as a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterKind {
    /// A bit-vector.
    Word,
    /// One byte that is 0 or 1, such as `ZF`.
    Flag,
}

/// A named part of the register file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// In the processor manual's spelling, upper case.
    pub name: String,
    /// Its bytes.
    pub place: Varnode,
    /// How it is shown.
    pub kind: RegisterKind,
}

/// A processor, apart from its instructions.
#[derive(Clone, Debug)]
pub struct Processor {
    /// As `--lang` names it.
    pub name: String,
    /// Byte order of memory, and of the register file.
    pub order: ByteOrder,
    /// Size of an address.
    pub address_bytes: u16,
    /// The program counter.
    pub pc: Varnode,
    /// The largest registers up to 16 bytes, in order of their places, and what wider ones have beyond those. Cells do
    /// not overlap; every register is a part of one or made of several.
    pub cells: Vec<Register>,
    /// All registers, the parts of cells included.
    pub registers: Vec<Register>,
    /// Names of operations the specification leaves without meaning, by number ([`crate::Intrinsic::Other`]).
    pub user_ops: Vec<String>,
    /// One past the last byte of the register file.
    pub register_bytes: u64,
    /// What control registers hold when a program starts, and when a function is called: how to round, above all.
    pub initial: Vec<(&'static str, u64)>,
    by_name: HashMap<String, usize>,
}

/// Wide vector registers are cut into cells, because most instructions touch their lowest part alone.
const MAX_CELL: u16 = 16;

/// Makes cells of the parts of a wide register that belong to none.
fn fill(wide: &Register, cells: &mut Vec<Register>) {
    let mut at = wide.place.offset;
    while at < wide.place.end() {
        let index = cells.partition_point(|cell| cell.place.end() <= at);
        match cells.get(index) {
            Some(cell) if cell.place.offset <= at => at = cell.place.end(),
            next => {
                let limit = next.map_or(u64::MAX, |cell| cell.place.offset);
                let end = wide.place.end().min(limit).min(at + u64::from(MAX_CELL));
                let place = Varnode::register(at, (end - at) as u16);
                let name = format!("{}_{}", wide.name, at - wide.place.offset);
                cells.insert(index, Register { name, place, kind: RegisterKind::Word });
                at = end;
            }
        }
    }
}

impl Processor {
    /// Builds the description; `registers` may overlap in any way that nests.
    pub fn new(
        name: impl Into<String>,
        order: ByteOrder,
        address_bytes: u16,
        pc: Varnode,
        mut registers: Vec<Register>,
        user_ops: Vec<String>,
    ) -> Self {
        // A larger register comes before its parts, so one pass finds the cells.
        registers.sort_by(|a, b| {
            (a.place.offset, std::cmp::Reverse(a.place.bytes), &a.name).cmp(&(
                b.place.offset,
                std::cmp::Reverse(b.place.bytes),
                &b.name,
            ))
        });
        let mut cells: Vec<Register> = Vec::new();
        for register in registers.iter().filter(|r| r.place.bytes <= MAX_CELL) {
            match cells.last() {
                Some(cell) if register.place.end() <= cell.place.end() => {}
                _ => cells.push(register.clone()),
            }
        }
        for wide in registers.iter().filter(|r| r.place.bytes > MAX_CELL) {
            fill(wide, &mut cells);
        }
        let register_bytes = registers.iter().map(|r| r.place.end()).max().unwrap_or(0);
        let by_name = registers.iter().enumerate().map(|(i, r)| (r.name.clone(), i)).collect();
        Processor {
            name: name.into(),
            order,
            address_bytes,
            pc,
            cells,
            registers,
            user_ops,
            register_bytes,
            initial: Vec::new(),
            by_name,
        }
    }

    /// The register of that name, in any case.
    pub fn register(&self, name: &str) -> Option<&Register> {
        let index = self.by_name.get(name).or_else(|| self.by_name.get(&name.to_uppercase()))?;
        Some(&self.registers[*index])
    }

    /// The register with exactly these bytes.
    pub fn register_at(&self, place: Varnode) -> Option<&Register> {
        let from = self.registers.partition_point(|r| r.place.offset < place.offset);
        self.registers[from..]
            .iter()
            .take_while(|r| r.place.offset == place.offset)
            .find(|r| r.place == place)
    }

    /// The index of the cell that holds a byte of the register file.
    pub fn cell_at(&self, offset: u64) -> Option<usize> {
        let index = self.cells.partition_point(|c| c.place.offset <= offset).checked_sub(1)?;
        (offset < self.cells[index].place.end()).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(name: &str, offset: u64, bytes: u16) -> Register {
        Register { name: name.into(), place: Varnode::register(offset, bytes), kind: RegisterKind::Word }
    }

    #[test]
    fn parts_lie_in_the_cell_that_holds_them() {
        let parts = vec![
            register("AH", 1, 1),
            register("AL", 0, 1),
            register("RAX", 0, 8),
            register("EAX", 0, 4),
            register("RCX", 8, 8),
            register("RIP", 16, 8),
        ];
        let processor =
            Processor::new("tiny", ByteOrder::Little, 8, Varnode::register(16, 8), parts, Vec::new());
        let cells: Vec<&str> = processor.cells.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(cells, ["RAX", "RCX", "RIP"]);
        assert_eq!(processor.cell_at(1), Some(0));
        assert_eq!(processor.cell_at(15), Some(1));
        assert_eq!(processor.cell_at(24), None);
        assert_eq!(processor.register_at(Varnode::register(1, 1)).unwrap().name, "AH");
        assert_eq!(processor.register("eax").unwrap().place.bytes, 4);
    }
}
