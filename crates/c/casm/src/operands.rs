//! Operands of inline assembly: which register or place each is, by its constraint.

use parallax_cmodule::{Argument, Constant, Module, Operand, TypeId, TypeKind};

/// General registers by their 64-bit names.
const GENERAL: [&str; 14] =
    ["r8", "r9", "r10", "r11", "rsi", "rdi", "rbx", "rcx", "rdx", "rax", "r12", "r13", "r14", "r15"];
/// Those whose second byte has a name.
const BYTES: [&str; 4] = ["rbx", "rcx", "rdx", "rax"];

/// What an operand is in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A register, by its 64-bit name.
    Register(&'static str),
    /// The memory that a register points to.
    Memory(&'static str),
    /// A number.
    Immediate(i128),
}

/// An operand.
#[derive(Clone, Debug)]
pub(crate) struct AsmOperand {
    /// What it is in the text.
    pub place: Place,
    /// How many bits it has.
    pub width: u16,
    /// The argument that it is, or whose address it is.
    pub argument: Option<usize>,
    /// Its number among the results, and its type.
    pub result: Option<(usize, TypeId)>,
}

/// The operands of one piece of assembly, in the order in which the text numbers them.
pub(crate) struct Operands {
    /// Each.
    pub all: Vec<AsmOperand>,
}

/// What a constraint allows.
#[derive(Default)]
struct Allowed {
    fixed: Option<&'static str>,
    register: bool,
    bytes: bool,
    memory: bool,
    immediate: bool,
    tied: Option<usize>,
}

fn full_name(name: &str) -> Option<&'static str> {
    let name = name.trim_start_matches('%');
    let long = match name {
        "a" | "ax" | "eax" | "al" | "rax" => "rax",
        "b" | "bx" | "ebx" | "bl" | "rbx" => "rbx",
        "c" | "cx" | "ecx" | "cl" | "rcx" => "rcx",
        "d" | "dx" | "edx" | "dl" | "rdx" => "rdx",
        "S" | "si" | "esi" | "rsi" => "rsi",
        "D" | "di" | "edi" | "rdi" => "rdi",
        other => other,
    };
    GENERAL.into_iter().find(|known| *known == long)
}

fn allowed(text: &str) -> Result<Allowed, String> {
    let mut result = Allowed::default();
    let mut rest = text;
    let refused = |what: &str| Err(format!("the constraint {what}"));
    while let Some(first) = rest.chars().next() {
        let mut used = first.len_utf8();
        match first {
            '{' => {
                let end = rest.find('}').ok_or("a constraint without its end")?;
                match full_name(&rest[1..end]) {
                    Some(name) => result.fixed = Some(name),
                    None => return refused(&rest[..=end]),
                }
                used = end + 1;
            }
            'r' | 'q' | 'R' | 'l' => result.register = true,
            'Q' => result.bytes = true,
            'a' | 'b' | 'c' | 'd' | 'S' | 'D' => result.fixed = full_name(&rest[..1]),
            'm' | 'o' | 'V' => result.memory = true,
            'i' | 'n' | 's' | 'e' | 'Z' | 'I' | 'J' | 'K' | 'L' | 'M' | 'N' | 'O' => result.immediate = true,
            'g' | 'X' => (result.register, result.memory) = (true, true),
            '0'..='9' => {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                result.tied = rest[..digits].parse().ok();
                used = digits;
            }
            '&' | '%' | '*' => {}
            _ => return refused(text),
        }
        rest = &rest[used..];
    }
    Ok(result)
}

impl Operands {
    pub(crate) fn of(
        module: &Module,
        constraints: &str,
        arguments: &[Argument],
        result: TypeId,
    ) -> Result<Self, String> {
        let parts: Vec<&str> = constraints.split(',').filter(|part| !part.is_empty()).collect();
        let mut taken: Vec<&'static str> = Vec::new();
        let mut wanted = Vec::new();
        for part in parts {
            if let Some(clobber) = part.strip_prefix('~') {
                let name = clobber.trim_matches(['{', '}']);
                taken.extend(full_name(name));
                continue;
            }
            let output = part.starts_with('=') || part.starts_with('+');
            let bare = part.trim_start_matches(['=', '+', '&']);
            let indirect = bare.starts_with('*');
            wanted.push((output, indirect, allowed(bare)?));
        }
        // Results come as one value, or as the fields of a structure.
        let direct = wanted.iter().filter(|(output, indirect, _)| *output && !indirect).count();
        let results: Vec<TypeId> = match (&module.ty(result).kind, direct) {
            (_, 0) => Vec::new(),
            (TypeKind::Struct(fields), 2..) => fields.iter().map(|(ty, _)| *ty).collect(),
            _ => vec![result],
        };
        taken.extend(wanted.iter().filter_map(|(_, _, allowed)| allowed.fixed));
        let free = |bytes: bool, taken: &mut Vec<&'static str>| -> Result<&'static str, String> {
            let pool: &[&'static str] = if bytes { &BYTES } else { &GENERAL };
            let found = pool.iter().find(|name| !taken.contains(name)).ok_or("too many operands")?;
            taken.push(found);
            Ok(*found)
        };
        let mut all: Vec<AsmOperand> = Vec::new();
        let (mut next_result, mut next_argument) = (0, 0);
        for (output, indirect, allowed) in wanted {
            let result = (output && !indirect).then(|| {
                next_result += 1;
                next_result - 1
            });
            let result = match result {
                Some(number) => Some((number, *results.get(number).ok_or("a result without a type")?)),
                None => None,
            };
            let argument = result.is_none().then(|| {
                next_argument += 1;
                next_argument - 1
            });
            let ty = match (result, argument) {
                (Some((_, ty)), _) => ty,
                (None, Some(number)) => arguments.get(number).ok_or("an operand without a value")?.ty,
                (None, None) => return Err("an operand without a value".into()),
            };
            let width = match module.ty(ty).kind {
                TypeKind::Pointer => 64,
                TypeKind::Int(width) if width <= 64 => width,
                _ => return Err("an operand that is neither a number nor a pointer".into()),
            };
            let constant = argument.and_then(|number| match arguments[number].value {
                Operand::Constant(id) => match module.constant(id) {
                    Constant::Bits(bits) => bits.to_i128(),
                    _ => None,
                },
                Operand::Register(_) => None,
            });
            let place = if let Some(number) = allowed.tied {
                all.get(number).ok_or("an operand tied to none")?.place.clone()
            } else if indirect {
                Place::Memory(free(false, &mut taken)?)
            } else if let Some(name) = allowed.fixed {
                Place::Register(name)
            } else if allowed.bytes || allowed.register {
                Place::Register(free(allowed.bytes, &mut taken)?)
            } else if let (true, Some(number)) = (allowed.immediate, constant) {
                Place::Immediate(number)
            } else {
                return Err("an operand that is in no register".into());
            };
            all.push(AsmOperand { place, width, argument, result });
        }
        Ok(Operands { all })
    }

    /// The text with its operands in place.
    pub(crate) fn substitute(&self, text: &str) -> Result<String, String> {
        let mut out = String::from(".text\n");
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let next = rest.chars().next().ok_or("a text that ends with $")?;
            match next {
                '$' => {
                    out.push('$');
                    rest = &rest[1..];
                }
                // Of alternatives for two syntaxes the first is AT&T's.
                '(' => {
                    let end = rest.find("$)").ok_or("alternatives without their end")?;
                    let first = rest[1..end].split("$|").next().unwrap_or("");
                    let inner = self.substitute(first)?;
                    out.push_str(inner.trim_start_matches(".text\n"));
                    rest = &rest[end + 2..];
                }
                '{' => {
                    let end = rest.find('}').ok_or("an operand without its end")?;
                    let (number, modifier) = rest[1..end].split_once(':').unwrap_or((&rest[1..end], ""));
                    if number.is_empty() && modifier == "uid" {
                        out.push('0');
                    } else {
                        out.push_str(&self.named(number, modifier)?);
                    }
                    rest = &rest[end + 1..];
                }
                _ => {
                    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    out.push_str(&self.named(&rest[..digits], "")?);
                    rest = &rest[digits..];
                }
            }
        }
        out.push_str(rest);
        out.push('\n');
        Ok(out)
    }

    fn named(&self, number: &str, modifier: &str) -> Result<String, String> {
        let operand = number.parse::<usize>().ok().and_then(|number| self.all.get(number));
        let operand = operand.ok_or_else(|| format!("the operand {number}"))?;
        Ok(match &operand.place {
            Place::Memory(register) => format!("(%{register})"),
            Place::Immediate(value) if matches!(modifier, "c" | "P") => value.to_string(),
            Place::Immediate(value) => format!("${value}"),
            Place::Register(register) => {
                let width = match modifier {
                    "" => operand.width,
                    "b" => 8,
                    "w" => 16,
                    "k" => 32,
                    "q" => 64,
                    "h" => return high_byte(register),
                    _ => return Err(format!("the modifier {modifier}")),
                };
                format!("%{}", sized(register, width))
            }
        })
    }
}

fn high_byte(register: &str) -> Result<String, String> {
    let letter = register.strip_prefix('r').and_then(|rest| rest.strip_suffix('x'));
    letter.map(|letter| format!("%{letter}h")).ok_or_else(|| format!("the second byte of {register}"))
}

/// The name of the lowest bits of a register.
pub(crate) fn sized(register: &str, width: u16) -> String {
    let numbered = register.as_bytes()[1].is_ascii_digit();
    let tail = &register[1..];
    match (width, numbered) {
        (33.., _) => register.to_string(),
        (17..=32, true) => format!("{register}d"),
        (17..=32, false) => format!("e{tail}"),
        (9..=16, true) => format!("{register}w"),
        (9..=16, false) => tail.to_string(),
        (_, true) => format!("{register}b"),
        (_, false) => match tail.strip_suffix('x') {
            Some(letter) => format!("{letter}l"),
            None => format!("{tail}l"),
        },
    }
}
