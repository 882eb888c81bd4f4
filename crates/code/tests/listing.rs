//! Listings of code that nobody chose: where instructions begin in the C library of this machine, as `objdump` has it.

use parallax_code::{Selection, load};
use parallax_sleigh::{Language, LiftError, Lifter};
use std::process::Command;

/// Slices that are compared: so many bytes, and one of so many.
const SLICE: u64 = 4096;
const ONE_OF: u64 = 12;

#[test]
fn a_listing_goes_on_behind_what_is_not_modelled() {
    let library = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
        .expect("a C library");
    let output = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn", "--section=.text", library])
        .output()
        .expect("objdump comes with the C compiler");
    let text = String::from_utf8_lossy(&output.stdout);
    let listed: Vec<(u64, bool)> = text
        .lines()
        .filter_map(|line| {
            let (address, rest) = line.trim_start().split_once(":\t")?;
            Some((u64::from_str_radix(address, 16).ok()?, rest.contains("(bad)")))
        })
        .collect();
    assert!(listed.len() > 100_000, "objdump lists {} instructions", listed.len());
    let bytes = std::fs::read(library).unwrap();
    let first = listed[0].0;
    let mut lifter = Lifter::new(Language::find("x86-64").unwrap()).unwrap();
    let (mut compared, mut refused) = (0, 0);
    for slice in listed.chunk_by(|(a, _), (b, _)| (a - first) / SLICE == (b - first) / SLICE) {
        let number = (slice[0].0 - first) / SLICE;
        // Where objdump knows no instruction it may lose its step.
        if number % ONE_OF != 0 || slice.len() < 2 || slice.iter().any(|(_, bad)| *bad) {
            continue;
        }
        let (start, end) = (slice[0].0, slice[slice.len() - 1].0);
        let program = load(&bytes, &Selection::Range(start..end), lifter).unwrap();
        let ours: Vec<u64> = program
            .listing()
            .iter()
            .map(|place| match place {
                Ok(instruction) => instruction.address,
                Err((address, error)) => {
                    assert!(matches!(error, LiftError::Unsupported { .. }), "{address:#x}: {error}");
                    refused += 1;
                    *address
                }
            })
            .collect();
        let theirs: Vec<u64> = slice[..slice.len() - 1].iter().map(|(address, _)| *address).collect();
        assert_eq!(ours, theirs, "from {start:#x} on");
        compared += ours.len();
        lifter = program.into_lifter();
    }
    println!("{compared} instructions, {refused} of them not modelled");
    assert!(compared > 10_000, "{compared} instructions were compared");
    assert!(refused > 0, "all of them are modelled: then this test says nothing");
}
