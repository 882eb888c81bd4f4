//! Good files load as Linux loads them; bad ones are refused with a reason.

use super::*;
use crate::memory::{Access, Memory};
use crate::outside::live::Live;
use crate::outside::{Exec, Outside};
use std::path::PathBuf;

fn opened(path: &str) -> Result<Exec, LoadError> {
    Live::embedded().load(PathBuf::from(path), Vec::new())
}

fn shell() -> Vec<u8> {
    std::fs::read("/bin/sh").unwrap()
}

#[test]
fn a_dynamic_program_brings_its_interpreter() {
    let (mut memory, loaded) = load(&opened("/bin/sh").unwrap(), 1 << 30, 8 << 20).unwrap();
    assert_eq!(loaded.machine, Machine::X86_64);
    assert_ne!(loaded.start, loaded.entry);
    let mut bytes = [0; 4];
    memory.read(loaded.headers, &mut bytes).unwrap();
    // The first program header describes the headers themselves.
    assert_eq!(u32::from_le_bytes(bytes), elf::PT_PHDR);
    assert_eq!(memory.fetch(loaded.start, &mut bytes).unwrap(), 4);
    assert_eq!(memory.write(loaded.start, &bytes).unwrap_err().access, Access::Write);
    let name = Symbols::default().describe(&memory, loaded.start);
    assert!(name.contains("ld-linux"), "{name}");
}

/// What was put on the stack, read back the way `_start` reads it.
#[test]
fn the_first_stack_holds_what_was_given() {
    let (mut memory, loaded) = load(&opened("/bin/sh").unwrap(), 1 << 30, 8 << 20).unwrap();
    let vectors = Vectors {
        arguments: vec![b"sh".to_vec(), b"-c".to_vec(), Vec::new()],
        environment: vec![b"A=b".to_vec()],
        path: b"/bin/sh".to_vec(),
        random: [7; 16],
        identity: [1, 2, 3, 4],
    };
    let mut at = build_stack(&mut memory, &loaded, &vectors).unwrap().unwrap().pointer;
    assert_eq!(at % 16, 0);
    let mut next = |memory: &mut Memory| {
        at += 8;
        u64::from_le_bytes(memory.load::<8>(at - 8).unwrap())
    };
    assert_eq!(next(&mut memory), 3);
    // Each begins where the one before ends, as under Linux.
    let mut end = None;
    for text in &vectors.arguments {
        let pointer = next(&mut memory);
        assert_eq!(memory.read_string(pointer, 100).unwrap().unwrap(), *text);
        assert_eq!(pointer, end.unwrap_or(pointer));
        end = Some(pointer + text.len() as u64 + 1);
    }
    assert_eq!(next(&mut memory), 0);
    let pointer = next(&mut memory);
    assert_eq!(memory.read_string(pointer, 100).unwrap().unwrap(), b"A=b");
    assert_eq!(Some(pointer), end);
    assert_eq!(next(&mut memory), 0);
    let mut auxiliary = std::collections::HashMap::new();
    loop {
        let (key, value) = (next(&mut memory), next(&mut memory));
        if key == 0 {
            break;
        }
        auxiliary.insert(key, value);
    }
    assert_eq!(auxiliary[&libc::AT_ENTRY], loaded.entry);
    assert_eq!(auxiliary[&libc::AT_EGID], 4);
    assert_eq!(memory.load::<16>(auxiliary[&libc::AT_RANDOM]).unwrap(), [7; 16]);
    assert_eq!(memory.read_string(auxiliary[&libc::AT_EXECFN], 100).unwrap().unwrap(), b"/bin/sh");
}

#[test]
fn strings_that_do_not_fit_are_refused() {
    let (mut memory, loaded) = load(&opened("/bin/sh").unwrap(), 1 << 30, 8 << 20).unwrap();
    let vectors = Vectors { arguments: vec![vec![b'x'; 3 << 20]], ..Vectors::default() };
    assert_eq!(build_stack(&mut memory, &loaded, &vectors).unwrap(), None);
}

#[test]
fn every_truncation_is_refused_or_harmless() {
    let bytes = shell();
    for length in (0..2000).chain((2000..bytes.len()).step_by(997)) {
        // The section headers at the end are not needed to run a program; everything else is.
        if Image::parse(&bytes[..length]).is_ok() {
            assert!(length > bytes.len() / 2, "accepted with {length} bytes");
        }
    }
}

#[test]
fn wrong_files_are_named_for_what_they_are() {
    assert_eq!(Image::parse(b""), Err(ImageError::NotElf));
    assert_eq!(Image::parse(b"#!/bin/sh\necho hello\n"), Err(ImageError::NotElf));
    let mut other = shell();
    other[18] = 0xb7;
    assert_eq!(Image::parse(&other), Err(ImageError::OtherMachine(String::from("AArch64"))));
    let mut object = shell();
    object[16] = 1;
    assert_eq!(Image::parse(&object), Err(ImageError::NotProgram("relocatable object")));
}

/// Overwrites a field of the first loadable program header (64-bit layout: offset 8, address 16, sizes 32 and 40).
fn with_load_field(field: usize, value: u64) -> Result<Image, ImageError> {
    let mut bytes = shell();
    let table = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
    let index = (0..).find(|index| bytes[table + 56 * index..][..4] == elf::PT_LOAD.to_le_bytes()).unwrap();
    bytes[table + 56 * index + field..][..8].copy_from_slice(&value.to_le_bytes());
    Image::parse(&bytes)
}

#[test]
fn impossible_segments_are_refused() {
    for (field, value) in [
        (8, !0xfff),
        (16, !0xfff),
        (16, 0x7fff_ffff_f000),
        (16, 0x123),
        (32, u64::MAX),
        (40, u64::MAX),
        (40, 1),
    ] {
        let result = with_load_field(field, value);
        assert!(matches!(result, Err(ImageError::BadSegment { .. })), "{field} {value:#x}: {result:?}");
    }
    // A terabyte of zeros is a large program, not a wrong one.
    assert!(with_load_field(40, 1 << 40).is_ok());
}

/// Mutated programs: headers of a real file with a few bytes changed are refused or load within bounds, and neither
/// reading, loading nor naming an address panics. `FUZZ_ROUNDS` says how many (`make fuzz WHAT="loader ROUNDS=100000"`).
#[test]
fn mutated_images_are_refused_or_load_within_bounds() {
    let rounds = std::env::var("FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(400u64);
    let original = shell();
    let folder = std::env::temp_dir().join(format!("parallax-mutated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("program");
    // What is not executable is not run: written once so, and written over.
    std::fs::write(&path, b"").unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let (mut refused, mut unloadable, mut loaded) = (0u64, 0u64, 0u64);
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..rounds {
        let mut bytes = original.clone();
        for _ in 0..1 + next() % 4 {
            // The ELF header and the program headers, where a change means most; now and then anywhere.
            let reach = if next() % 8 == 0 { bytes.len() as u64 } else { 64 + 13 * 56 };
            let at = (next() % reach) as usize;
            bytes[at] = match next() % 3 {
                0 => 0xff,
                1 => bytes[at] ^ 1 << (next() % 8),
                _ => next() as u8,
            };
        }
        if next() % 16 == 0 {
            bytes.truncate((next() % bytes.len() as u64) as usize);
        }
        if Image::parse(&bytes).is_err() {
            refused += 1;
            continue;
        }
        std::fs::write(&path, &bytes).unwrap();
        match opened(path.to_str().unwrap()).and_then(|exec| load(&exec, 64 << 20, 8 << 20)) {
            Err(_) => unloadable += 1,
            Ok((mut memory, image)) => {
                loaded += 1;
                let vectors = Vectors { arguments: vec![b"x".to_vec()], ..Vectors::default() };
                let _ = build_stack(&mut memory, &image, &vectors);
                let _ = memory.fetch(image.start, &mut [0; 16]);
                let _ = Symbols::default().describe(&memory, image.entry);
                assert!(memory.touched_pages() < 1000, "loading touched {} pages", memory.touched_pages());
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    println!("{rounds} mutated programs: {refused} refused, {unloadable} not loadable, {loaded} loaded");
    assert!(rounds < 100 || (refused > 0 && loaded > 0));
}
