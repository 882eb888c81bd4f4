//! Reading MC programs.

use crate::{Instruction, MEMORY, Operand, Program, Register, SIZE, WIDTH, ZF};
use parallax_op::{Bits, UnOp};
use parallax_source::{Diagnostic, SourceFile, Span};

type Read<T> = Result<T, Diagnostic>;

/// A word of a line and its place in the file.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    span: Span,
}

/// Reads a program that lies at `base`: `label:`, instructions, and comments after `;`, `#` or `//`.
pub fn read(file: &SourceFile, base: u32) -> Read<Program> {
    let mut program = Program { base, ..Program::default() };
    let mut statements: Vec<(usize, Vec<Word<'_>>)> = Vec::new();
    let mut start = 0;
    for (index, line) in file.text.split('\n').enumerate() {
        let mut words = words(line, start)?;
        start += line.len() + 1;
        // An instruction may be closed by a semicolon, as the paper writes it; what follows one is a comment.
        while words.len() >= 2 && words[1].text == ":" && is_name(words[0].text) {
            let label = words[0];
            if program.labels.iter().any(|(known, _)| known == label.text) {
                return Err(Diagnostic::new(label.span, format!("label `{}` is set twice", label.text)));
            }
            if register(label.text).is_some() {
                return Err(Diagnostic::new(label.span, format!("`{}` is a register", label.text)));
            }
            program.labels.push((label.text.to_owned(), base + statements.len() as u32 * SIZE));
            words.drain(..2);
        }
        if !words.is_empty() {
            statements.push((index + 1, words));
        }
    }
    for (line, words) in statements {
        let instruction = instruction(&mut program, &words)?;
        program.instructions.push(instruction);
        program.lines.push(line);
    }
    Ok(program)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn register(text: &str) -> Option<Register> {
    Register::ALL.into_iter().find(|r| r.name().eq_ignore_ascii_case(text))
}

fn words(line: &str, start: usize) -> Read<Vec<Word<'_>>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if matches!(first, ';' | '#') || rest.starts_with("//") {
            break;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if "[],:+-".contains(first) {
            1
        } else {
            let span = Span::new(start + at, start + at + first.len_utf8());
            return Err(Diagnostic::new(span, format!("`{}` means nothing here", first.escape_default())));
        };
        let span = Span::new(start + at, start + at + length);
        found.push(Word { text: &rest[..length], span });
        at += length;
    }
    Ok(found)
}

fn instruction(program: &mut Program, words: &[Word<'_>]) -> Read<Instruction> {
    let mnemonic = words[0];
    let end = words.last().expect("not empty").span;
    let mut operands = Vec::new();
    let mut rest = &words[1..];
    while !rest.is_empty() {
        let jump = mnemonic.text.eq_ignore_ascii_case("jz");
        let (operand, taken) = operand(program, rest, jump, end)?;
        operands.push((operand, rest[0].span));
        rest = &rest[taken..];
        match rest.first() {
            None => {}
            Some(word) if word.text == "," && rest.len() > 1 => rest = &rest[1..],
            Some(word) => {
                let message =
                    format!("expected `,` and an operand or the end of the line, found `{}`", word.text);
                return Err(Diagnostic::new(word.span, message));
            }
        }
    }
    let count = operands.len();
    let wants = |n: usize| {
        if count == n {
            return Ok(());
        }
        let message =
            format!("`{}` takes {n} operand{}, not {count}", mnemonic.text, if n == 1 { "" } else { "s" });
        Err(Diagnostic::new(mnemonic.span.to(end), message))
    };
    let mut operands = operands.into_iter();
    let mut next = || operands.next().expect("counted");
    match mnemonic.text.to_ascii_lowercase().as_str() {
        "jz" => {
            wants(1)?;
            Ok(Instruction::Jz(next().0))
        }
        name @ ("mov" | "cmp" | "xor") => {
            wants(2)?;
            let ((to, span), (from, _)) = (next(), next());
            if matches!(to, Operand::Immediate(_)) {
                return Err(Diagnostic::new(
                    span,
                    format!("the first operand of `{name}` is a register or memory"),
                ));
            }
            Ok(match name {
                "mov" => Instruction::Mov(to, from),
                "cmp" => Instruction::Cmp(to, from),
                _ => Instruction::Xor(to, from),
            })
        }
        _ => Err(Diagnostic::new(mnemonic.span, format!("unknown instruction `{}`", mnemonic.text))
            .note("MC has mov, cmp, xor and jz")),
    }
}

/// One operand, and how many words it took.
fn operand(program: &mut Program, words: &[Word<'_>], jump: bool, end: Span) -> Read<(Operand, usize)> {
    let get = |index: usize| words.get(index).map_or("", |word| word.text);
    let missing = |index: usize, what: &str| {
        let (span, found) = match words.get(index) {
            Some(word) => (word.span, format!("`{}`", word.text)),
            None => (Span::new(end.end as usize, end.end as usize), "the end of the line".to_owned()),
        };
        Diagnostic::new(span, format!("expected {what}, found {found}"))
    };
    if get(0) != "[" {
        let (negative, at) = if get(0) == "-" { (true, 1) } else { (false, 0) };
        let word = *words.get(at).ok_or_else(|| missing(at, "a number"))?;
        if let Some(register) = register(word.text).filter(|_| !negative) {
            return Ok((Operand::Direct(register), 1));
        }
        if is_name(word.text) && !negative {
            let label = program.labels.iter().find(|(name, _)| name == word.text);
            if let Some((_, address)) = label.filter(|_| jump) {
                return Ok((Operand::Immediate(Bits::new(WIDTH, (*address).into())), 1));
            }
            if jump {
                return Err(Diagnostic::new(word.span, format!("unknown label `{}`", word.text)));
            }
            return Ok((Operand::Data(data(program, word)?, Bits::zero(WIDTH)), 1));
        }
        return Ok((Operand::Immediate(number(word, negative)?), at + 1));
    }
    let base = *words.get(1).ok_or_else(|| missing(1, "a register or a name"))?;
    let (offset, close) = match get(2) {
        sign @ ("+" | "-") => {
            let word = *words.get(3).ok_or_else(|| missing(3, "a number"))?;
            (number(word, sign == "-")?, 4)
        }
        _ => (Bits::zero(WIDTH), 2),
    };
    if get(close) != "]" {
        return Err(missing(close, "`]`"));
    }
    if let Some(register) = register(base.text) {
        return Ok((Operand::Indirect(register, offset), close + 1));
    }
    if !is_name(base.text) {
        return Err(missing(1, "a register or a name"));
    }
    Ok((Operand::Data(data(program, base)?, offset), close + 1))
}

/// Registers of the processor MC is cut from: whoever writes one means no data of that name.
const ELSEWHERE: [&str; 12] =
    ["ecx", "edx", "esi", "edi", "esp", "ax", "bx", "cx", "dx", "al", "bl", "eflags"];

fn data(program: &mut Program, word: Word<'_>) -> Read<u32> {
    if program.labels.iter().any(|(label, _)| label == word.text) {
        return Err(Diagnostic::new(word.span, format!("`{}` is a label and holds no data", word.text)));
    }
    if word.text == ZF || word.text == MEMORY {
        return Err(Diagnostic::new(word.span, format!("`{}` is reserved and names no data", word.text)));
    }
    if ELSEWHERE.iter().any(|register| register.eq_ignore_ascii_case(word.text)) {
        return Err(Diagnostic::new(word.span, format!("unknown register `{}`", word.text))
            .note("MC has eax, ebx, ebp and eip"));
    }
    let known = program.data.iter().position(|name| name == word.text);
    Ok(known.unwrap_or_else(|| {
        program.data.push(word.text.to_owned());
        program.data.len() - 1
    }) as u32)
}

fn number(word: Word<'_>, negative: bool) -> Read<Bits> {
    match Bits::parse(word.text, WIDTH) {
        Ok(bits) => Ok(if negative { UnOp::Neg.apply(&bits) } else { bits }),
        Err(error) => Err(Diagnostic::new(word.span, format!("`{}`: {error}", word.text))),
    }
}
