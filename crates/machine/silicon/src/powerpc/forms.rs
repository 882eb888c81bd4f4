//! The forms of PowerPC that are compared: what 32-bit compilers emit and user programs execute, branches and traps
//! included. Absent: what only an operating system may do, and what depends on time.

/// How the fields of an instruction are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    /// Three registers.
    Three,
    /// Two registers.
    Two,
    /// Two registers and 16 bits.
    Immediate,
    /// Two registers and three fields of five bits.
    Rotate,
    /// A condition field and two registers.
    Compare,
    /// A condition field, a register and 16 bits.
    CompareImmediate,
    /// Three condition bits.
    Bits,
    /// A condition field from another, or from one of FPSCR.
    Field,
    /// One register.
    One,
    /// One register, and a mask of condition fields.
    Mask,
    /// One register, and a mask of one condition field.
    OneField,
    /// Three registers and a condition bit.
    Select,
    /// A register and memory at a register plus a displacement.
    Memory,
    /// The same, and the address goes back to the register.
    MemoryUpdate,
    /// A register and memory at the sum of two registers.
    MemoryIndexed,
    /// The same, and the address goes back to the first of them.
    MemoryIndexedUpdate,
    /// The registers from one on, and memory at a register plus a displacement.
    Multiple,
    /// Three float registers: result, first, second.
    Floats,
    /// Result, first, multiplier.
    FloatsProduct,
    /// Result and operand.
    Float,
    /// A condition field and two float registers.
    FloatsCompare,
    /// Result, first, multiplier, added.
    FloatsFused,
    /// A mask of fields of FPSCR, and a float register.
    StatusMask,
    /// A field of FPSCR and four bits.
    StatusImmediate,
    /// A bit of FPSCR.
    StatusBit,
    /// A condition field.
    FieldAlone,
    /// A register, and as many bytes of memory at a register as a field says.
    String,
    /// A register, and as many bytes of memory at the sum of two registers as XER says.
    StringIndexed,
    /// A distance.
    Branch,
    /// What to ask of the count and a condition bit, and a distance.
    BranchConditional,
    /// The same, to the link register.
    BranchToLink,
    /// A condition bit, to the count register.
    BranchToCount,
    /// Nothing to fill.
    Nothing,
}

/// Extended opcode under primary opcode 31, with room for the record bit.
const fn x(number: u32) -> u32 {
    31 << 26 | number << 1
}

const fn d(number: u32) -> u32 {
    number << 26
}

/// Name, opcode bits, fields, and whether it has a record bit and an overflow bit.
type Row = (&'static str, u32, Fields, bool, bool);

const FORMS: &[Row] = &[
    ("add", x(266), Fields::Three, true, true),
    ("addc", x(10), Fields::Three, true, true),
    ("adde", x(138), Fields::Three, true, true),
    ("addme", x(234), Fields::Two, true, true),
    ("addze", x(202), Fields::Two, true, true),
    ("subf", x(40), Fields::Three, true, true),
    ("subfc", x(8), Fields::Three, true, true),
    ("subfe", x(136), Fields::Three, true, true),
    ("subfme", x(232), Fields::Two, true, true),
    ("subfze", x(200), Fields::Two, true, true),
    ("neg", x(104), Fields::Two, true, true),
    ("mullw", x(235), Fields::Three, true, true),
    ("mulhw", x(75), Fields::Three, true, false),
    ("mulhwu", x(11), Fields::Three, true, false),
    ("divw", x(491), Fields::Three, true, true),
    ("divwu", x(459), Fields::Three, true, true),
    ("addi", d(14), Fields::Immediate, false, false),
    ("addis", d(15), Fields::Immediate, false, false),
    ("addic", d(12), Fields::Immediate, false, false),
    ("addic.", d(13), Fields::Immediate, false, false),
    ("subfic", d(8), Fields::Immediate, false, false),
    ("mulli", d(7), Fields::Immediate, false, false),
    ("ori", d(24), Fields::Immediate, false, false),
    ("oris", d(25), Fields::Immediate, false, false),
    ("xori", d(26), Fields::Immediate, false, false),
    ("xoris", d(27), Fields::Immediate, false, false),
    ("andi.", d(28), Fields::Immediate, false, false),
    ("andis.", d(29), Fields::Immediate, false, false),
    ("and", x(28), Fields::Three, true, false),
    ("andc", x(60), Fields::Three, true, false),
    ("or", x(444), Fields::Three, true, false),
    ("orc", x(412), Fields::Three, true, false),
    ("xor", x(316), Fields::Three, true, false),
    ("nand", x(476), Fields::Three, true, false),
    ("nor", x(124), Fields::Three, true, false),
    ("eqv", x(284), Fields::Three, true, false),
    ("extsb", x(954), Fields::Two, true, false),
    ("extsh", x(922), Fields::Two, true, false),
    ("cntlzw", x(26), Fields::Two, true, false),
    ("slw", x(24), Fields::Three, true, false),
    ("srw", x(536), Fields::Three, true, false),
    ("sraw", x(792), Fields::Three, true, false),
    ("srawi", x(824), Fields::Three, true, false),
    ("rlwinm", d(21), Fields::Rotate, true, false),
    ("rlwimi", d(20), Fields::Rotate, true, false),
    ("rlwnm", d(23), Fields::Rotate, true, false),
    ("cmpw", x(0), Fields::Compare, false, false),
    ("cmplw", x(32), Fields::Compare, false, false),
    ("cmpwi", d(11), Fields::CompareImmediate, false, false),
    ("cmplwi", d(10), Fields::CompareImmediate, false, false),
    ("crand", d(19) | 257 << 1, Fields::Bits, false, false),
    ("crandc", d(19) | 129 << 1, Fields::Bits, false, false),
    ("cror", d(19) | 449 << 1, Fields::Bits, false, false),
    ("crorc", d(19) | 417 << 1, Fields::Bits, false, false),
    ("crxor", d(19) | 193 << 1, Fields::Bits, false, false),
    ("crnand", d(19) | 225 << 1, Fields::Bits, false, false),
    ("crnor", d(19) | 33 << 1, Fields::Bits, false, false),
    ("creqv", d(19) | 289 << 1, Fields::Bits, false, false),
    ("mcrf", d(19), Fields::Field, false, false),
    ("mfcr", x(19), Fields::One, false, false),
    ("mtcrf", x(144), Fields::Mask, false, false),
    ("mfxer", x(339) | 1 << 16, Fields::One, false, false),
    ("mtxer", x(467) | 1 << 16, Fields::One, false, false),
    ("mflr", x(339) | 8 << 16, Fields::One, false, false),
    ("mtlr", x(467) | 8 << 16, Fields::One, false, false),
    ("mfctr", x(339) | 9 << 16, Fields::One, false, false),
    ("mtctr", x(467) | 9 << 16, Fields::One, false, false),
    ("lwz", d(32), Fields::Memory, false, false),
    ("lwzu", d(33), Fields::MemoryUpdate, false, false),
    ("lbz", d(34), Fields::Memory, false, false),
    ("lbzu", d(35), Fields::MemoryUpdate, false, false),
    ("stw", d(36), Fields::Memory, false, false),
    ("stwu", d(37), Fields::MemoryUpdate, false, false),
    ("stb", d(38), Fields::Memory, false, false),
    ("stbu", d(39), Fields::MemoryUpdate, false, false),
    ("lhz", d(40), Fields::Memory, false, false),
    ("lhzu", d(41), Fields::MemoryUpdate, false, false),
    ("lha", d(42), Fields::Memory, false, false),
    ("lhau", d(43), Fields::MemoryUpdate, false, false),
    ("sth", d(44), Fields::Memory, false, false),
    ("sthu", d(45), Fields::MemoryUpdate, false, false),
    ("lwzx", x(23), Fields::MemoryIndexed, false, false),
    ("lbzx", x(87), Fields::MemoryIndexed, false, false),
    ("lhzx", x(279), Fields::MemoryIndexed, false, false),
    ("lhax", x(343), Fields::MemoryIndexed, false, false),
    ("stwx", x(151), Fields::MemoryIndexed, false, false),
    ("stbx", x(215), Fields::MemoryIndexed, false, false),
    ("sthx", x(407), Fields::MemoryIndexed, false, false),
    ("lwbrx", x(534), Fields::MemoryIndexed, false, false),
    ("lhbrx", x(790), Fields::MemoryIndexed, false, false),
    ("stwbrx", x(662), Fields::MemoryIndexed, false, false),
    ("sthbrx", x(918), Fields::MemoryIndexed, false, false),
    ("lfd", d(50), Fields::Memory, false, false),
    ("lfs", d(48), Fields::Memory, false, false),
    ("stfd", d(54), Fields::Memory, false, false),
    ("fadd", d(63) | 21 << 1, Fields::Floats, true, false),
    ("fsub", d(63) | 20 << 1, Fields::Floats, true, false),
    ("fmul", d(63) | 25 << 1, Fields::FloatsProduct, true, false),
    ("fdiv", d(63) | 18 << 1, Fields::Floats, true, false),
    ("fadds", d(59) | 21 << 1, Fields::Floats, true, false),
    ("fsubs", d(59) | 20 << 1, Fields::Floats, true, false),
    ("fmuls", d(59) | 25 << 1, Fields::FloatsProduct, true, false),
    ("fdivs", d(59) | 18 << 1, Fields::Floats, true, false),
    ("fmadd", d(63) | 29 << 1, Fields::FloatsFused, true, false),
    ("fmsub", d(63) | 28 << 1, Fields::FloatsFused, true, false),
    ("fnmadd", d(63) | 31 << 1, Fields::FloatsFused, true, false),
    ("fnmsub", d(63) | 30 << 1, Fields::FloatsFused, true, false),
    ("fmadds", d(59) | 29 << 1, Fields::FloatsFused, true, false),
    ("fmsubs", d(59) | 28 << 1, Fields::FloatsFused, true, false),
    ("fnmadds", d(59) | 31 << 1, Fields::FloatsFused, true, false),
    ("fnmsubs", d(59) | 30 << 1, Fields::FloatsFused, true, false),
    ("fsel", d(63) | 23 << 1, Fields::FloatsFused, true, false),
    ("frsp", d(63) | 12 << 1, Fields::Float, true, false),
    ("fctiw", d(63) | 14 << 1, Fields::Float, true, false),
    ("fctiwz", d(63) | 15 << 1, Fields::Float, true, false),
    ("fnabs", d(63) | 136 << 1, Fields::Float, true, false),
    ("fcmpo", d(63) | 32 << 1, Fields::FloatsCompare, false, false),
    ("lwzux", x(55), Fields::MemoryIndexedUpdate, false, false),
    ("lbzux", x(119), Fields::MemoryIndexedUpdate, false, false),
    ("lhzux", x(311), Fields::MemoryIndexedUpdate, false, false),
    ("lhaux", x(375), Fields::MemoryIndexedUpdate, false, false),
    ("stwux", x(183), Fields::MemoryIndexedUpdate, false, false),
    ("stbux", x(247), Fields::MemoryIndexedUpdate, false, false),
    ("sthux", x(439), Fields::MemoryIndexedUpdate, false, false),
    ("lfdu", d(51), Fields::MemoryUpdate, false, false),
    ("stfdu", d(55), Fields::MemoryUpdate, false, false),
    ("stfs", d(52), Fields::Memory, false, false),
    ("lfdx", x(599), Fields::MemoryIndexed, false, false),
    ("stfdx", x(727), Fields::MemoryIndexed, false, false),
    ("stfiwx", x(983), Fields::MemoryIndexed, false, false),
    ("lfsx", x(535), Fields::MemoryIndexed, false, false),
    ("lfsu", d(49), Fields::MemoryUpdate, false, false),
    ("lfsux", x(567), Fields::MemoryIndexedUpdate, false, false),
    ("lfdux", x(631), Fields::MemoryIndexedUpdate, false, false),
    ("stfsx", x(663), Fields::MemoryIndexed, false, false),
    ("stfsu", d(53), Fields::MemoryUpdate, false, false),
    ("stfsux", x(695), Fields::MemoryIndexedUpdate, false, false),
    ("stfdux", x(759), Fields::MemoryIndexedUpdate, false, false),
    ("lwarx", x(20), Fields::MemoryIndexed, false, false),
    ("lswi", x(597), Fields::String, false, false),
    ("stswi", x(725), Fields::String, false, false),
    ("dcbz", x(1014), Fields::MemoryIndexed, false, false),
    ("dcbt", x(278), Fields::MemoryIndexed, false, false),
    ("dcbtst", x(246), Fields::MemoryIndexed, false, false),
    ("dcbst", x(54), Fields::MemoryIndexed, false, false),
    ("dcbf", x(86), Fields::MemoryIndexed, false, false),
    ("icbi", x(982), Fields::MemoryIndexed, false, false),
    ("sync", x(598), Fields::Nothing, false, false),
    ("eieio", x(854), Fields::Nothing, false, false),
    ("isync", d(19) | 150 << 1, Fields::Nothing, false, false),
    ("mcrxr", x(512), Fields::FieldAlone, false, false),
    ("fneg", d(63) | 40 << 1, Fields::Float, true, false),
    ("fabs", d(63) | 264 << 1, Fields::Float, true, false),
    ("fmr", d(63) | 72 << 1, Fields::Float, true, false),
    ("fcmpu", d(63), Fields::FloatsCompare, false, false),
    ("fres", d(59) | 24 << 1, Fields::Float, true, false),
    ("frsqrte", d(63) | 26 << 1, Fields::Float, true, false),
    ("fsqrt", d(63) | 22 << 1, Fields::Float, true, false),
    ("fsqrts", d(59) | 22 << 1, Fields::Float, true, false),
    ("fctid", d(63) | 814 << 1, Fields::Float, true, false),
    ("fctidz", d(63) | 815 << 1, Fields::Float, true, false),
    ("fcfid", d(63) | 846 << 1, Fields::Float, true, false),
    ("mffs", d(63) | 583 << 1, Fields::One, true, false),
    ("mtfsf", d(63) | 711 << 1, Fields::StatusMask, true, false),
    ("mtfsfi", d(63) | 134 << 1, Fields::StatusImmediate, true, false),
    ("mtfsb0", d(63) | 70 << 1, Fields::StatusBit, true, false),
    ("mtfsb1", d(63) | 38 << 1, Fields::StatusBit, true, false),
    ("mcrfs", d(63) | 64 << 1, Fields::Field, false, false),
    ("lmw", d(46), Fields::Multiple, false, false),
    ("stmw", d(47), Fields::Multiple, false, false),
    ("lswx", x(533), Fields::StringIndexed, false, false),
    ("stswx", x(661), Fields::StringIndexed, false, false),
    ("stwcx.", x(150) | 1, Fields::MemoryIndexed, false, false),
    ("mfocrf", x(19) | 1 << 20, Fields::OneField, false, false),
    ("mtocrf", x(144) | 1 << 20, Fields::OneField, false, false),
    ("isel", x(15), Fields::Select, false, false),
    ("dcba", x(758), Fields::MemoryIndexed, false, false),
    ("lwsync", x(598) | 1 << 21, Fields::Nothing, false, false),
    ("tw", x(4), Fields::Three, false, false),
    ("twi", d(3), Fields::Immediate, false, false),
    ("b", d(18), Fields::Branch, false, false),
    ("bl", d(18) | 1, Fields::Branch, false, false),
    ("bc", d(16), Fields::BranchConditional, false, false),
    ("bcl", d(16) | 1, Fields::BranchConditional, false, false),
    ("bclr", d(19) | 16 << 1, Fields::BranchToLink, false, false),
    ("bclrl", d(19) | 16 << 1 | 1, Fields::BranchToLink, false, false),
    ("bcctr", d(19) | 528 << 1, Fields::BranchToCount, false, false),
    ("bcctrl", d(19) | 528 << 1 | 1, Fields::BranchToCount, false, false),
];

/// A row with its record and overflow bits chosen.
pub(super) struct Form {
    pub name: String,
    pub word: u32,
    pub fields: Fields,
}

impl Form {
    /// The processor to ask of QEMU: the one that it takes by default, unless that lacks the instruction.
    pub fn processor(&self) -> &'static str {
        match self.name.trim_end_matches('.') {
            "fsqrt" | "fsqrts" | "dcba" => "7400",
            "fctid" | "fctidz" | "fcfid" => "440-xilinx-w-dfpu",
            "isel" => "e500mc",
            _ => "750",
        }
    }

    /// Whether control may go elsewhere.
    pub fn branches(&self) -> bool {
        use Fields::*;
        matches!(self.fields, Branch | BranchConditional | BranchToLink | BranchToCount)
    }

    /// Whether it is about single precision.
    pub fn is_single(&self) -> bool {
        let name = self.name.trim_end_matches('.');
        name.starts_with("stfs")
            || (name.starts_with('f') && name.ends_with('s') && !matches!(name, "fnabs" | "fabs"))
    }
}

/// All of them.
pub(super) fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    for &(name, word, fields, record, overflow) in FORMS {
        for o in 0..=u32::from(overflow) {
            for r in 0..=u32::from(record) {
                let suffix = format!("{}{}", if o == 1 { "o" } else { "" }, if r == 1 { "." } else { "" });
                forms.push(Form { name: format!("{name}{suffix}"), word: word | o << 10 | r, fields });
            }
        }
    }
    forms
}
