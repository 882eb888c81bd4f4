//! Programs whose values come from places that are plain to see in their source.

use crate::recorded::recorder::Test;
use crate::recorded::{Recorded, brought, ends};
use parallax_flow::{Asked, Bounds, Follow, Node, Origin, What, origin};
use parallax_trace::{Target, Unwatched};
use std::ops::Range;

/// A program, and what is to be said of its values.
type Plan = fn() -> Result<(), String>;

pub fn tests() -> Vec<Test> {
    let tests: [(&str, Plan); 5] = [
        ("values", values),
        ("interrupts", interrupts),
        ("threads", threads),
        ("neighbours", neighbours),
        ("bounds", bounds),
    ];
    tests.map(|(name, test)| -> Test { (format!("planned: {name}"), Box::new(test)) }).into()
}

const INPUT: &[u8; 32] = b"abcdefg\x01ijklmnopqrstuvwxyz012345";

fn expect<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
    answer: &Origin,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?} instead of {expected:?}\n{answer:#?}"))
}

/// The input bytes that a variable comes from are these, and no others.
fn inputs(recorded: &Recorded, name: &str, expected: Range<u64>, follow: Follow) -> Result<Origin, String> {
    let base = recorded.symbol("input")?.start;
    let found = recorded.variable(name, follow)?;
    let bytes: Vec<u64> = brought(&found, "read").into_iter().map(|byte| byte - base).collect();
    expect(name, bytes, expected.collect(), &found)?;
    expect(&format!("{name} is cut"), found.cut.is_some(), false, &found)?;
    Ok(found)
}

fn has(found: &Origin, what: &str, is: impl Fn(&Node) -> bool) -> Result<(), String> {
    if found.nodes.iter().any(is) { Ok(()) } else { Err(format!("no {what}\n{found:#?}")) }
}

fn values() -> Result<(), String> {
    let recorded = Recorded::of("values", INPUT)?;
    let plain = Follow::default();
    inputs(&recorded, "copied", 0..8, plain)?;
    inputs(&recorded, "swapped", 0..8, plain)?;
    let constant = |node: &Node| matches!(&node.what, What::Instruction { constant: true, .. });
    // The lifter knows what `xor` of a register with itself is; of `sub` only the operation tells.
    for name in ["cancelled", "subtracted"] {
        let found = inputs(&recorded, name, 0..0, plain)?;
        expect(name, ends(&found).into_iter().filter(|node| constant(node)).count(), 1, &found)?;
    }
    let found = inputs(&recorded, "partial", 3..4, plain)?;
    has(&found, "constant in partial", constant)?;
    // The bytes above AL do not come from the input, and AL not from the constant.
    let partial = recorded.symbol("partial")?;
    let end = recorded.travel.span().end;
    let above = recorded.memory(partial.start + 1..partial.start + 4, end, plain)?;
    expect("above AL", brought(&above, "read").len(), 0, &above)?;
    let lowest = recorded.memory(partial.start..partial.start + 1, end, plain)?;
    expect("AL", lowest.nodes.iter().any(constant), false, &lowest)?;
    // One byte of a sum of vectors comes from one byte of each.
    let vectors = recorded.symbol("vectors")?;
    let base = recorded.symbol("input")?.start;
    let third = recorded.memory(vectors.start + 3..vectors.start + 4, end, plain)?;
    let bytes: Vec<u64> = brought(&third, "read").into_iter().map(|byte| byte - base).collect();
    expect("lane 3", bytes, vec![11, 19], &third)?;
    // The side taken alone, and what decided if that is asked for.
    inputs(&recorded, "chosen", 16..24, plain)?;
    inputs(&recorded, "chosen", 16..25, Follow { conditions: true, ..plain })?;
    inputs(&recorded, "picked", 0..0, plain)?;
    inputs(&recorded, "picked", 7..8, Follow { addresses: true, ..plain })?;
    let found = inputs(&recorded, "moved", 6..7, plain)?;
    has(&found, "mremap", |node| node.what == What::Moved)?;
    for name in ["fresh", "dropped"] {
        let found = inputs(&recorded, name, 0..0, plain)?;
        has(&found, name, |node| node.what == What::Mapped { file: None })?;
        expect(name, ends(&found).len(), 1, &found)?;
    }
    let found = inputs(&recorded, "filed", 0..0, plain)?;
    has(
        &found,
        "a file",
        |node| matches!(&node.what, What::Mapped { file: Some((name, 1)) } if name.ends_with("values")),
    )?;
    let found = inputs(&recorded, "image", 0..0, plain)?;
    has(&found, "the program's file", |node| {
        node.time == 0
            && matches!(&node.what, What::Mapped { file: Some((name, _)) } if name.ends_with("values"))
    })?;
    let found = inputs(&recorded, "argument", 0..0, plain)?;
    has(&found, "the start", |node| node.time == 0 && matches!(&node.what, What::Start { .. }))?;
    let found = inputs(&recorded, "drawn", 0..0, plain)?;
    expect("getrandom", brought(&found, "getrandom").len(), 1, &found)?;
    let found = inputs(&recorded, "stamp", 0..0, plain)?;
    has(
        &found,
        "rdtsc",
        |node| matches!(&node.what, What::Instruction { text, .. } if text.contains("rdtsc")),
    )?;
    let found = inputs(&recorded, "patched", 0..0, plain)?;
    let texts: Vec<&What> = ends(&found).into_iter().map(|node| &node.what).collect();
    let is_new = |what: &&What| matches!(what, What::Instruction { text, .. } if text.to_lowercase().contains("ebx,5"));
    expect("the changed instruction", texts.iter().filter(|what| is_new(what)).count(), 1, &found)
}

fn interrupts() -> Result<(), String> {
    let recorded = Recorded::of("interrupts", &INPUT[..16])?;
    let found = inputs(&recorded, "survived", 0..8, Follow::default())?;
    has(&found, "the handler's return", |node| node.what == What::HandlerReturn)?;
    has(&found, "the frame", |node| node.what == What::Delivery { signal: 10 } && !node.is_end())?;
    let found = inputs(&recorded, "given", 0..0, Follow::default())?;
    has(&found, "the signal", |node| node.what == What::Delivery { signal: 10 } && node.is_end())
}

fn threads() -> Result<(), String> {
    let recorded = Recorded::of("threads", &INPUT[..16])?;
    inputs(&recorded, "by_memory", 0..8, Follow::default())?;
    inputs(&recorded, "summed", 8..12, Follow::default())?;
    let found = inputs(&recorded, "by_register", 0..8, Follow::default())?;
    has(&found, "the making of the thread", |node| node.what == What::Thread)
}

fn neighbours() -> Result<(), String> {
    let recorded = Recorded::of("neighbours", b"")?;
    let found = recorded.variable("heard", Follow::default())?;
    has(&found, "the other process", |node| node.what == What::Foreign && node.is_end())?;
    let found = recorded.variable("own", Follow::default())?;
    expect("own", found.nodes.iter().any(|node| node.what == What::Foreign), false, &found)
}

fn bounds() -> Result<(), String> {
    let recorded = Recorded::of("threads", &INPUT[..16])?;
    let asked = Asked::Memory(recorded.symbol("summed")?);
    let end = recorded.travel.span().end;
    let ask = |bounds| {
        let found = origin(&recorded.travel, end, &asked, Follow::default(), bounds, &Unwatched);
        found.map_err(|error| error.to_string())
    };
    let few = ask(Bounds { nodes: 20, ..Bounds::default() })?;
    let Some(cut) = &few.cut else { return Err(String::from("not cut")) };
    if few.nodes.len() > 25 || cut.left.is_empty() || cut.time > few.nodes.last().map_or(0, |node| node.time)
    {
        return Err(format!("{few:#?}"));
    }
    let near = ask(Bounds { steps: 1000, nodes: 1000 })?;
    let Some(cut) = &near.cut else { return Err(String::from("not cut by steps")) };
    if cut.time != end - 1000 {
        return Err(format!("cut at {}, and {end} is the end", cut.time));
    }
    let wrong = origin(&recorded.travel, end + 1, &asked, Follow::default(), Bounds::default(), &Unwatched);
    let nothing = Asked::Memory(8..16);
    let unmapped = origin(&recorded.travel, end, &nothing, Follow::default(), Bounds::default(), &Unwatched);
    let register = Asked::Register { name: String::from("RQX"), thread: None };
    let unknown = origin(&recorded.travel, end, &register, Follow::default(), Bounds::default(), &Unwatched);
    if wrong.is_ok() || unmapped.is_ok() || unknown.is_ok() {
        return Err(String::from("nonsense has an answer"));
    }
    Ok(())
}
