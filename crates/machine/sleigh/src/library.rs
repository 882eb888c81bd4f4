//! The C++ library, as the worker process uses it: its bindings directly, since the crate above them copies the name of
//! an address space for every operand, which takes longer than the lifting.

use crate::Specification;
use crate::pcode::{Area, Place, Writer};
use libsla_sys::cxx::{CxxString, CxxVector, UniquePtr, let_cxx_string};
use libsla_sys::{api, rust, sys};
use std::cell::RefCell;

/// A specification, loaded.
pub struct Library {
    sleigh: UniquePtr<sys::SleighProxy>,
    /// Every space by its address in the library, which is also how operands of loads and stores name it.
    spaces: Vec<(usize, Area)>,
    code: usize,
    /// What the library was last shown in each slot of its own cache, which goes by address alone.
    shown: RefCell<Box<[Shown]>>,
}

/// The library's cache has this many slots, chosen by the low bits of the address.
const SLOTS: u64 = 256;

/// An address and the bytes that were there, as many as matter.
#[derive(Clone, Copy, Default)]
struct Shown {
    address: u64,
    length: usize,
    bytes: [u8; 32],
}

/// What a loaded specification says about its processor.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl api::LoadImage for Window<'_> {
    fn load_fill(&self, data: &mut [u8], address: &sys::Address) -> Result<(), String> {
        let skip = address.offset().wrapping_sub(self.address);
        let from = usize::try_from(skip).ok().and_then(|skip| self.bytes.get(skip..)).unwrap_or_default();
        if from.is_empty() {
            return Err(format!("no bytes at {:#x}", address.offset()));
        }
        // The library asks for more than an instruction has; what is not there must not decide anything.
        let (there, missing) = data.split_at_mut(from.len().min(data.len()));
        there.copy_from_slice(&from[..there.len()]);
        missing.fill(0);
        Ok(())
    }
}

/// Writes operations down as they come.
struct Operations<'a> {
    library: &'a Library,
    count: u32,
    out: &'a mut Writer,
}

impl api::PcodeEmit for Operations<'_> {
    fn dump(
        &mut self,
        _: &sys::Address,
        code: sys::OpCode,
        out: Option<&sys::VarnodeData>,
        inputs: &CxxVector<sys::VarnodeData>,
    ) {
        self.count += 1;
        self.out.operation(code.repr as u8, out.is_some(), inputs.len() as u8);
        out.into_iter().for_each(|out| self.out.place(&self.library.place(out)));
        let names_a_space = matches!(code, sys::OpCode::CPUI_LOAD | sys::OpCode::CPUI_STORE);
        for (index, input) in inputs.iter().enumerate() {
            let mut place = self.library.place(input);
            if names_a_space && index == 0 {
                // The first operand is the library's handle of a space: replace it by what we call the space.
                place.offset = self.library.area(place.offset as usize) as u64;
            }
            self.out.place(&place);
        }
    }
}

/// Writes the assembly text down.
struct Text<'a>(&'a mut Writer);

impl api::AssemblyEmit for Text<'_> {
    fn dump(&mut self, _: &sys::Address, mnemonic: &CxxString, body: &CxxString) {
        let (mnemonic, body) = (mnemonic.to_string_lossy(), body.to_string_lossy());
        self.0.bytes(format!("{mnemonic} {body}").trim_end().as_bytes());
    }
}

/// Without a processor specification: the library insists on a document.
const EMPTY_PSPEC: &str = "<processor_spec></processor_spec>";

impl Library {
    /// Loads a specification.
    pub fn load(specification: &Specification) -> Result<Self, String> {
        // The worker loads one specification in its life, so once is what it should be.
        sys::initialize_element_id();
        sys::initialize_attribute_id();
        let pspec = if specification.pspec.trim().is_empty() { EMPTY_PSPEC } else { &specification.pspec };
        let mut store = sys::new_document_storage();
        let_cxx_string!(pspec = pspec);
        let because = |error: libsla_sys::cxx::Exception| error.to_string();
        sys::parse_document_and_register_root(store.pin_mut(), &pspec).map_err(because)?;
        let mut sleigh = sys::new_sleigh(sys::new_context_internal());
        let_cxx_string!(sla = &specification.sla);
        sleigh.pin_mut().initialize_from_sla(&sla).map_err(because)?;
        sleigh.pin_mut().parse_processor_config(&store).map_err(because)?;
        let code = sleigh.default_code_space() as usize;
        let spaces = (0..sleigh.num_spaces()).filter_map(|index| {
            let at = sleigh.address_space(index);
            // SAFETY: the library keeps its spaces as long as it lives; some of their numbers are not taken.
            let space = unsafe { at.as_ref() }?;
            let area = match space.space_type() {
                sys::spacetype::IPTR_CONSTANT => Area::Constant,
                sys::spacetype::IPTR_INTERNAL => Area::Unique,
                sys::spacetype::IPTR_PROCESSOR if at as usize == code => Area::Memory,
                sys::spacetype::IPTR_PROCESSOR if space.name().as_bytes() == b"register" => Area::Register,
                _ => Area::Other,
            };
            Some((at as usize, area))
        });
        let shown = vec![Shown::default(); SLOTS as usize].into();
        Ok(Library { spaces: spaces.collect(), code, sleigh, shown: RefCell::new(shown) })
    }

    /// What it says about the processor.
    pub fn facts(&self) -> Facts {
        let registers = self.sleigh.all_register_names();
        let registers = registers
            .iter()
            .map(|register| (register.name().to_string_lossy().into_owned(), self.place(register.register())))
            .filter(|(_, place)| place.area == Area::Register)
            .map(|(name, place)| (name, place.offset, u64::from(place.bytes)))
            .collect();
        // SAFETY: a space of the library's own.
        let code = unsafe { &*self.sleigh.default_code_space() };
        Facts {
            big_endian: code.big_endian(),
            address_bytes: code.address_size().into(),
            word_bytes: code.word_size().into(),
            registers,
        }
    }

    /// Lifts the instruction at `address`, where `bytes` begin, to the wire, and says how long it is.
    pub fn lift(&self, address: u64, bytes: &[u8], out: &mut Writer) -> Result<usize, String> {
        self.forget_other_bytes(address, bytes);
        let start = out.0.len();
        let length = self.write(address, bytes, out);
        if length.is_err() {
            out.0.truncate(start);
        }
        length
    }

    fn write(&self, address: u64, bytes: &[u8], out: &mut Writer) -> Result<usize, String> {
        let window = Window { address, bytes };
        let image = rust::RustLoadImage(&window);
        let place = self.address(address);
        let because = |error: libsla_sys::cxx::Exception| error.to_string();
        self.sleigh
            .disassemble_native(&image, &mut rust::RustAssemblyEmit(&mut Text(out)), &place)
            .map_err(because)?;
        let head = out.head();
        let mut operations = Operations { library: self, count: 0, out };
        let length = self
            .sleigh
            .disassemble_pcode(&image, &mut rust::RustPcodeEmit(&mut operations), &place)
            .map_err(because)?;
        let count = operations.count;
        let length = usize::try_from(length).map_err(|_| "a length below zero".to_owned())?;
        if length > bytes.len() {
            return Err(format!("the instruction has {length} bytes, {} are there", bytes.len()));
        }
        out.fill_head(head, length as u32, count);
        Ok(length)
    }

    fn address(&self, offset: u64) -> UniquePtr<sys::Address> {
        // SAFETY: the code space is one of the library's.
        unsafe { sys::new_address(self.code as *mut sys::AddrSpace, offset) }
    }

    /// The library remembers what it parsed at an address and does not look at the bytes again. Parsing anything at
    /// another address of the same slot makes it forget.
    fn forget_other_bytes(&self, address: u64, bytes: &[u8]) {
        let mut now = Shown { address, length: bytes.len().min(32), bytes: [0; 32] };
        now.bytes[..now.length].copy_from_slice(&bytes[..now.length]);
        let slot = (address % SLOTS) as usize;
        let before = std::mem::replace(&mut self.shown.borrow_mut()[slot], now);
        if before.address == address && !bytes.starts_with(&before.bytes[..before.length]) {
            let elsewhere = address.wrapping_add(SLOTS);
            // Whether that succeeds is of no interest.
            let _ = self.write(elsewhere, bytes, &mut Writer::default());
        }
    }

    fn area(&self, space: usize) -> Area {
        self.spaces.iter().find(|(at, _)| *at == space).map_or(Area::Other, |(_, area)| *area)
    }

    fn place(&self, varnode: &sys::VarnodeData) -> Place {
        let address = sys::varnode_address(varnode);
        let area = self.area(address.address_space() as usize);
        Place { area, bytes: sys::varnode_size(varnode), offset: address.offset() }
    }
}
