//! The list of what is copied is what the comparison with processors covers, less what does not mean the same elsewhere.

use iced_x86::{CpuidFeature, EncodingKind, FlowControl, OpKind, RflagsBits};
use parallax_ir::meaning::{State, Value, exec};
use parallax_ir::{Instruction, Op};
use parallax_native::forms::{WITH_MEMORY, WITH_REGISTERS, has_memory};
use parallax_op::Bits;
use parallax_sem::{Concrete, Table};
use parallax_silicon::forms::{Case, Form, all};
use parallax_silicon::random::Random;
use parallax_sleigh::x86::{Answer, Overrides, is_approximate, is_estimate};
use parallax_sleigh::{Language, Lifter};
use std::collections::BTreeMap;

/// What translated code may read and write of the flags register: the rest belongs to the operating system, or is not kept
/// where the guest's is.
const PLAIN_FLAGS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::CF
    | RflagsBits::PF
    | RflagsBits::DF
    | RflagsBits::C0
    | RflagsBits::C1
    | RflagsBits::C2
    | RflagsBits::C3;

/// What `cpuid` tells the guest, as the exact engine answers it.
struct Features {
    lifter: Lifter,
}

impl Features {
    fn word(&mut self, leaf: u64, register: &str) -> u64 {
        let instruction = self.lifter.lift(0x1000, &[0x0f, 0xa2]).expect("cpuid");
        let processor = self.lifter.processor().clone();
        let mut state = State::with_memory(&processor, Table::new(Bits::zero(8)));
        for (name, value) in [("RAX", leaf), ("RCX", 0)] {
            let place = processor.register(name).expect("a register").place;
            state.write(&Concrete, place, Value::Word(Bits::new(64, value.into()))).expect("a register");
        }
        let state = exec(&Concrete, &instruction, state).expect("cpuid has a meaning");
        let place = processor.register(register).expect("a register").place;
        let value = state.read(&Concrete, place).expect("a register");
        value.word(&Concrete, place.width()).to_u64().expect("64 bits")
    }

    /// Whether the guest may use an extension. What it is not told of is an illegal instruction on some processor that
    /// presents the same.
    fn has(&mut self, feature: CpuidFeature) -> bool {
        use CpuidFeature::*;
        let (leaf, register, bit) = match feature {
            // Before there was `cpuid`, or with 64-bit code itself.
            INTEL8086 | INTEL8086_ONLY | INTEL186 | INTEL286 | INTEL386 | INTEL486 | X64 | FPU387
            | FPU287 | FPU | CPUID => return true,
            // Without their extension these do nothing, and code that is made for all processors holds them.
            MULTIBYTENOP | PAUSE | CET_IBT | PREFETCHW => return true,
            // What is written `rep bsf`: see `parallax_native::enter::is_supported`.
            BMI1 => return true,
            CMOV => (1, "RDX", 15),
            CX8 => (1, "RDX", 8),
            MMX => (1, "RDX", 23),
            FXSR => (1, "RDX", 24),
            SSE => (1, "RDX", 25),
            SSE2 => (1, "RDX", 26),
            CLFSH => (1, "RDX", 19),
            SSE3 => (1, "RCX", 0),
            PCLMULQDQ => (1, "RCX", 1),
            SSSE3 => (1, "RCX", 9),
            CMPXCHG16B => (1, "RCX", 13),
            SSE4_1 => (1, "RCX", 19),
            SSE4_2 => (1, "RCX", 20),
            MOVBE => (1, "RCX", 22),
            POPCNT => (1, "RCX", 23),
            AES => (1, "RCX", 25),
            ADX => (7, "RBX", 19),
            SHA => (7, "RBX", 29),
            LZCNT => (0x8000_0001, "RCX", 5),
            _ => return false,
        };
        self.word(leaf, register) >> bit & 1 != 0
    }
}

/// Whether a form means the same in translated code as where it was.
fn is_portable(case: &Case, lifted: &Instruction, features: &mut Features) -> bool {
    let instruction = &case.instruction;
    let of_segments = (0..instruction.op_count()).any(|index| {
        let register = instruction.op_register(index);
        instruction.op_kind(index) == OpKind::Register
            && (register.is_segment_register() || register.is_cr() || register.is_dr())
    });
    // By more than 16 the result is undefined.
    let is_open = matches!(instruction.mnemonic(), iced_x86::Mnemonic::Shld | iced_x86::Mnemonic::Shrd)
        && instruction.op1_register().size() == 2;
    let flags = instruction.rflags_read() | instruction.rflags_modified();
    instruction.code().op_code().encoding() == EncodingKind::Legacy
        && instruction.flow_control() == FlowControl::Next
        && flags & !PLAIN_FLAGS == 0
        && !of_segments
        && !is_open
        // Another maker's processor answers otherwise.
        && !is_approximate(instruction)
        && !is_estimate(instruction)
        // They would store addresses of translated code.
        && case.unkept().iter().all(std::ops::Range::is_empty)
        && !lifted.ops.iter().any(|op| matches!(op, Op::Trap { when: None, .. }))
        && instruction.cpuid_features().iter().all(|feature| features.has(*feature))
        // On processors without the extension the other encodings are no instructions at all.
        && (!instruction.cpuid_features().contains(&CpuidFeature::BMI1)
            || instruction.mnemonic() == iced_x86::Mnemonic::Tzcnt)
}

fn generate() -> String {
    let lifter = Lifter::new(Language::find("x86-64").expect("x86-64")).expect("its specification");
    let overrides = Overrides::new(lifter.processor(), 64);
    let mut features = Features { lifter };
    let mut listed: BTreeMap<usize, (String, u8)> = BTreeMap::new();
    for form in all(&overrides, 64) {
        let mut random = Random::new(7);
        let Some((case, lifted)) = (0..16).find_map(|_| sample(form, &overrides, &mut random)) else {
            continue;
        };
        if is_portable(&case, &lifted, &mut features) {
            let variant = if has_memory(&case.instruction) { WITH_MEMORY } else { WITH_REGISTERS };
            let code = form.code;
            listed.entry(code as usize).or_insert((format!("{code:?}"), 0)).1 |= variant;
        }
    }
    let mut text = String::from(
        "//! Opcodes that are copied: generated by `BLESS=1 cargo test -p parallax-native copied`, from the forms that\n\
         //! `parallax-silicon` holds against processors.\n\n\
         use iced_x86::Code;\n\n\
         /// Each with [`crate::forms::WITH_REGISTERS`], [`crate::forms::WITH_MEMORY`], or both.\n\
         #[rustfmt::skip]\n\
         pub const COPIED: &[(Code, u8)] = &[\n",
    );
    for (name, variants) in listed.values() {
        text.push_str(&format!("    (Code::{name}, {variants}),\n"));
    }
    text.push_str("];\n");
    text
}

fn sample(form: Form, overrides: &Overrides, random: &mut Random) -> Option<(Case, Instruction)> {
    let case = Case::new(form, random)?;
    match overrides.lift(case.registers.rip, &case.bytes) {
        Answer::Lifted(lifted) => Some((case, lifted)),
        _ => None,
    }
}

#[test]
fn the_list_is_what_is_checked_against_processors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/copied.rs");
    let generated = generate();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &generated).expect("the list is written");
    }
    let committed = std::fs::read_to_string(path).expect("the list");
    assert!(committed == generated, "src/copied.rs is not what the forms give; BLESS=1 writes it anew");
    assert!(parallax_native::copied::COPIED.len() > 800, "{} opcodes", parallax_native::copied::COPIED.len());
}

/// Nothing that needs the exact engine got into the list by a way that was not thought of.
#[test]
fn what_must_be_left_is_left() {
    use iced_x86::{Decoder, DecoderOptions};
    let left: &[(&str, &[u8])] = &[
        ("syscall", &[0x0f, 0x05]),
        ("sysenter", &[0x0f, 0x34]),
        ("int 3", &[0xcc]),
        ("int 0x80", &[0xcd, 0x80]),
        ("cpuid", &[0x0f, 0xa2]),
        ("rdtsc", &[0x0f, 0x31]),
        ("rdtscp", &[0x0f, 0x01, 0xf9]),
        ("rdpmc", &[0x0f, 0x33]),
        ("rdrand", &[0x0f, 0xc7, 0xf0]),
        ("rdseed", &[0x0f, 0xc7, 0xf8]),
        ("rdpid", &[0xf3, 0x0f, 0xc7, 0xf8]),
        ("lsl", &[0x0f, 0x03, 0xc0]),
        ("lar", &[0x0f, 0x02, 0xc0]),
        ("verr", &[0x0f, 0x00, 0xe0]),
        ("sldt", &[0x0f, 0x00, 0xc0]),
        ("str", &[0x0f, 0x00, 0xc8]),
        ("smsw", &[0x0f, 0x01, 0xe0]),
        ("sgdt", &[0x0f, 0x01, 0x00]),
        ("sidt", &[0x0f, 0x01, 0x08]),
        ("xgetbv", &[0x0f, 0x01, 0xd0]),
        ("xsave", &[0x0f, 0xae, 0x20]),
        ("xrstor", &[0x0f, 0xae, 0x28]),
        ("fxsave", &[0x0f, 0xae, 0x00]),
        ("fnstenv", &[0xd9, 0x30]),
        ("fnsave", &[0xdd, 0x30]),
        ("rcpps", &[0x0f, 0x53, 0xc0]),
        ("rsqrtss", &[0xf3, 0x0f, 0x52, 0xc0]),
        ("fsin", &[0xd9, 0xfe]),
        ("fyl2x", &[0xd9, 0xf1]),
        ("mov ds, ax", &[0x8e, 0xd8]),
        ("mov eax, fs", &[0x8c, 0xe0]),
        ("pop fs", &[0x0f, 0xa1]),
        ("wrfsbase", &[0xf3, 0x48, 0x0f, 0xae, 0xd0]),
        ("rdgsbase", &[0xf3, 0x48, 0x0f, 0xae, 0xc8]),
        ("popf", &[0x9d]),
        ("pushf", &[0x9c]),
        ("cli", &[0xfa]),
        ("hlt", &[0xf4]),
        ("ud2", &[0x0f, 0x0b]),
        ("far call", &[0xff, 0x18]),
        ("far return", &[0xcb]),
        ("iret", &[0x48, 0xcf]),
        ("16-bit return", &[0x66, 0xc3]),
        ("rep movsb", &[0xf3, 0xa4]),
        ("repne scasb", &[0xf2, 0xae]),
        ("vaddps", &[0xc5, 0xf4, 0x58, 0xc2]),
        ("an EVEX move", &[0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1]),
        ("andn", &[0xc4, 0xe2, 0x70, 0xf2, 0xc2]),
        ("mov eax, gs:[rax]", &[0x65, 0x8b, 0x00]),
        ("mov eax, [eip]", &[0x67, 0x8b, 0x05, 0, 0, 0, 0]),
        ("xacquire lock add", &[0xf2, 0xf0, 0x01, 0x00]),
        ("shld cx, dx, 20", &[0x66, 0x0f, 0xa4, 0xd1, 20]),
        ("xbegin", &[0xc7, 0xf8, 0, 0, 0, 0]),
        ("aesenc", &[0x66, 0x0f, 0x38, 0xdc, 0xc1]),
        ("monitor", &[0x0f, 0x01, 0xc8]),
        ("clac", &[0x0f, 0x01, 0xca]),
        ("wrpkru", &[0x0f, 0x01, 0xef]),
    ];
    for (name, bytes) in left {
        let instruction = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode();
        assert!(!parallax_native::forms::is_copied(&instruction), "{name} is copied");
    }
    let copied: &[(&str, &[u8])] = &[
        ("endbr64", &[0xf3, 0x0f, 0x1e, 0xfa]),
        ("pause", &[0xf3, 0x90]),
        ("nop", &[0x0f, 0x1f, 0x44, 0, 0]),
        ("mov rax, fs:[0x28]", &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]),
        ("tzcnt", &[0xf3, 0x0f, 0xbc, 0xc0]),
        ("popcnt", &[0xf3, 0x0f, 0xb8, 0xc0]),
        ("lock cmpxchg", &[0xf0, 0x0f, 0xb1, 0x0a]),
        ("movsb", &[0xa4]),
        ("addsd", &[0xf2, 0x0f, 0x58, 0xc1]),
        ("fadd", &[0xd8, 0xc1]),
        ("fxam", &[0xd9, 0xe5]),
        ("lahf", &[0x9f]),
        ("pcmpistri", &[0x66, 0x0f, 0x3a, 0x63, 0xc1, 0x0c]),
        ("enter", &[0xc8, 8, 0, 0]),
        ("div", &[0x48, 0xf7, 0xf1]),
    ];
    for (name, bytes) in copied {
        let instruction = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode();
        assert!(parallax_native::forms::is_copied(&instruction), "{name} is left");
    }
}
