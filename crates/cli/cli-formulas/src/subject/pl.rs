//! PL on the command line.

use super::{Cell, CellPlace, Subject, assignment, rejected_argument};
use anyhow::{Context, Result, anyhow};
use parallax_op::Bits;
use parallax_pl::{Program, STORE, WIDTH, condition, expression, read_condition, read_expression};
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Concrete, Language, Symbolic, Table};
use parallax_term::{Formula, Store, Symbol, Term, parse_formula};
use std::collections::{HashMap, HashSet};

impl Subject for Program {
    fn condition(&self, store: &Store, text: &str) -> Result<Formula> {
        // As `wlp` and `path` print it: a formula of L over the store before the program.
        if text.contains("F_rho(") {
            return parse_formula(store, text).map_err(|error| rejected_argument("--post", text, &error));
        }
        let parsed = read_condition(self, text).map_err(|error| rejected_argument("--post", text, &error))?;
        let core = Symbolic::new(store);
        Ok(condition(&core, &parsed, &self.state(&core, store, &Struct::new())))
    }

    fn mention(&mut self, condition: &str) {
        for name in condition.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if is_name && !matches!(name, "true" | "false" | STORE) && self.global(name).is_none() {
                self.add_global(name);
            }
        }
    }

    fn interpret(&self, store: &Store, s: &mut Struct<Concrete>, text: &str) -> Result<()> {
        let (name, value) = assignment(text)?;
        // A cell of the store that no variable has: `*12345=77`.
        let cell = name.strip_prefix('*').map(|address| {
            Bits::parse(address.trim(), WIDTH).map_err(|error| anyhow!("--set {text}: `{address}`: {error}"))
        });
        let address = match cell {
            Some(address) => Some(address?),
            None => self.placement(name).filter(|_| self.global(name).is_some()),
        };
        let known = || format!("the program's variables are: {}", self.listed());
        let address =
            address.with_context(|| format!("--set {text}: unknown identifier `{name}`; {}", known()))?;
        let parsed =
            read_expression(self, value).map_err(|error| rejected_argument("--set", value, &error))?;
        let value = expression(&Concrete, &parsed, &self.state(&Concrete, store, s));
        let map = store.lookup(STORE).ok_or_else(|| anyhow!("no store"))?;
        let mut table = s.lookup_function(&Concrete, store, map);
        table.set(address, value);
        s.set_map(map, table);
        Ok(())
    }

    fn point(&self, name: &str) -> Option<Bits> {
        Program::point(self, name).map(|at| Bits::new(WIDTH, at.into()))
    }

    fn shown(&self, store: &Store, s: &Struct<Concrete>) -> Vec<(String, String)> {
        let table: Table = s.lookup_function(&Concrete, store, store.lookup(STORE).expect("declared"));
        let address = |name: &String| match s.lookup_constant(
            &Concrete,
            store,
            store.lookup(name).expect("declared"),
        ) {
            Scalar::Val(address) => address,
            Scalar::Bool(_) => unreachable!("addresses are vectors"),
        };
        // A number that is the address of a variable is shown as such.
        let named: HashMap<Bits, &String> =
            self.globals.iter().rev().map(|name| (address(name), name)).collect();
        let shown = |value: &Bits| match named.get(value) {
            Some(name) => format!("&{name}"),
            None => value.to_i128().map_or_else(|| value.to_string(), |number| number.to_string()),
        };
        self.variables().map(|name| (name.clone(), shown(table.get(&address(name))))).collect()
    }

    /// The variables, and the cells beyond them that are not zero.
    fn input(&self, store: &Store, s: &Struct<Concrete>) -> Vec<(String, String)> {
        let table: Table = s.lookup_function(&Concrete, store, store.lookup(STORE).expect("declared"));
        let variables: HashSet<Bits> = self.variables().filter_map(|name| self.placement(name)).collect();
        let is_variable = |address: &Bits| variables.contains(address);
        let mut cells: Vec<(&Bits, &Bits)> =
            table.entries().filter(|(address, value)| !value.is_zero() && !is_variable(address)).collect();
        cells.sort_by_key(|(address, _)| address.to_big());
        let cell = |(address, value): (&Bits, &Bits)| {
            let value = value.to_i128().map_or_else(|| value.to_string(), |number| number.to_string());
            (format!("*{address}"), value)
        };
        let mut input = self.shown(store, s);
        input.extend(cells.into_iter().map(cell));
        input
    }

    fn cells(&self, store: &Store) -> Vec<Cell> {
        let map = store.lookup(STORE).expect("declared");
        let cell = |name: &String| {
            let address = self.placement(name).expect("a global");
            Cell { name: name.clone(), place: CellPlace::At(map, address) }
        };
        self.variables().map(cell).collect()
    }

    fn inputs(&self, store: &Store) -> Vec<Term> {
        let map = store.func_symbol(STORE, WIDTH, WIDTH);
        self.variables().map(|name| store.access(map, store.address(name, WIDTH, 1))).collect()
    }

    fn outputs(&self, store: &Store) -> Vec<Symbol> {
        store.lookup(STORE).into_iter().collect()
    }
}
