//! Random well-typed programs, small enough that lazy initialisation can enumerate what they do.

use std::fmt::Write;

/// A generator of numbers that is the same everywhere (splitmix64).
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678))
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Which parts of the language a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    pub values: bool,
    pub calls: bool,
    pub subclasses: bool,
    pub arrays: bool,
}

impl Features {
    pub const REFERENCES: Features =
        Features { values: false, calls: false, subclasses: false, arrays: false };
    pub const CALLS: Features = Features { values: false, calls: true, subclasses: true, arrays: false };
    pub const VALUES: Features = Features { values: true, calls: true, subclasses: false, arrays: false };
    pub const ARRAYS: Features = Features { values: true, calls: false, subclasses: false, arrays: true };
    pub const ALL: Features = Features { values: true, calls: true, subclasses: true, arrays: true };
}

type Field = (&'static str, &'static str);

struct Class {
    name: &'static str,
    extends: Option<&'static str>,
    own: Vec<Field>,
    fields: Vec<Field>,
}

struct Generator {
    random: Random,
    features: Features,
    classes: Vec<Class>,
    in_loop: usize,
    fuel: usize,
    depth: usize,
    may_call: bool,
    /// What there is besides `run`.
    beside: Beside,
    /// Statements until one is changed.
    change: Option<usize>,
}

/// What a program has besides its entry.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    /// A method `ok`, to be a precondition.
    Precondition,
    /// A method `other` with the same parameters (another one, or the same with one statement changed), and `ok`.
    Pair,
}

/// A program; its entry is `A.run`.
pub fn program(seed: u64, features: Features) -> String {
    generate(seed, features, Beside::Nothing)
}

/// A program with a precondition, `A.ok`.
pub fn program_with_precondition(seed: u64, features: Features) -> String {
    generate(seed, features, Beside::Precondition)
}

/// A program with two methods for the same inputs, `A.run` and `A.other`, and a precondition, `A.ok`.
pub fn pair(seed: u64, features: Features) -> String {
    generate(seed, features, Beside::Pair)
}

fn generate(seed: u64, features: Features, beside: Beside) -> String {
    let mut random = Random::new(seed);
    let mut a: Vec<Field> = vec![("A", "a")];
    if random.one_in(2) {
        a.push(("B", "b"));
    }
    let mut b: Vec<Field> = vec![(["A", "B"][random.below(2)], "c")];
    // The same name with another type, so that looking a field up by name alone goes wrong.
    if random.one_in(2) {
        b.push(("B", "a"));
    }
    if features.values {
        a.push(("int", "n"));
        if random.one_in(2) {
            b.push((["int", "bool"][random.below(2)], "n"));
        }
    }
    if features.arrays {
        a.push((["(array A)", "(array int)"][random.below(2)], "s"));
    }
    let mut classes = vec![
        Class { name: "A", extends: None, own: a.clone(), fields: a.clone() },
        Class { name: "B", extends: None, own: b.clone(), fields: b },
    ];
    if features.subclasses {
        let own: Vec<Field> = if random.one_in(2) { vec![("A", "d")] } else { vec![] };
        let fields = a.into_iter().chain(own.clone()).collect();
        classes.push(Class { name: "C", extends: Some("A"), own, fields });
    }
    let mut generator = Generator {
        random,
        features,
        classes,
        in_loop: 0,
        fuel: 0,
        depth: 0,
        may_call: true,
        beside,
        change: None,
    };
    generator.text()
}

type Scope = Vec<(String, &'static str)>;

impl Generator {
    fn text(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.classes.len() {
            let class = &self.classes[at];
            let (name, extends) = (class.name, class.extends);
            let fields: Vec<String> = class.own.iter().map(|(ty, f)| format!("[{ty} {f}]")).collect();
            let header = match extends {
                Some(parent) => format!("(class {name} extends {parent}"),
                None => format!("(class {name}"),
            };
            let _ = writeln!(text, "{header} ({}) (", fields.join(" "));
            if name == "A" {
                let parameters: Vec<&str> = match self.random.below(4) {
                    0 => vec!["A"],
                    1 => vec!["A", "B"],
                    2 if self.features.values => vec!["int"],
                    2 if self.features.arrays => vec!["(array A)"],
                    _ => vec![],
                };
                // With a precondition before it, the method may be shorter.
                let size = if self.beside == Beside::Nothing { 5 } else { 2 };
                let before = self.random.clone();
                self.method(&mut text, name, "run", &parameters, size);
                match self.beside {
                    Beside::Nothing => {}
                    Beside::Precondition => self.method(&mut text, name, "ok", &[], 5),
                    Beside::Pair if self.random.one_in(3) => {
                        self.method(&mut text, name, "other", &parameters, size);
                    }
                    Beside::Pair => {
                        let change = self.random.below(size);
                        let after = std::mem::replace(&mut self.random, before);
                        self.change = Some(change);
                        self.method(&mut text, name, "other", &parameters, size);
                        (self.change, self.random) = (None, after);
                    }
                }
                if self.beside == Beside::Pair {
                    self.method(&mut text, name, "ok", &[], 3);
                }
            }
            if self.features.calls && name != "B" {
                self.may_call = false;
                self.method(&mut text, name, "m", &["A"], 2);
                self.may_call = true;
            }
            text.push_str("))\n");
        }
        text.push_str("(A run)\n");
        text
    }

    fn method(
        &mut self,
        text: &mut String,
        class: &'static str,
        name: &str,
        parameters: &[&'static str],
        size: usize,
    ) {
        let mut scope: Scope = vec![("this".into(), class)];
        let mut heading = String::new();
        for (at, ty) in parameters.iter().enumerate() {
            let _ = write!(heading, " [{ty} p{at}]");
            scope.push((format!("p{at}"), ty));
        }
        let result = match name {
            "m" => "A",
            "ok" => "bool",
            _ => *self.random.pick(&["A", "bool", "A"]),
        };
        self.fuel = 14;
        let body = self.block(&mut scope, size, result);
        let _ = writeln!(text, "  ({result} {name}{heading} {body})");
    }

    fn types(&self) -> Vec<&'static str> {
        let mut types = vec!["A", "A", "B"];
        if self.features.values {
            types.push("int");
        }
        if self.features.arrays {
            types.push("(array A)");
            types.push("(array int)");
        }
        types
    }

    /// Declarations, statements, a result.
    fn block(&mut self, scope: &mut Scope, size: usize, result: &'static str) -> String {
        let locals = 1 + self.random.below(2);
        let before = scope.len();
        let mut text = String::new();
        for _ in 0..locals {
            let types = self.types();
            let ty = *self.random.pick(&types);
            let value = self.expr(scope, ty);
            let name = format!("x{}", scope.len());
            let _ = write!(text, "(var {ty} {name} := {value} in ");
            scope.push((name, ty));
        }
        text.push_str("(begin");
        let count = 1 + self.random.below(size);
        for _ in 0..count {
            let statement = self.statement(scope);
            let _ = write!(text, " {statement}");
        }
        let value = self.expr(scope, result);
        let _ = write!(text, " {value})");
        text.push_str(&")".repeat(locals));
        scope.truncate(before);
        text
    }

    /// A statement; where it is the one to be changed, done twice, or not at all.
    fn statement(&mut self, scope: &mut Scope) -> String {
        match self.change {
            Some(0) => {
                self.change = None;
                let statement = self.plain_statement(scope);
                match scope.len() % 2 {
                    0 => "(begin)".into(),
                    _ => format!("(begin {statement} {statement})"),
                }
            }
            Some(more) => {
                self.change = Some(more - 1);
                self.plain_statement(scope)
            }
            None => self.plain_statement(scope),
        }
    }

    fn plain_statement(&mut self, scope: &mut Scope) -> String {
        if self.fuel == 0 {
            return "(begin)".into();
        }
        self.fuel -= 1;
        match self.random.below(12) {
            0..=2 => {
                let targets: Scope = scope.iter().filter(|(name, _)| name != "this").cloned().collect();
                let Some((name, ty)) = (!targets.is_empty()).then(|| self.random.pick(&targets).clone())
                else {
                    return "(begin)".into();
                };
                format!("({name} := {})", self.expr(scope, ty))
            }
            3..=5 => {
                let (base, class) = self.object(scope);
                let (ty, field) = self.field(class);
                format!("({base} $ {field} := {})", self.expr(scope, ty))
            }
            6..=8 => {
                let condition = self.condition(scope);
                let then = self.statement(scope);
                let other = self.statement(scope);
                format!("(if {condition} {then} else {other})")
            }
            9 if self.in_loop == 0 => {
                let condition = self.condition(scope);
                self.in_loop += 1;
                let body = self.statement(scope);
                self.in_loop -= 1;
                format!("(while {condition} {body})")
            }
            10 if self.features.values || self.beside != Beside::Nothing => {
                let condition = self.condition(scope);
                format!("({} {condition})", self.random.pick(&["assert", "assume"]))
            }
            _ if self.features.arrays && self.random.one_in(2) => {
                let element = *self.random.pick(&["A", "int"]);
                let array = self.expr(scope, if element == "A" { "(array A)" } else { "(array int)" });
                if array == "null" {
                    return "(begin)".into();
                }
                let index = self.expr(scope, "int");
                format!("({array} # {index} := {})", self.expr(scope, element))
            }
            _ if self.in_loop > 0 && self.random.one_in(3) => "(break)".into(),
            _ => self.expr(scope, "A"),
        }
    }

    /// A variable that is an object.
    fn object(&mut self, scope: &Scope) -> (String, &'static str) {
        let objects: Scope = scope
            .iter()
            .filter(|(_, ty)| self.classes.iter().any(|class| class.name == *ty))
            .cloned()
            .collect();
        self.random.pick(&objects).clone()
    }

    fn field(&mut self, class: &str) -> Field {
        let fields = self.classes.iter().find(|known| known.name == class).unwrap().fields.clone();
        *self.random.pick(&fields)
    }

    fn condition(&mut self, scope: &mut Scope) -> String {
        if self.features.values && self.random.one_in(2) {
            let (a, b) = (self.expr(scope, "int"), self.expr(scope, "int"));
            return format!("({a} {} {b})", self.random.pick(&["<", "<=", "=", ">", "!="]));
        }
        match self.random.below(6) {
            0 => {
                let (a, b) = (self.condition_leaf(scope), self.condition_leaf(scope));
                format!("({a} {} {b})", self.random.pick(&["and", "or"]))
            }
            1 => format!("(not {})", self.condition_leaf(scope)),
            _ => self.condition_leaf(scope),
        }
    }

    fn condition_leaf(&mut self, scope: &mut Scope) -> String {
        let ty = *self.random.pick(&["A", "A", "B"]);
        let a = self.expr(scope, ty);
        let b = if self.random.one_in(3) { "null".into() } else { self.expr(scope, ty) };
        format!("({a} = {b})")
    }

    fn expr(&mut self, scope: &mut Scope, ty: &'static str) -> String {
        let variables: Vec<String> =
            scope.iter().filter(|(_, known)| *known == ty).map(|(name, _)| name.clone()).collect();
        if self.depth < 2 {
            self.depth += 1;
            let deep = self.deep(scope, ty);
            self.depth -= 1;
            if let Some(deep) = deep {
                return deep;
            }
        }
        match ty {
            "bool" => self.random.pick(&["true", "false"]).to_string(),
            "int" if variables.is_empty() || self.random.one_in(3) => {
                self.random.pick(&["0", "1", "2", "-1"]).to_string()
            }
            _ if variables.is_empty() => "null".into(),
            _ => self.random.pick(&variables).clone(),
        }
    }

    /// Something that is not just a variable, some of the time.
    fn deep(&mut self, scope: &mut Scope, ty: &'static str) -> Option<String> {
        match (ty, self.random.below(8)) {
            ("bool", _) => Some(self.condition(scope)),
            // Read a field of the right type from some variable.
            (_, 0..=3) => {
                let mut reads = Vec::new();
                for (name, known) in scope.iter() {
                    if let Some(class) = self.classes.iter().find(|class| class.name == *known) {
                        for (field_type, field) in &class.fields {
                            if *field_type == ty {
                                reads.push(format!("({name} $ {field})"));
                            }
                        }
                    }
                }
                (!reads.is_empty()).then(|| self.random.pick(&reads).clone())
            }
            ("A" | "B", 4) => {
                let class =
                    if ty == "A" && self.features.subclasses && self.random.one_in(2) { "C" } else { ty };
                Some(format!("(new {class})"))
            }
            ("A", 5) if self.features.calls && self.may_call => {
                let (base, class) = self.object(scope);
                (class != "B").then(|| format!("({base} @ m {})", self.expr(scope, "A")))
            }
            ("A", 6) if self.features.arrays => {
                let (array, index) = (self.expr(scope, "(array A)"), self.expr(scope, "int"));
                (array != "null").then(|| format!("({array} # {index})"))
            }
            ("int", 4) if self.features.arrays => {
                let array_type = *self.random.pick(&["(array A)", "(array int)"]);
                let array = self.expr(scope, array_type);
                (array != "null").then(|| format!("(length {array})"))
            }
            ("int", 5) if self.features.arrays => {
                let (array, index) = (self.expr(scope, "(array int)"), self.expr(scope, "int"));
                (array != "null").then(|| format!("({array} # {index})"))
            }
            ("int", 6) => {
                let (a, b) = (self.expr(scope, "int"), self.expr(scope, "int"));
                Some(format!("({a} {} {b})", self.random.pick(&["+", "-"])))
            }
            ("(array A)", 4) => Some(format!("(array A {})", self.expr(scope, "int"))),
            ("(array int)", 4) => Some(format!("(array int {})", self.expr(scope, "int"))),
            _ => None,
        }
    }
}
