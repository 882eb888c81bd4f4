//! Inputs as KLEE keeps them: `.ktest` files, in and out.
//!
//! A file lists objects, each a name and bytes. Arguments are `arg00`, `arg01`, ..., standard input is `stdin`, a file
//! `A` is `A-data`, as KLEE's POSIX model has them; everything else is what harness functions return, in order.

use crate::explore::Input;
use parallax_op::Bits;

const MAGIC: &[u8] = b"KTEST";
const VERSION: u32 = 3;

/// Why a file is no input.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum KtestError {
    /// It does not start as these files do.
    #[error("not a .ktest file")]
    NotKtest,
    /// A version this cannot read.
    #[error("version {0} of .ktest files is not known (1 to {VERSION} are)")]
    Version(u32),
    /// It ends before what it announces.
    #[error("the file ends in the middle of {0}")]
    Truncated(&'static str),
}

/// The file that an input is.
pub fn write(program: &str, input: &Input) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let number = |out: &mut Vec<u8>, value: usize| out.extend((value as u32).to_be_bytes());
    let bytes = |out: &mut Vec<u8>, bytes: &[u8]| {
        number(out, bytes.len());
        out.extend_from_slice(bytes);
    };
    number(&mut out, VERSION as usize);
    number(&mut out, 1);
    bytes(&mut out, program.as_bytes());
    // How many arguments are symbolic, and how long they are, is left to the names below.
    number(&mut out, 0);
    number(&mut out, 0);
    let objects = objects(input);
    number(&mut out, objects.len());
    for (name, content) in objects {
        bytes(&mut out, name.as_bytes());
        bytes(&mut out, &content);
    }
    out
}

fn objects(input: &Input) -> Vec<(String, Vec<u8>)> {
    let mut objects = Vec::new();
    for (index, argument) in input.arguments.iter().skip(1).enumerate() {
        let text = argument.iter().copied().chain([0]).collect();
        objects.push((format!("arg{index:02}"), text));
    }
    if !input.stdin.is_empty() {
        objects.push(("stdin".into(), input.stdin.clone()));
    }
    objects.extend(input.files.iter().map(|(name, bytes)| (format!("{name}-data"), bytes.clone())));
    let little_endian = |bits: &Bits| {
        let mut bytes = vec![0; usize::from(bits.width().div_ceil(8))];
        bits.write_le_bytes(&mut bytes);
        bytes
    };
    // Bytes `x[0]`, `x[1]`, ... are one object `x`.
    let mut open: Option<(String, usize)> = None;
    for (name, bits) in &input.values {
        let (stem, index) = match name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
            Some((stem, index)) => (stem, index.parse::<usize>().ok()),
            None => (name.as_str(), None),
        };
        match (&mut open, index) {
            (Some((last, next)), Some(index)) if last == stem && *next == index => {
                *next += 1;
                if let Some((_, content)) = objects.last_mut() {
                    content.extend(little_endian(bits));
                }
            }
            (_, index) => {
                objects.push((stem.to_string(), little_endian(bits)));
                open = (index == Some(0)).then(|| (stem.to_string(), 1));
            }
        }
    }
    objects
}

/// The input that a file is.
pub fn read(file: &[u8]) -> Result<Input, KtestError> {
    let Some(mut rest) = file.strip_prefix(MAGIC) else { return Err(KtestError::NotKtest) };
    let version = number(&mut rest, "its version")? as u32;
    if !(1..=VERSION).contains(&version) {
        return Err(KtestError::Version(version));
    }
    for _ in 0..number(&mut rest, "its arguments")? {
        bytes(&mut rest, "its arguments")?;
    }
    if version >= 2 {
        number(&mut rest, "its arguments")?;
        number(&mut rest, "its arguments")?;
    }
    let mut input = Input { arguments: vec![b"program".to_vec()], ..Input::default() };
    for _ in 0..number(&mut rest, "its objects")? {
        let name = String::from_utf8_lossy(&bytes(&mut rest, "the name of an object")?).into_owned();
        let content = bytes(&mut rest, "an object")?;
        let is_argument = name.strip_prefix("arg").is_some_and(|n| n.len() == 2 && n.parse::<u8>().is_ok());
        if is_argument {
            input.arguments.push(content.into_iter().take_while(|&byte| byte != 0).collect());
        } else if name == "stdin" {
            input.stdin = content;
        } else if let Some(file) = name.strip_suffix("-data") {
            input.files.push((file.to_string(), content));
        } else if name == "model_version" || name == "n_args" || name.ends_with("-stat") {
            // KLEE's own book-keeping.
        } else if matches!(content.len(), 1 | 2 | 4 | 8) {
            input.values.push((name, little_endian(&content)));
        } else {
            let parts = content.iter().enumerate();
            input
                .values
                .extend(parts.map(|(at, &byte)| (format!("{name}[{at}]"), Bits::new(8, byte.into()))));
        }
    }
    Ok(input)
}

fn number(rest: &mut &[u8], what: &'static str) -> Result<usize, KtestError> {
    let (head, tail) = rest.split_first_chunk().ok_or(KtestError::Truncated(what))?;
    *rest = tail;
    Ok(u32::from_be_bytes(*head) as usize)
}

fn bytes(rest: &mut &[u8], what: &'static str) -> Result<Vec<u8>, KtestError> {
    let len = number(rest, what)?;
    let (head, tail) = rest.split_at_checked(len).ok_or(KtestError::Truncated(what))?;
    *rest = tail;
    Ok(head.to_vec())
}

fn little_endian(bytes: &[u8]) -> Bits {
    let value = bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte));
    Bits::new((bytes.len() * 8) as u16, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> Input {
        let byte = |name: &str, value: u8| (name.to_string(), Bits::new(8, value.into()));
        Input {
            arguments: vec![b"program".to_vec(), b"-x\xff".to_vec(), Vec::new()],
            stdin: vec![0, 0x80, 0xff],
            files: vec![("A".into(), b"abc".to_vec())],
            values: vec![
                ("n".into(), Bits::new(32, 0xffff_fff0)),
                byte("text[0]", 1),
                byte("text[1]", 2),
                byte("text[2]", 0x80),
                byte("c", 7),
                byte("c", 8),
            ],
            ..Input::default()
        }
    }

    #[test]
    fn inputs_survive_the_way_out_and_in() {
        let (given, back) = (input(), read(&write("program", &input())).expect("it reads"));
        assert_eq!(back.arguments, given.arguments);
        assert_eq!((back.stdin, back.files, back.values), (given.stdin, given.files, given.values));
    }

    #[test]
    fn broken_files_are_errors() {
        let whole = write("program", &input());
        for len in 0..whole.len() {
            assert!(read(&whole[..len]).is_err(), "{len} bytes");
        }
        let mut newer = whole.clone();
        newer[8] = 9;
        assert_eq!(read(&newer).err(), Some(KtestError::Version(9)));
        // A length that is longer than the file is no reason to allocate.
        let mut long = whole;
        long[13..17].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(read(&long).is_err());
    }
}
