//! How an input of a C program is written: as JSON, for people, and as tests.

use anyhow::{Context, Result};
use parallax_cexplore::driver::standalone;
use parallax_cexplore::explore::{Exploration, Input, PathEnd, Settings};
use parallax_cexplore::{Program, ktest, run};
use serde_json::{Value, json};
use std::path::Path;

/// Bytes as JSON: text where they are text, and otherwise `{ "hex": ... }`.
pub fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "hex": bytes.iter().map(|b| format!("{b:02x}")).collect::<String>() }),
    }
}

/// Bytes as a C string literal.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            0x20..=0x7e => text.push(byte as char),
            // Three octal digits cannot run into what follows; a lone zero is shorter.
            0 if bytes.get(index + 1).is_none_or(|next| !next.is_ascii_digit()) => text.push_str("\\0"),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text + "\""
}

/// Bytes whose printable part is most of them are text.
fn is_text(bytes: &[u8]) -> bool {
    let printable = bytes.iter().filter(|b| matches!(b, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)).count();
    printable > 0 && 2 * printable >= bytes.len()
}

/// An input for people, on one line; nothing where the program needs none.
pub fn shown(given: &Input) -> Option<String> {
    let mut parts = Vec::new();
    if given.arguments.len() > 1 {
        let words: Vec<String> = given.arguments[1..].iter().map(|a| quoted(a)).collect();
        parts.push(format!("arguments {}", words.join(" ")));
    }
    if !given.stdin.is_empty() {
        parts.push(format!("stdin {}", quoted(&given.stdin)));
    }
    parts.extend(given.files.iter().map(|(name, content)| format!("file {name} {}", quoted(content))));
    let variables = given.environment.iter();
    parts.extend(variables.map(|(name, value)| format!("environment {name}={}", quoted(value))));
    parts.extend(given.values.iter().map(|(name, bits)| format!("{name} = {}", number(bits))));
    if !given.memory.arguments.is_empty() {
        let list: Vec<String> = given.memory.arguments.iter().map(|a| argument(given, a)).collect();
        parts.push(format!("call ({})", list.join(", ")));
    }
    for (index, block) in given.memory.blocks.iter().enumerate() {
        parts.push(format!(
            "block {index} ({}, {} bytes) {}",
            block.name,
            block.size,
            contents(given, block)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What a block of memory holds: as text where it is text from its start on.
fn contents(given: &Input, block: &run::Block) -> String {
    let mut cells: Vec<(u64, String)> = block.bits.iter().map(|(at, bits)| (*at, number(bits))).collect();
    cells.extend(block.pointers.iter().map(|(at, place)| (*at, place_text(given, place))));
    cells.sort();
    let mut text: Vec<(u64, u8)> = Vec::new();
    for (at, bits) in &block.bits {
        match bits.to_u64().filter(|_| bits.width() == 8) {
            Some(byte) => text.push((*at, byte as u8)),
            None => text.clear(),
        }
    }
    text.sort_unstable();
    text.dedup_by_key(|(at, _)| *at);
    let bytes: Vec<u8> = text.iter().map(|(_, byte)| *byte).collect();
    let whole = text.len() == cells.len() && text.iter().zip(0..).all(|((at, _), index)| *at == index);
    match whole && is_text(&bytes) {
        true => quoted(&bytes),
        false => {
            let cells: Vec<String> = cells.iter().map(|(at, value)| format!("{at}: {value}")).collect();
            format!("{{{}}}", cells.join(", "))
        }
    }
}

fn argument(given: &Input, argument: &run::Argument) -> String {
    match argument {
        run::Argument::Bits(bits) => number(bits),
        run::Argument::Pointer(place) => place_text(given, place),
        run::Argument::Many(parts) => parts.iter().map(number).collect::<Vec<_>>().join(" "),
    }
}

/// An input as JSON: nothing is lost.
pub fn input(input: &Input) -> Value {
    let mut result = serde_json::Map::new();
    if input.arguments.len() > 1 {
        result.insert("arguments".into(), input.arguments[1..].iter().map(|a| bytes(a)).collect());
    }
    if !input.stdin.is_empty() {
        result.insert("stdin".into(), bytes(&input.stdin));
    }
    if !input.files.is_empty() {
        let files: serde_json::Map<String, Value> =
            input.files.iter().map(|(name, content)| (name.clone(), bytes(content))).collect();
        result.insert("files".into(), files.into());
    }
    if !input.environment.is_empty() {
        let variables: serde_json::Map<String, Value> =
            input.environment.iter().map(|(name, value)| (name.clone(), bytes(value))).collect();
        result.insert("environment".into(), variables.into());
    }
    if !input.values.is_empty() {
        let values =
            input.values.iter().map(|(name, bits)| json!({ "name": name, "value": number(bits) })).collect();
        result.insert("values".into(), values);
    }
    if !input.memory.arguments.is_empty() || !input.memory.blocks.is_empty() {
        let arguments = input.memory.arguments.iter().map(|given| argument(input, given));
        result.insert("call".into(), arguments.collect());
        let blocks = input.memory.blocks.iter().enumerate().map(|(index, block)| {
            let cells = block.bits.iter().map(|(at, bits)| (*at, number(bits)));
            let pointers = block.pointers.iter().map(|(at, place)| (*at, place_text(input, place)));
            let contents: std::collections::BTreeMap<String, String> =
                cells.chain(pointers).map(|(at, value)| (format!("{at:04}"), value)).collect();
            json!({ "block": index, "name": block.name, "size": block.size, "contents": contents })
        });
        result.insert("memory".into(), blocks.collect());
    }
    Value::Object(result)
}

fn number(bits: &parallax_op::Bits) -> String {
    bits.to_i128().map_or_else(|| bits.to_string(), |n| n.to_string())
}

fn place_text(input: &Input, place: &run::Place) -> String {
    match place {
        run::Place::Null => "NULL".into(),
        run::Place::Block(index, 0) => format!("&block {index} ({})", input.memory.blocks[*index].name),
        run::Place::Block(index, offset) => format!("&block {index} + {offset}"),
        run::Place::Function(_) => "a function".into(),
    }
}

/// One test per path: the input as JSON and for KLEE's tools, and a driver that runs the program on it.
pub fn write_tests(
    folder: &Path,
    program: &Program,
    settings: &Settings,
    explored: &Exploration,
) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let write = |name: String, content: &[u8]| {
        let file = folder.join(name);
        std::fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))
    };
    for (index, record) in explored.records.iter().enumerate() {
        let name = format!("test{:05}", index + 1);
        let mut test = json!({ "input": input(&record.input) });
        match &record.end {
            PathEnd::Exit(status) => {
                test["status"] = (*status).into();
                test["stdout"] = bytes(&record.stdout);
            }
            PathEnd::Mistake(problem) => test["finding"] = problem.name().into(),
        }
        write(format!("{name}.json"), format!("{test:#}\n").as_bytes())?;
        write(format!("{name}.ktest"), &ktest::write(&program.module.name, &record.input))?;
        write(format!("{name}.stdin"), &record.input.stdin)?;
        match standalone(&program.module, &record.input, settings) {
            Ok(driver) => write(format!("{name}.c"), driver.text.as_bytes())?,
            Err(why) => write(format!("{name}.txt"), format!("no driver: {why}\n").as_bytes())?,
        }
    }
    Ok(())
}
