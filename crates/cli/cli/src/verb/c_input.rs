//! How an input of a C program is written: as JSON, for people, and as tests.

use anyhow::{Context, Result};
use parallax_cexplore::driver::standalone;
use parallax_cexplore::explore::{Exploration, Input, PathEnd, Settings};
use parallax_cexplore::{Program, ktest, run};
use parallax_cli_base::words::counted;
use parallax_op::Bits;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
    parts.extend(
        unknown_files(given).iter().map(|(name, content)| format!("file {name} {}", quoted(content))),
    );
    let variables = given.environment.iter();
    parts.extend(variables.map(|(name, value)| format!("environment {name}={}", quoted(value))));
    parts.extend(values(&given.values));
    if !given.memory.arguments.is_empty() {
        let list: Vec<String> = given.memory.arguments.iter().map(|a| argument(given, a)).collect();
        parts.push(format!("call ({})", list.join(", ")));
    }
    for (index, block) in given.memory.blocks.iter().enumerate() {
        parts.push(format!(
            "block {index} ({}, {}) {}",
            block.name,
            counted(block.size, "byte"),
            contents(given, block)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Files whose content is part of the input: not those that were given as they are.
fn unknown_files(given: &Input) -> &[(String, Vec<u8>)] {
    &given.files[..given.files.len().saturating_sub(given.given_files)]
}

/// What harness functions return, each by its name; an array that was asked for byte by byte (`name[0]`, `name[1]`) as one.
fn values(given: &[(String, Bits)]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = given;
    while let Some(((name, bits), behind)) = rest.split_first() {
        let array = name.strip_suffix("[0]").unwrap_or_default();
        let is_next = |(index, (name, bits)): &(usize, &(String, Bits))| {
            !array.is_empty() && bits.width() == 8 && *name == format!("{array}[{index}]")
        };
        let bytes: Vec<u8> =
            rest.iter().enumerate().take_while(is_next).map(|(_, (_, bits))| byte(bits)).collect();
        if bytes.len() > 1 {
            parts.push(format!("{array} = {}", together(&bytes)));
            rest = &rest[bytes.len()..];
        } else {
            parts.push(format!("{name} = {}", number(bits)));
            rest = behind;
        }
    }
    parts
}

fn byte(bits: &Bits) -> u8 {
    bits.to_u64().unwrap_or(0) as u8
}

/// What a block of memory holds: bytes that lie side by side together, as text where they are text.
fn contents(given: &Input, block: &run::Block) -> String {
    let mut bytes: BTreeMap<u64, u8> = BTreeMap::new();
    let mut cells: BTreeMap<u64, String> = BTreeMap::new();
    for (at, bits) in &block.bits {
        match bits.to_u64().filter(|_| bits.width() == 8) {
            Some(value) => drop(bytes.insert(*at, value as u8)),
            None => drop(cells.insert(*at, number(bits))),
        }
    }
    cells.extend(block.pointers.iter().map(|(at, place)| (*at, place_text(given, place))));
    let mut rest = bytes.iter().peekable();
    while let Some((&start, &first)) = rest.next() {
        let mut run = vec![first];
        while let Some((_, byte)) = rest.next_if(|(at, _)| **at == start + run.len() as u64) {
            run.push(*byte);
        }
        let is_alone = run.len() == 1 && !is_text(&run);
        let shown = if is_alone { number(&Bits::new(8, first.into())) } else { together(&run) };
        if start == 0 && run.len() == bytes.len() && cells.is_empty() && !is_alone {
            return shown;
        }
        cells.insert(start, shown);
    }
    let cells: Vec<String> = cells.iter().map(|(at, value)| format!("{at}: {value}")).collect();
    format!("{{{}}}", cells.join(", "))
}

/// Bytes that lie side by side: as text, or `bytes 01 ff 00`.
fn together(bytes: &[u8]) -> String {
    if is_text(bytes) {
        return quoted(bytes);
    }
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bytes {}", digits.join(" "))
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
    if !unknown_files(input).is_empty() {
        let files: serde_json::Map<String, Value> =
            unknown_files(input).iter().map(|(name, content)| (name.clone(), bytes(content))).collect();
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

fn number(bits: &Bits) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn block(cells: &[(u64, u16, u128)]) -> run::Block {
        let bits = cells.iter().map(|&(at, width, value)| (at, Bits::new(width, value))).collect();
        run::Block { name: "*p".into(), size: 64, bits, ..run::Block::default() }
    }

    #[test]
    fn bytes_side_by_side_are_shown_together() {
        let shown = |cells: &[(u64, u16, u128)]| contents(&Input::default(), &block(cells));
        assert_eq!(shown(&[]), "{}");
        assert_eq!(shown(&[(0, 8, 71), (1, 8, 73), (2, 8, 70)]), "\"GIF\"");
        assert_eq!(shown(&[(2, 8, 0), (0, 8, 1), (1, 8, 255)]), "bytes 01 ff 00");
        assert_eq!(shown(&[(0, 8, 3)]), "{0: 3}");
        assert_eq!(shown(&[(4, 8, 255)]), "{4: -1}");
        assert_eq!(shown(&[(10, 8, 1), (0, 32, 7), (11, 8, 2), (9, 8, 0)]), "{0: 7, 9: bytes 00 01 02}");
        let value = |name: &str, value: u128| (name.to_string(), Bits::new(8, value));
        let given =
            [value("a[0]", 104), value("a[1]", 105), value("b", 5), value("a[0]", 1), value("a[2]", 2)];
        assert_eq!(values(&given), ["a = \"hi\"", "b = 5", "a[0] = 1", "a[2] = 2"]);
    }
}
