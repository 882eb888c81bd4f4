//! The address space against a plain model, and its bounds.

use super::*;

const READ_ONLY: Permissions = Permissions { read: true, write: false, execute: false };

fn space() -> Memory {
    Memory::new(1 << 47, 1 << 30)
}

/// A small pseudo-random generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Random maps, protections, unmaps, moves, stores, loads and snapshots agree with a byte-by-byte model.
#[test]
fn agrees_with_a_byte_map() {
    const PAGES: u64 = 24;
    type Model = std::collections::HashMap<u64, (Permissions, Vec<u8>)>;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..40 {
        let mut memory = space();
        let mut model: Model = Model::new();
        let mut snapshots: Vec<(Memory, Model)> = Vec::new();
        for _ in 0..400 {
            let page = random.below(PAGES);
            let count = (1 + random.below(4)).min(PAGES - page);
            let range = || page..page + count;
            match random.below(12) {
                0 | 1 => {
                    let permissions = if random.below(4) == 0 { READ_ONLY } else { Permissions::DATA };
                    memory.map(page * PAGE, count * PAGE, permissions, Backing::Zero);
                    model.extend(range().map(|number| (number, (permissions, vec![0; PAGE as usize]))));
                }
                2 => {
                    memory.unmap(page * PAGE, count * PAGE);
                    range().for_each(|number| drop(model.remove(&number)));
                }
                3 => {
                    let all = range().all(|number| model.contains_key(&number));
                    assert_eq!(memory.protect(page * PAGE, count * PAGE, READ_ONLY), all);
                    // What lies before a gap is changed all the same.
                    let until_a_gap =
                        range().map_while(|number| model.contains_key(&number).then_some(number));
                    let changed: Vec<u64> = until_a_gap.collect();
                    changed.iter().for_each(|number| model.get_mut(number).unwrap().0 = READ_ONLY);
                }
                4 => {
                    let to = PAGES + random.below(8);
                    if range().all(|number| model.contains_key(&number))
                        && memory.is_free(to * PAGE, count * PAGE)
                    {
                        memory.relocate(page * PAGE, count * PAGE, to * PAGE);
                        for number in range() {
                            let content = model.remove(&number).unwrap();
                            model.insert(number - page + to, content);
                        }
                    }
                }
                5 if snapshots.len() < 3 => snapshots.push((memory.snapshot(), model.clone())),
                6 if !snapshots.is_empty() => {
                    let index = random.below(snapshots.len() as u64) as usize;
                    let (old, then) = &mut snapshots[index];
                    std::mem::swap(&mut memory, old);
                    std::mem::swap(&mut model, then);
                }
                7..=9 => {
                    let address = page * PAGE + random.below(PAGE);
                    let value = random.below(u64::MAX).to_le_bytes();
                    let fits = (0..8).all(|i| {
                        model.get(&((address + i) / PAGE)).is_some_and(|(permissions, _)| permissions.write)
                    });
                    assert_eq!(memory.store(address, value).is_ok(), fits);
                    if fits {
                        for (i, byte) in value.iter().enumerate() {
                            let at = address + i as u64;
                            model.get_mut(&(at / PAGE)).unwrap().1[(at % PAGE) as usize] = *byte;
                        }
                    }
                }
                _ => {
                    let address = page * PAGE + random.below(PAGE);
                    let expected: Option<Vec<u8>> = (address..address + 8)
                        .map(|at| Some(model.get(&(at / PAGE))?.1[(at % PAGE) as usize]))
                        .collect();
                    assert_eq!(memory.load::<8>(address).ok().map(Vec::from), expected);
                }
            }
        }
        for (number, (_, bytes)) in &model {
            let mut found = vec![0; PAGE as usize];
            memory.read(number * PAGE, &mut found).unwrap();
            assert_eq!(&found, bytes);
        }
    }
}

#[test]
fn a_terabyte_costs_nothing_until_touched() {
    let mut memory = space();
    memory.map(0x10_0000, 1 << 40, Permissions::DATA, Backing::Zero);
    assert_eq!(memory.load::<8>(0x10_0000 + (1 << 39)), Ok([0; 8]));
    assert_eq!(memory.touched_pages(), 0);
    memory.store(0x10_0000 + (1 << 39), [7u8; 8]).unwrap();
    assert_eq!(memory.touched_pages(), 1);
}

#[test]
fn touching_too_much_is_a_fault_and_not_an_allocation() {
    let mut memory = Memory::new(1 << 47, 16 * PAGE);
    memory.map(0, 1 << 30, Permissions::DATA, Backing::Zero);
    for number in 0..16 {
        memory.store(number * PAGE, [1u8]).unwrap();
    }
    let fault = memory.store(16 * PAGE, [1u8]).unwrap_err();
    assert_eq!((fault.cause, fault.address), (Cause::OutOfMemory, 16 * PAGE));
}

#[test]
fn writing_translated_code_is_noticed_every_time() {
    let mut memory = space();
    memory.map(0, PAGE, Permissions::DATA, Backing::Zero);
    memory.store(0, [1u8]).unwrap();
    memory.mark_code(0);
    assert!(memory.take_code_changed().is_empty());
    memory.store(8, [1u8]).unwrap();
    assert!(!memory.take_code_changed().is_empty());
    memory.mark_code(0);
    memory.store(9, [1u8]).unwrap();
    assert!(!memory.take_code_changed().is_empty());
}

/// Whoever guards a page has often touched it before, and other accesses of it are made while it is guarded.
#[test]
fn a_guarded_page_is_in_no_cache() {
    let mut memory = space();
    memory.map(0, PAGE, Permissions::DATA, Backing::Zero);
    memory.guard_code(true);
    memory.store(0, [1u8]).unwrap();
    memory.guard(0, true);
    for _ in 0..2 {
        assert_eq!(memory.load::<1>(0).unwrap_err().cause, Cause::Guarded);
        assert_eq!(memory.store(0, [2u8]).unwrap_err().cause, Cause::Guarded);
        // A system call.
        memory.guard_code(false);
        memory.store(0, [3u8]).unwrap();
        assert_eq!(memory.load::<1>(0), Ok([3]));
        memory.guard_code(true);
    }
    memory.guard(0, false);
    assert_eq!(memory.load::<1>(0), Ok([3]));
}

#[test]
fn free_ranges_are_found_from_the_top() {
    let mut memory = space();
    assert_eq!(memory.find_free(PAGE, PAGE, 10 * PAGE), Some(9 * PAGE));
    memory.map(8 * PAGE, 2 * PAGE, Permissions::DATA, Backing::Zero);
    memory.map(4 * PAGE, PAGE, Permissions::DATA, Backing::Zero);
    assert_eq!(memory.find_free(PAGE, PAGE, 10 * PAGE), Some(7 * PAGE));
    assert_eq!(memory.find_free(3 * PAGE, PAGE, 10 * PAGE), Some(5 * PAGE));
    assert_eq!(memory.find_free(4 * PAGE, PAGE, 10 * PAGE), None);
    assert_eq!(memory.find_free(u64::MAX, 0, 10 * PAGE), None);
}

#[test]
fn a_mapped_file_is_copied_page_by_page_and_ends_where_it_ends() {
    let path = std::env::temp_dir().join(format!("parallax-map-{}", std::process::id()));
    std::fs::write(&path, vec![7u8; PAGE as usize + 10]).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
    let wanted =
        crate::outside::Wanted { offset: 0, length: 3 * PAGE, shared: false, write: false, execute: false };
    let map = crate::outside::Outside::map(&mut crate::outside::live::Live::embedded(), descriptor, &wanted)
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut memory = space();
    memory.map(0x10000, 3 * PAGE, Permissions::DATA, Backing::Copied { map, offset: 0, generation: 0 });
    assert_eq!(memory.load::<2>(0x10000 + PAGE + 9), Ok([7, 0]));
    assert_eq!(memory.touched_pages(), 1);
    assert_eq!(memory.load::<1>(0x10000 + 2 * PAGE).unwrap_err().cause, Cause::BeyondFile);
}
