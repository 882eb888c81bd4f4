//! What a processor's calling convention says about the stack and about coming back.

use parallax_ir::Processor;
use parallax_ir::meaning::{State, Value};
use parallax_op::{BinOp, Bits};
use parallax_sem::Core;

/// Where a function finds its stack and the address it returns to.
pub(crate) struct Convention {
    /// The stack pointer.
    pub stack: &'static str,
    /// The register with the return address; without one it is on top of the stack.
    link: Option<&'static str>,
}

impl Convention {
    /// The convention of a processor; none for one that a user describes.
    pub fn of(processor: &Processor) -> Option<Self> {
        let (stack, link) = match processor.name.as_str() {
            "x86-64" => ("RSP", None),
            "x86" => ("ESP", None),
            "aarch64" => ("SP", Some("X30")),
            "arm" | "thumb" => ("SP", Some("LR")),
            "riscv64" | "mips" | "mipsel" => ("SP", Some("RA")),
            "powerpc" | "powerpc64" | "powerpc64le" => ("R1", Some("LR")),
            _ => return None,
        };
        Some(Convention { stack, link })
    }

    /// The address that a function which is entered in this state returns to.
    pub fn return_address<C: Core>(&self, core: &C, state: &State<C>) -> Option<C::Val> {
        let processor = state.processor();
        let read = |name: &str| {
            let place = processor.register(name)?.place;
            Some(state.read(core, place).ok()?.word(core, place.width()))
        };
        let Some(link) = self.link else {
            let bytes = processor.address_bytes;
            return Some(core.load(&state.memory, bytes * 8, &read(self.stack)?, bytes, processor.order));
        };
        (processor.register(link)?.place.bytes == processor.pc.bytes).then(|| read(link)).flatten()
    }

    /// The state in which a caller calls the next function, having called one in the state `before` and got `after` back:
    /// the return address of the first call is there once more.
    pub fn called<C: Core>(&self, core: &C, before: &State<C>, mut after: State<C>) -> Option<State<C>> {
        let back = self.return_address(core, before)?;
        let processor = after.processor().clone();
        if let Some(link) = self.link {
            after.write(core, processor.register(link)?.place, Value::Word(back)).ok()?;
            return Some(after);
        }
        let (place, bytes) = (processor.register(self.stack)?.place, processor.address_bytes);
        let above = after.read(core, place).ok()?.word(core, place.width());
        let size = core.constant(&Bits::new(place.width(), bytes.into()));
        let top = core.binop(BinOp::Sub, place.width(), &above, &size);
        after.memory = core.store(after.memory, bytes * 8, &top, bytes, processor.order, &back);
        after.write(core, place, Value::Word(top)).ok()?;
        Some(after)
    }
}
