//! Instructions from templates are what they are when they are lifted where they stand.

use super::*;
use crate::elf::Machine;
use object::{Object, ObjectSection, SectionKind};
use parallax_sleigh::{Language, Lifter};
use rustc_hash::FxHashMap;

/// Everything that templates are made with, and were made.
struct Bench {
    lifter: Lifter,
    registers: Registers,
    encoder: Encoder,
    improver: Improver,
    flags: Vec<Slot>,
    templates: FxHashMap<u128, Option<Template>>,
}

impl Bench {
    fn new() -> Self {
        let lifter =
            Lifter::new(Language::find("x86-64").expect("bundled")).expect("it loads").without_texts();
        let registers = Registers::new(lifter.processor().clone());
        let scratch = (registers.temporaries() + crate::registers::TEMPORARIES - 64) as u16;
        let encoder = Encoder { processor: lifter.processor().clone(), scratch, watched: false };
        let place = |name: &&str| lifter.processor().register(name).map(|flag| flag.place);
        let slot = |place: parallax_ir::Varnode| {
            Some(Slot { at: registers.offset(place)? as u16, size: place.bytes })
        };
        let flags = Machine::X86_64.abi().flags.iter().filter_map(place).filter_map(slot).collect();
        let improver = Improver::new(registers.bytes().len());
        Bench { lifter, registers, encoder, improver, flags, templates: FxHashMap::default() }
    }

    /// The instruction at an address by its template and as it stands there; none if it has no template. How many bytes it has.
    fn check(&mut self, address: u64, bytes: &[u8]) -> (usize, Option<Result<(), String>>) {
        let Some(shape) = self.lifter.shape(address, bytes) else { return (1, None) };
        let length = usize::from(shape.length);
        let (registers, encoder, flags) = (&self.registers, &self.encoder, self.flags.as_slice());
        let mut maker = Maker { registers, encoder, improver: &mut self.improver, flags };
        let template = self.templates.entry(shape.key).or_insert_with(|| {
            self.lifter.samples(&bytes[..length]).and_then(|samples| maker.make(&samples, false))
        });
        let Some(template) = template else { return (length, None) };
        let Ok(instruction) = self.lifter.lift(address, bytes) else {
            return (length, Some(Err("it cannot be lifted".to_owned())));
        };
        let addresses = Addresses { next: instruction.next(), target: shape.target };
        let (nodes, labels, end) = maker.flatten(&instruction, false).expect("it fits");
        let shift = Shift { instruction: 0, labels: 0, temporaries: (registers.temporaries() as u16, 0) };
        let mut placed = Vec::new();
        template.place(&mut placed, addresses, &shift, u64::MAX);
        let result = same_nodes(&nodes, &placed)
            .and_then(|()| same_glance(&Glance::new(&instruction, registers, flags), template, addresses))
            .and_then(|()| match &template.code {
                Some(code) => {
                    let mut ready = nodes;
                    if code.numbers.is_empty() && template.spots.is_empty() {
                        let boundary = maker.boundary(end);
                        maker.improver.improve(&mut ready, labels, &boundary);
                    }
                    let mut expected = Encoded::default();
                    encoder.append(&mut expected, &ready, labels).expect("it can be encoded");
                    let mut made = Encoded::default();
                    code.append(&mut made, addresses, u64::MAX);
                    same_code(&expected, &made, code)
                }
                None => Ok(()),
            });
        (length, Some(result))
    }
}

fn same_nodes(expected: &[Node], placed: &[Node]) -> Result<(), String> {
    let parts = |node: &Node| (node.kind.clone(), node.out, node.widened, node.inputs.clone());
    match expected.iter().map(parts).eq(placed.iter().map(parts)) {
        true => Ok(()),
        false => Err(format!("nodes {expected:?}\nplaced {placed:?}")),
    }
}

fn same_glance(expected: &Glance, template: &Template, addresses: Addresses) -> Result<(), String> {
    let known = |glance: &Glance| {
        let to = glance.transfers.iter().map(|(when, to)| (*when, to.map(|to| to.at(addresses))));
        (glance.read, glance.written, glance.ends, glance.traps, to.collect::<Vec<_>>())
    };
    match known(expected) == known(&template.glance) {
        true => Ok(()),
        false => Err(format!("glance {:?} {:?}", known(expected), known(&template.glance))),
    }
}

fn same_code(expected: &Encoded, made: &Encoded, code: &Code) -> Result<(), String> {
    let general = expected.general.iter().zip(&code.general).all(|(one, other)| one.is_like(other));
    let pointers = |list: &[Box<General>]| list.iter().map(|general| address(general)).collect::<Vec<_>>();
    let (ours, theirs) = (pointers(&expected.general), pointers(&code.general));
    // The instruction's number in its block stands above the shift of an access.
    let shift = (1 << super::super::micro::SHIFT_BITS) - 1;
    let accesses = |micro: &Micro, other: &Micro| micro.c == other.c || micro.c & shift == other.c & shift;
    let same = |(one, other): (&Micro, &Micro)| {
        let places = |micro: &Micro| (micro.run as usize, micro.out, micro.a, micro.b);
        let constants = one.constant == other.constant
            || ours
                .iter()
                .position(|own| *own == one.constant)
                .is_some_and(|at| theirs[at] == other.constant);
        places(one) == places(other) && accesses(one, other) && constants
    };
    let alike = ours.len() == theirs.len()
        && expected.code.len() == made.code.len()
        && expected.exits == made.exits
        && expected.code.iter().zip(&made.code).all(same);
    if general && alike { Ok(()) } else { Err(format!("{} operations", expected.code.len())) }
}

/// Every instruction of the code of some programs and libraries, one after the other.
#[test]
fn every_instruction_of_some_programs() {
    let files = ["/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6"];
    let mut bench = Bench::new();
    let (mut checked, mut without) = (0, 0);
    for file in files {
        let Ok(contents) = std::fs::read(file) else {
            eprintln!("skipped: there is no {file}");
            continue;
        };
        let parsed = object::File::parse(contents.as_slice()).expect("an ELF file");
        for section in parsed.sections().filter(|section| section.kind() == SectionKind::Text) {
            let bytes = section.data().expect("it is in the file");
            let mut at = 0;
            while at < bytes.len() {
                let address = 0x5555_5555_4000 + section.address() + at as u64;
                let window = &bytes[at..bytes.len().min(at + 15)];
                let (length, result) = bench.check(address, window);
                match result {
                    Some(result) => {
                        checked += 1;
                        if let Err(why) = result {
                            panic!(
                                "{file} at {:#x}, {:02x?}: {why}",
                                section.address() + at as u64,
                                &window[..length]
                            );
                        }
                    }
                    None => without += 1,
                }
                at += length;
            }
            bench.lifter.forget();
        }
    }
    let templates = bench.templates.values().filter(|template| template.is_some()).count();
    println!("{checked} instructions are those of {templates} templates, {without} have none");
    // Those of AVX-512, and data between the code.
    assert!(without < checked / 4, "{without} of {checked} have no template");
}

/// What is not wanted is what computes flags, and nothing else.
#[test]
fn only_flags_are_left_out() {
    let mut bench = Bench::new();
    let operations = |bench: &mut Bench, bytes: &[u8], wanted: u64| {
        let (length, result) = bench.check(0x1000, bytes);
        assert_eq!((length, result), (bytes.len(), Some(Ok(()))));
        let shape = bench.lifter.shape(0x1000, bytes).expect("an instruction");
        let template = bench.templates[&shape.key].as_ref().expect("a template");
        let mut made = Encoded::default();
        let addresses = Addresses { next: 0x1000 + bytes.len() as u64, target: None };
        template.code.as_ref().expect("ready").append(&mut made, addresses, wanted | ALWAYS);
        made.code.len()
    };
    // add rax, rbx; cmp rax, rbx; mov rax, rbx; add [rax], rbx
    assert_eq!(operations(&mut bench, &[0x48, 0x01, 0xd8], 0), 2);
    assert_eq!(operations(&mut bench, &[0x48, 0x39, 0xd8], 0), 0);
    assert_eq!(operations(&mut bench, &[0x48, 0x89, 0xd8], 0), 1);
    assert_eq!(operations(&mut bench, &[0x48, 0x01, 0x18], 0), 3);
    for flag in 0..bench.flags.len() {
        assert!(operations(&mut bench, &[0x48, 0x39, 0xd8], 1 << flag) <= 6);
    }
}
