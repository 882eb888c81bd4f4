//! MC on the command line.

use super::{Cell, CellPlace, Subject, assignment, rejected_argument};
use anyhow::{Result, bail};
use parallax_mc::{MEMORY, Program, Register, SIZE, WIDTH, ZF};
use parallax_op::Bits;
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Concrete, Language};
use parallax_term::{Expr, Formula, Store, Symbol, Term, parse_formula};

impl Subject for Program {
    /// Conditions are formulas of L over the registers, `ZF`, `F_mem` and the data names; `==` is `=`, and a data name
    /// alone means its cell.
    fn condition(&self, store: &Store, text: &str) -> Result<Formula> {
        let logical = in_logic(self, text);
        parse_formula(store, &logical).map_err(|error| rejected_argument("--post", &logical, &error))
    }

    fn interpret(&self, store: &Store, s: &mut Struct<Concrete>, text: &str) -> Result<()> {
        let (name, value) = assignment(text)?;
        if name.eq_ignore_ascii_case(ZF) {
            let flag = match value {
                "1" | "true" => true,
                "0" | "false" => false,
                _ => bail!("--set {text}: ZF is 0 or 1"),
            };
            s.set_bool(store.lookup(ZF).expect("declared"), flag);
            return Ok(());
        }
        let number = |value: &str| -> Result<Bits> {
            if let Some(place) = value.strip_prefix('&').and_then(|name| self.placement(name)) {
                return Ok(place);
            }
            Bits::parse(value, WIDTH).map_err(|error| anyhow::anyhow!("--set {text}: `{value}`: {error}"))
        };
        let value = number(value)?;
        if let Some(register) = Register::ALL.into_iter().find(|r| r.name().eq_ignore_ascii_case(name)) {
            if register == Register::Eip && value != self.entry() {
                bail!("--set {text}: the program lies at address {} and starts there", self.entry());
            }
            s.set_val(store.lookup(register.name()).expect("declared"), value);
            return Ok(());
        }
        let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => number(address.trim())?,
            None => match self.placement(name) {
                Some(address) => address,
                None => bail!(
                    "--set {text}: unknown identifier `{name}`; there are EAX, EBX, EBP, ZF, [ADDRESS]{}",
                    self.data.iter().map(|name| format!(", {name}")).collect::<String>()
                ),
            },
        };
        let memory = store.lookup(MEMORY).expect("declared");
        let mut table = s.lookup_function(&Concrete, store, memory);
        table.set(address, value);
        s.set_map(memory, table);
        Ok(())
    }

    fn point(&self, name: &str) -> Option<Bits> {
        Program::point(self, name).map(|at| Bits::new(WIDTH, at.into()))
    }

    fn misplaced(&self, point: &Bits) -> Option<String> {
        let end = u64::from(self.base) + self.instructions.len() as u64 * u64::from(SIZE);
        let is_place = self.has_instruction(point) || point.to_u64() == Some(end);
        (!is_place).then(|| format!("no instruction begins at {:#x}", point.to_big()))
    }

    fn shown(&self, store: &Store, s: &Struct<Concrete>) -> Vec<(String, String)> {
        let scalar = |name: &str| s.lookup_constant(&Concrete, store, store.lookup(name).expect("declared"));
        let mut shown: Vec<(String, String)> = Register::ALL
            .into_iter()
            .map(|r| match scalar(r.name()) {
                Scalar::Val(value) => (r.name().to_owned(), value.to_string()),
                Scalar::Bool(_) => unreachable!("registers are vectors"),
            })
            .collect();
        if let Scalar::Bool(flag) = scalar(ZF) {
            shown.push((ZF.to_owned(), u8::from(flag).to_string()));
        }
        let table = s.lookup_function(&Concrete, store, store.lookup(MEMORY).expect("declared"));
        let mut cells: Vec<_> = table.entries().collect();
        cells.sort_by_key(|(address, _)| address.to_big());
        // Data is found by where the state has it: a model places it elsewhere than a run.
        let place = |name: &String| match scalar(name) {
            Scalar::Val(address) => Some(address),
            Scalar::Bool(_) => None,
        };
        for (address, value) in cells {
            let name = self.data.iter().find(|name| place(name).as_ref() == Some(address));
            shown.push((
                name.map_or_else(|| format!("[{address}]"), |name| format!("[{name}]")),
                value.to_string(),
            ));
        }
        shown
    }

    fn cells(&self, store: &Store) -> Vec<Cell> {
        let symbol = |name: &str| store.lookup(name).expect("declared");
        let register =
            |r: Register| Cell { name: r.name().to_owned(), place: CellPlace::Constant(symbol(r.name())) };
        let data = |name: &String| {
            let address = self.placement(name).expect("data");
            Cell { name: format!("[{name}]"), place: CellPlace::At(symbol(MEMORY), address) }
        };
        let registers = Register::ALL.into_iter().filter(|r| *r != Register::Eip).map(register);
        registers.chain(self.data.iter().map(data)).collect()
    }

    fn inputs(&self, store: &Store) -> Vec<Term> {
        let registers = [Register::Eax, Register::Ebx, Register::Ebp].map(|r| store.symbol(r.name(), WIDTH));
        let memory = store.func_symbol(MEMORY, WIDTH, WIDTH);
        let cells = self.data.iter().map(|name| store.access(memory, store.address(name, WIDTH, 1)));
        registers.into_iter().chain(cells).collect()
    }

    fn outputs(&self, store: &Store) -> Vec<Symbol> {
        let names = Register::ALL.into_iter().map(Register::name).chain([ZF, MEMORY]);
        names.filter_map(|name| store.lookup(name)).collect()
    }

    /// The program starts where it lies.
    fn premises(&self, store: &Store) -> Vec<Formula> {
        let Some(Expr::Term(eip)) = store.lookup(Register::Eip.name()).map(|symbol| store.expr_of(symbol))
        else {
            return Vec::new();
        };
        vec![store.eq(eip, store.constant(&self.entry()))]
    }
}

/// What users write, in the notation of L: `==` becomes `=`, a data name its cell, `[...]` a memory cell, labels their
/// addresses.
fn in_logic(program: &Program, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let word = &rest[..end];
            let register = Register::ALL.into_iter().find(|r| r.name().eq_ignore_ascii_case(word));
            let label = program.labels.iter().find(|(label, _)| label == word);
            if let Some(register) = register {
                out.push_str(register.name());
            } else if let Some((_, address)) = label {
                out.push_str(&address.to_string());
            } else if program.data.iter().any(|name| name == word)
                && !out.ends_with('&')
                && !out.ends_with('[')
            {
                out.push_str(&format!("{MEMORY}({word})"));
            } else {
                if out.ends_with('&') && program.data.iter().any(|name| name == word) {
                    out.pop();
                }
                out.push_str(word);
            }
            rest = &rest[end..];
            continue;
        }
        if let Some(after) = rest.strip_prefix("==") {
            out.push('=');
            rest = after;
            continue;
        }
        // A bracket after a name is an update of L; alone it is a memory cell.
        let alone =
            !out.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ']' || c == '_' || c == ')');
        if first == '[' && alone && !rest.contains("->") {
            out.push_str(MEMORY);
            out.push('(');
            if let Some(close) = rest.find(']') {
                out.push_str(&in_brackets(program, &rest[1..close]));
                out.push(')');
                rest = &rest[close + 1..];
                continue;
            }
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// Inside brackets a data name is its address.
fn in_brackets(program: &Program, text: &str) -> String {
    let name = text.trim();
    if program.data.iter().any(|known| known == name) { name.to_owned() } else { in_logic(program, text) }
}
