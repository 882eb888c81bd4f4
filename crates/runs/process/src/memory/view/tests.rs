//! Random changes of a memory: what is shown afterwards is what the slow way finds.
//!
//! Not made: memory that is shared with other processes, and files, whose pages differ from others by where they come from alone.

use crate::memory::{Access, Backing, Memory, PAGE, Permissions};
use parallax_native::host::Pool;
use parallax_native::host::keys::Key;
use std::sync::Arc;

/// Where the memory is: nothing of a test program is there.
const START: u64 = 0x2000_0000_0000;
const PAGES: u64 = 24;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn page(&mut self) -> u64 {
        START + self.below(PAGES) * PAGE
    }

    /// The start and the length of some pages.
    fn range(&mut self) -> (u64, u64) {
        let first = self.below(PAGES);
        (START + first * PAGE, (1 + self.below((PAGES - first).min(5))) * PAGE)
    }

    fn permissions(&mut self) -> Permissions {
        let read = self.below(8) > 0;
        Permissions { read, write: read && self.below(3) > 0, execute: self.below(4) == 0 }
    }
}

/// Compares what is shown with what is there; how many pages are shown.
fn check(memory: &mut Memory, random: &mut Random) -> usize {
    let view = memory.view.as_ref().expect("a memory that shows pages");
    let shown: Vec<(u64, bool)> = view.shown().collect();
    for (number, writable) in &shown {
        let address = number * PAGE;
        let (_, region) = memory.region_at(address).expect("only what is mapped is shown");
        assert!(region.permissions.allow(Access::Read) && !memory.guarded.contains(number));
        assert!(!writable || region.permissions.allow(Access::Write) && !memory.code.contains(number));
        if *writable {
            let frame = memory.pages.get_mut(number).expect("only pages of their own can be written");
            assert!(Arc::get_mut(frame).is_some() && frame.is_written(), "{address:#x}");
            let place = (address + random.below(PAGE)) as *mut u8;
            // SAFETY: shown for reading and writing.
            unsafe { *place = random.below(256) as u8 };
        }
        let mut there = [0; PAGE as usize];
        assert!(memory.peek(address, &mut there));
        // SAFETY: shown for reading.
        let seen = unsafe { std::slice::from_raw_parts(address as *const u8, PAGE as usize) };
        assert!(seen == there, "{address:#x} is shown as it was");
    }
    shown.len()
}

#[test]
fn what_is_shown_is_what_is_there() {
    let mut total = 0;
    for seed in 1..=40 {
        let mut random = Random(seed);
        let pool = Arc::new(Pool::new(Key(0)).expect("a pool"));
        let mut memory = Memory::new(!4095, PAGES * PAGE);
        memory.map(START, PAGES * PAGE, Permissions::DATA, Backing::Zero);
        memory.settle(&pool);
        let mut snapshots = Vec::new();
        for _ in 0..300 {
            match random.below(16) {
                0 => {
                    let (start, length) = random.range();
                    memory.map(start, length, random.permissions(), Backing::Zero);
                }
                1 => {
                    let (start, length) = random.range();
                    memory.unmap(start, length);
                }
                2 => {
                    let (start, length) = random.range();
                    memory.protect(start, length, random.permissions());
                }
                3 => {
                    let (start, length) = random.range();
                    memory.discard(start, length);
                }
                4 => {
                    let (from, to) = (random.page(), random.page());
                    if memory.region_at(from).is_some() && memory.is_free(to, PAGE) {
                        memory.relocate(from, PAGE, to);
                    }
                }
                5 => memory.mark_code(random.page() / PAGE),
                6 => drop(memory.take_code_changed()),
                7 => memory.guard(random.page() / PAGE, random.below(4) == 0),
                8 => snapshots.push(memory.snapshot()),
                9 => snapshots.truncate(random.below(3) as usize),
                10 | 11 => {
                    let _ = memory.write(random.page() + random.below(PAGE), &[random.below(256) as u8; 9]);
                }
                _ => {
                    let (address, writes) = (random.page() + random.below(PAGE), random.below(2) == 0);
                    let may = memory.region_at(address).is_some_and(|(_, region)| {
                        let access = if writes { Access::Write } else { Access::Read };
                        region.permissions.allow(access)
                    });
                    assert!(!memory.show(address, writes) || may);
                }
            }
            total += check(&mut memory, &mut random);
        }
    }
    assert!(total > 8_000, "{total} pages were shown");
}

/// A child of the host goes on with pages of its own.
#[test]
fn a_twin_holds_the_same_pages() {
    let pool = Arc::new(Pool::new(Key(0)).expect("a pool"));
    let mut memory = Memory::new(!4095, PAGES * PAGE);
    let start = START + (1 << 32);
    memory.map(start, 2 * PAGE, Permissions::DATA, Backing::Zero);
    memory.settle(&pool);
    memory.write(start, b"before").expect("mapped");
    let twin = memory.twin().expect("room");
    memory.write(start, b"behind").expect("mapped");
    assert!(memory.show(start, true));
    assert!(memory.become_twin(twin));
    let mut bytes = [0; 6];
    memory.read(start, &mut bytes).expect("mapped");
    assert_eq!(&bytes, b"before");
    assert!(memory.view.as_ref().is_some_and(|view| view.shown().next().is_none()));
    assert!(memory.show(start, false));
    // SAFETY: shown for reading.
    assert_eq!(unsafe { std::slice::from_raw_parts(start as *const u8, 6) }, b"before");
}
