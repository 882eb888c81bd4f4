//! The C++ library, as the worker process uses it.

use crate::Specification;
use crate::pcode::{Area, Lifted, Pcode, Place};
use libsla::{
    Address, AddressSpace, AddressSpaceId, AddressSpaceType, GhidraSleigh, InstructionLoader, OpCode, Sleigh,
    VarnodeData,
};
use std::cell::RefCell;
use std::collections::HashMap;

/// A specification, loaded.
pub struct Library {
    sleigh: GhidraSleigh,
    code: AddressSpace,
    register: Option<AddressSpaceId>,
    /// What the library was last shown in each slot of its own cache, which goes by address alone.
    shown: RefCell<HashMap<u64, (u64, Vec<u8>)>>,
}

/// The library's cache has this many slots, chosen by the low bits of the address.
const SLOTS: u64 = 256;

/// What a loaded specification says about its processor.
#[derive(Debug, PartialEq, Eq)]
pub struct Facts {
    /// Byte order of memory.
    pub big_endian: bool,
    /// Size of an address.
    pub address_bytes: u64,
    /// Bytes per address.
    pub word_bytes: u64,
    /// Name, offset and size of each register.
    pub registers: Vec<(String, u64, u64)>,
}

/// The bytes around the instruction.
struct Window<'a> {
    address: u64,
    bytes: &'a [u8],
}

impl InstructionLoader for Window<'_> {
    fn load_instruction_bytes(&self, source: &VarnodeData) -> Result<Vec<u8>, String> {
        let skip = source.address.offset.wrapping_sub(self.address);
        let from = usize::try_from(skip).ok().and_then(|skip| self.bytes.get(skip..)).unwrap_or_default();
        if from.is_empty() {
            return Err(format!("no bytes at {:#x}", source.address.offset));
        }
        Ok(from[..from.len().min(source.size)].to_vec())
    }
}

/// Without a processor specification: the library insists on a document.
const EMPTY_PSPEC: &str = "<processor_spec></processor_spec>";

impl Library {
    /// Loads a specification.
    pub fn load(specification: &Specification) -> Result<Self, String> {
        let pspec = if specification.pspec.trim().is_empty() { EMPTY_PSPEC } else { &specification.pspec };
        let sleigh = GhidraSleigh::builder()
            .processor_spec(pspec)
            .and_then(|builder| builder.build(&specification.sla))
            .map_err(|error| error.to_string())?;
        let register = sleigh.address_space_by_name("register").map(|space| space.id);
        Ok(Library { code: sleigh.default_code_space(), register, sleigh, shown: RefCell::default() })
    }

    /// What it says about the processor.
    pub fn facts(&self) -> Facts {
        let registers = self
            .sleigh
            .register_name_map()
            .into_iter()
            .filter(|(place, _)| Some(place.address.address_space.id) == self.register)
            .map(|(place, name)| (name, place.address.offset, place.size as u64))
            .collect();
        Facts {
            big_endian: self.code.big_endian,
            address_bytes: self.code.address_size as u64,
            word_bytes: self.code.word_size as u64,
            registers,
        }
    }

    /// Lifts the instruction at `address`, where `bytes` begin.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Result<Lifted, String> {
        self.forget_other_bytes(address, bytes);
        let window = Window { address, bytes };
        let place = || Address::new(self.code.clone(), address);
        let pcode = self.sleigh.disassemble_pcode(&window, place()).map_err(|error| error.to_string())?;
        let native = self.sleigh.disassemble_native(&window, place()).map_err(|error| error.to_string())?;
        let ops = pcode.instructions.iter().map(|op| {
            let mut inputs: Vec<Place> = op.inputs.iter().map(|input| self.place(input)).collect();
            if matches!(op.op_code, OpCode::Load | OpCode::Store) {
                // The first operand is the library's handle of a space: replace it by what we call the space.
                let space = AddressSpaceId::new(op.inputs[0].address.offset as usize);
                inputs[0].offset = self.area_of(space) as u64;
            }
            Pcode { code: op.op_code, out: op.output.as_ref().map(|out| self.place(out)), inputs }
        });
        let ops = ops.collect();
        let text =
            format!("{} {}", native.instruction.mnemonic, native.instruction.body).trim_end().to_owned();
        Ok(Lifted { length: pcode.origin.size as u32, text, ops })
    }

    /// The library remembers what it parsed at an address and does not look at the bytes again. Parsing anything at
    /// another address of the same slot makes it forget.
    fn forget_other_bytes(&self, address: u64, bytes: &[u8]) {
        let mut shown = self.shown.borrow_mut();
        let now = (address, bytes[..bytes.len().min(32)].to_vec());
        let before = shown.insert(address % SLOTS, now);
        let Some(before) = before else { return };
        if before.0 == address && !bytes.starts_with(&before.1) {
            let elsewhere = address.wrapping_add(SLOTS);
            let window = Window { address: elsewhere, bytes };
            // Whether that succeeds is of no interest.
            let _ = self.sleigh.disassemble_pcode(&window, Address::new(self.code.clone(), elsewhere));
        }
    }

    fn area_of(&self, id: AddressSpaceId) -> Area {
        if id == self.code.id {
            Area::Memory
        } else if Some(id) == self.register {
            Area::Register
        } else {
            Area::Other
        }
    }

    fn place(&self, varnode: &VarnodeData) -> Place {
        let space = &varnode.address.address_space;
        let area = match space.space_type {
            AddressSpaceType::Constant => Area::Constant,
            AddressSpaceType::Internal => Area::Unique,
            AddressSpaceType::Processor => self.area_of(space.id),
            _ => Area::Other,
        };
        Place { area, bytes: varnode.size as u32, offset: varnode.address.offset }
    }
}
