//! Random programs: by type, with mistakes on purpose.

#![allow(dead_code, reason = "each test uses its part")]

use std::fmt::Write;

/// Little enough that a hard question costs no time, and answers do not depend on the machine.
pub fn limits() -> parallax_smt::Limits {
    parallax_smt::Limits { conflicts: Some(300), ..Default::default() }
}

/// SplitMix64: the same programs everywhere.
pub struct Random(pub u64);

impl Random {
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

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Int,
    Bool,
    Str,
    Float,
    Unit,
    Ref(Box<Ty>),
    Fun(Box<Ty>, Box<Ty>),
}

impl Ty {
    fn show(&self) -> String {
        match self {
            Ty::Int => "int".into(),
            Ty::Bool => "bool".into(),
            Ty::Str => "string".into(),
            Ty::Float => "float".into(),
            Ty::Unit => "unit".into(),
            Ty::Ref(content) => format!("({}) ref", content.show()),
            Ty::Fun(from, to) => format!("({} -> {})", from.show(), to.show()),
        }
    }
}

/// What to put into programs.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Typed and symbolic blocks.
    pub blocks: bool,
    /// How many of a hundred expressions are of the wrong type.
    pub mistakes: usize,
    /// Loops and functions from outside.
    pub unbounded: bool,
    /// How deep.
    pub depth: usize,
}

struct Var {
    name: String,
    ty: Ty,
    local: bool,
}

pub struct Generator {
    random: Random,
    shape: Shape,
    scope: Vec<Var>,
    names: usize,
    symbolic: bool,
    /// The names from outside that are not in scope by their type.
    outside: Vec<&'static str>,
}

/// A program of some type.
pub fn program(seed: u64, shape: Shape) -> String {
    let mut generator = Generator {
        random: Random(seed),
        shape,
        scope: Vec::new(),
        names: 0,
        symbolic: false,
        outside: Vec::new(),
    };
    let mut out = String::new();
    let externs = [
        ("n", Ty::Int),
        ("m", Ty::Int),
        ("b", Ty::Bool),
        ("p", Ty::Ref(Box::new(Ty::Int))),
        ("q", Ty::Ref(Box::new(Ty::Int))),
        ("f", Ty::Fun(Box::new(Ty::Int), Box::new(Ty::Int))),
        ("w", Ty::Str),
    ];
    for (name, ty) in externs {
        let is_function = matches!(ty, Ty::Fun(..));
        if generator.random.chance(60) && (!is_function || shape.unbounded) {
            writeln!(out, "extern {name} : {};", ty.show()).unwrap();
            generator.scope.push(Var { name: name.into(), ty, local: false });
        }
    }
    for (name, text, blocks) in [
        ("z", "extern z : int null ref;", true),
        ("h", "extern h : unit -> unit;", false),
        ("k", "extern k : unit -> unit writes nothing;", false),
        ("l", "extern l : unit -> unit writes string, bool;", false),
    ] {
        if shape.unbounded && (shape.blocks || !blocks) && generator.random.chance(40) {
            writeln!(out, "{text}").unwrap();
            generator.outside.push(name);
        }
    }
    let ty = generator.some_type(1);
    let body = if shape.blocks {
        let mut text = String::new();
        generator.block(&ty, shape.depth, &mut text);
        text
    } else {
        generator.expr(&ty, shape.depth)
    };
    out + &body
}

impl Generator {
    fn some_type(&mut self, depth: usize) -> Ty {
        match self.random.below(if depth == 0 { 7 } else { 10 }) {
            0..=2 => Ty::Int,
            3 | 4 => Ty::Bool,
            5 => Ty::Str,
            6 => Ty::Unit,
            7 => Ty::Float,
            _ => Ty::Ref(Box::new(self.some_type(depth - 1))),
        }
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// An expression that is meant to have the type.
    fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        let wrong = self.random.chance(self.shape.mistakes);
        let other;
        let ty = if wrong {
            other = self.some_type(1);
            &other
        } else {
            ty
        };
        if depth == 0 {
            return self.leaf(ty);
        }
        let d = depth - 1;
        match self.random.below(34) {
            0..=2 => self.leaf(ty),
            3..=5 => self.operator(ty, d),
            6..=8 => {
                let (c, a, b) = (self.expr(&Ty::Bool, d), self.expr(ty, d), self.expr(ty, d));
                format!("(if {c} then {a} else {b})")
            }
            9 | 10 => {
                let bound = self.some_type(2);
                self.binding(bound, ty, d)
            }
            11 => format!("({}; {})", self.effect(d), self.expr(ty, d)),
            12 => {
                let content = self.some_type(1);
                self.binding(Ty::Ref(Box::new(content)), ty, d)
            }
            13 | 14 => format!("(!{})", self.atom(&Ty::Ref(Box::new(ty.clone())), d)),
            15 => self.call(ty, d),
            16 => self.local(ty, d),
            17 => format!("({} : {})", self.expr(ty, d), ty.show()),
            18 if self.shape.unbounded => self.late(ty, d),
            19 => self.guarded(ty, d),
            20..=23 if self.shape.blocks => {
                let mut text = String::new();
                self.block(ty, d, &mut text);
                text
            }
            24 if self.shape.blocks && *ty == Ty::Int => self.signs(d),
            25 => self.function_in_a_location(ty, d),
            26 => self.recursion(ty, d),
            27..=29 => self.polymorphic(ty, d),
            30 | 31 if self.shape.blocks => self.nulls(ty, d),
            32 | 33 if self.shape.blocks && self.shape.unbounded => self.effects(ty),
            _ => self.operator(ty, d),
        }
    }

    /// Sign qualifiers: asked for after a test, and of what a location holds.
    fn signs(&mut self, d: usize) -> String {
        let (x, r) = (self.fresh(), self.fresh());
        let value = self.expr(&Ty::Int, d);
        let mistaken = self.shape.mistakes > 0 && self.random.chance(20);
        let (pos, neg) = if mistaken { ("neg", "pos") } else { ("pos", "neg") };
        match self.random.below(4) {
            3 => {
                let difference = if mistaken { "pos int" } else { "int" };
                format!(
                    "(let {x} {r} = !{r} - !{r} in ({x} (ref {value}); ({x} (ref (1 : pos int)) : {difference})))"
                )
            }
            0 => format!(
                "(let {x} = {value} in {{s if {x} > 0 then {{t ({x} : {pos} int) t}} else if {x} = 0 then \
                 {{t ({x} : zero int) t}} else {{t ({x} : {neg} int) t}} s}})"
            ),
            1 => format!(
                "(let {x} = {value} in let {r} = ref (1 : pos int) in \
                 (if {x} > 0 then ({r} := {x}) else ({r} := 2)); {{t !{r} t}})"
            ),
            _ => {
                format!("(let {r} = ref (1 : pos int) in {{s {r} := {value}; {{t (!{r} : {pos} int) t}} s}})")
            }
        }
    }

    /// Functions of any type, and functions that take functions.
    fn polymorphic(&mut self, ty: &Ty, d: usize) -> String {
        let (f, g, x, y) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        let from = self.some_type(0);
        let (argument, other) = (self.atom(ty, d), self.leaf(&from));
        let mistaken = self.shape.mistakes > 0 && self.random.chance(20);
        match self.random.below(if self.shape.blocks { 8 } else { 5 }) {
            0 => format!("(let {f} {x} = {x} in let {y} = {f} {other} in {f} {argument})"),
            1 => {
                let body = self.with_var(&x, from, false, |g| g.expr(ty, d));
                format!("(let {f} {g} = {g} {other} in {f} (fun {x} -> {body}))")
            }
            2 => {
                let (n, b) = (self.leaf(&Ty::Int), self.leaf(&Ty::Bool));
                format!(
                    "(let {f} {g} {x} = {g} ({g} {x}) in {f} (fun {y} -> {y} + 1) {n}; {f} (fun {y} -> not {y}) {b}; \
                     {argument})"
                )
            }
            // A location of functions has one type, whatever is read from it.
            3 if mistaken => {
                format!(
                    "(let {r} = ref (fun {x} -> {x}) in {r} := (fun {y} -> {y} + 1); (!{r}) {argument})",
                    r = f
                )
            }
            3 => format!("(let {r} = ref (fun {x} -> {x}) in (!{r}) {argument})", r = f),
            // So has a name that a function has from outside.
            4 => {
                let value = if mistaken { other } else { argument };
                format!("((fun {x} -> let {g} = fun {y} -> {x} in ({g} () : {})) ({value}))", ty.show())
            }
            5 => format!("{{t let {f} {x} = {x} in {{s {{t {f} {other} t}}; {{t {f} {argument} t}} s}} t}}"),
            6 => format!("{{s let {f} {x} = {x} in {{t {f} {other}; {f} {argument} t}} s}}"),
            _ => {
                let result = if mistaken { from.show() } else { ty.show() };
                format!(
                    "{{s let {f} {x} = {x} in let {y} = ref {f} in {{t (!{y}) {other}; () t}}; \
                     {{t ({f} {argument} : {result}) t}} s}}"
                )
            }
        }
    }

    /// References that may be null: tested before they are followed, or not.
    fn nulls(&mut self, ty: &Ty, d: usize) -> String {
        let (r, f, p) = (self.fresh(), self.fresh(), self.fresh());
        let condition = self.expr(&Ty::Bool, d);
        let (content, other) = (self.leaf(ty), self.leaf(ty));
        let mistaken = self.shape.mistakes > 0 && self.random.chance(25);
        let maybe = format!("(if {condition} then null else ref ({content}))");
        let checked = |follow: String| match mistaken {
            true => follow,
            false => format!("if {r} = null then {other} else {follow}"),
        };
        match self.random.below(5) {
            0 => format!("(let {r} = {maybe} in {{s {} s}})", checked(format!("!{r}"))),
            1 => {
                let again = if mistaken { String::new() } else { format!("{r} := ref ({other}); ") };
                format!("(let {r} = ref (ref ({content})) in {{s {r} := null; {again}() s}}; !(!{r}))")
            }
            2 => format!(
                "(let {r} : {} null ref = {maybe} in {{s {} s}})",
                ty.show(),
                checked(format!("{{t !{r} t}}"))
            ),
            3 if *ty == Ty::Int && self.outside.contains(&"z") => {
                let follow =
                    if mistaken { "!z".to_string() } else { "if null = z then 0 else {t !z t}".into() };
                format!("{{s {follow} s}}")
            }
            3 => format!("(let {r} = ref null in {{s {r} := ref ({content}); !(!{r}) s}})"),
            _ => format!(
                "(let {f} = fun ({p} : {} ref) -> !{p} in {{s let {r} = {maybe} in {} s}})",
                ty.show(),
                checked(format!("{{t {f} {r} t}}"))
            ),
        }
    }

    /// A location, a call from outside, and something that is wrong if the call wrote there.
    fn effects(&mut self, ty: &Ty) -> String {
        let (r, x) = (self.fresh(), self.fresh());
        if self.outside.is_empty() {
            return self.leaf(ty);
        }
        let called = *self.random.pick(&self.outside.clone());
        let call = if called == "z" { "()".to_string() } else { format!("{called} ()") };
        let good = self.leaf(ty);
        let wrong = if self.shape.mistakes > 0 { "(1 + true)".into() } else { self.leaf(ty) };
        let content = self.leaf(&Ty::Int);
        format!(
            "(let {r} = ref {content} in {{s let {x} = !{r} in {{t {call} t}}; if !{r} = {x} then {good} else {wrong} s}})"
        )
    }

    /// A location that holds one function, then perhaps another.
    fn function_in_a_location(&mut self, ty: &Ty, d: usize) -> String {
        let (r, x) = (self.fresh(), self.fresh());
        let from = self.some_type(0);
        let first = self.with_var(&x, from.clone(), false, |g| g.expr(ty, d));
        let second = self.with_var(&x, from.clone(), false, |g| g.leaf(ty));
        let (condition, argument) = (self.expr(&Ty::Bool, d), self.atom(&from, d));
        let annotation = from.show();
        format!(
            "(let {r} = ref (fun ({x} : {annotation}) -> {first}) in \
             (if {condition} then ({r} := (fun ({x} : {annotation}) -> {second}); ())); (!{r}) {argument})"
        )
    }

    fn recursion(&mut self, ty: &Ty, d: usize) -> String {
        let (f, x) = (self.fresh(), self.fresh());
        let body = self.with_var(&x, Ty::Int, false, |g| g.expr(ty, d));
        let times = self.random.below(3);
        format!("(let rec {f} {x} = if {x} <= 0 then {body} else {f} ({x} - 1) in {f} {times})")
    }

    fn atom(&mut self, ty: &Ty, depth: usize) -> String {
        format!("({})", self.expr(ty, depth))
    }

    fn block(&mut self, ty: &Ty, depth: usize, out: &mut String) {
        let outside = self.symbolic;
        self.symbolic = self.random.chance(55);
        let kind = if self.symbolic { 's' } else { 't' };
        let body = self.expr(ty, depth);
        write!(out, "{{{kind} {body} {kind}}}").unwrap();
        self.symbolic = outside;
    }

    fn leaf(&mut self, ty: &Ty) -> String {
        let known: Vec<String> =
            self.scope.iter().filter(|var| var.ty == *ty).map(|var| var.name.clone()).collect();
        if !known.is_empty() && self.random.chance(75) {
            return self.random.pick(&known).clone();
        }
        match ty {
            Ty::Int => self.random.pick(&["0", "1", "(-1)", "2", "7", "(-9223372036854775808)"]).to_string(),
            Ty::Bool => self.random.pick(&["true", "false"]).to_string(),
            Ty::Str => self.random.pick(&["\"foo\"", "\"err\""]).to_string(),
            Ty::Float => self.random.pick(&["0.0", "1.5"]).to_string(),
            Ty::Unit => "()".to_string(),
            Ty::Ref(content) => format!("(ref {})", self.leaf(content)),
            Ty::Fun(from, to) => {
                let (name, body) = (self.fresh(), self.leaf(to));
                format!("(fun ({name} : {}) -> {body})", from.show())
            }
        }
    }

    fn operator(&mut self, ty: &Ty, d: usize) -> String {
        match ty {
            Ty::Int => {
                let op = *self.random.pick(&["+", "-", "*", "+", "-", "/"]);
                format!("({} {op} {})", self.expr(&Ty::Int, d), self.expr(&Ty::Int, d))
            }
            Ty::Float => format!("({} + {})", self.leaf(&Ty::Float), self.leaf(&Ty::Float)),
            Ty::Bool => match self.random.below(6) {
                0 => format!("(not {})", self.atom(&Ty::Bool, d)),
                1 => format!("({} && {})", self.expr(&Ty::Bool, d), self.expr(&Ty::Bool, d)),
                2 => format!("({} || {})", self.expr(&Ty::Bool, d), self.expr(&Ty::Bool, d)),
                3 => {
                    let op = *self.random.pick(&["<", "<=", ">", ">="]);
                    format!("({} {op} {})", self.expr(&Ty::Int, d), self.expr(&Ty::Int, d))
                }
                _ => {
                    let ty = self.some_type(1);
                    format!("({} = {})", self.expr(&ty, d), self.expr(&ty, d))
                }
            },
            Ty::Ref(content) => format!("(ref {})", self.atom(content, d)),
            other => self.leaf(other),
        }
    }

    fn with_var<T>(&mut self, name: &str, ty: Ty, local: bool, f: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.push(Var { name: name.to_string(), ty, local });
        let result = f(self);
        self.scope.pop();
        result
    }

    fn binding(&mut self, bound: Ty, ty: &Ty, d: usize) -> String {
        let value = self.expr(&bound, d);
        let name = self.fresh();
        let body = self.with_var(&name, bound, false, |g| g.expr(ty, d));
        format!("(let {name} = {value} in {body})")
    }

    /// Something done for its effect: an assignment mostly, in symbolic code now and then of the wrong type.
    fn effect(&mut self, d: usize) -> String {
        let targets: Vec<(String, Ty, bool)> = self
            .scope
            .iter()
            .filter_map(|var| match &var.ty {
                Ty::Ref(content) => Some((var.name.clone(), (**content).clone(), false)),
                ty if var.local => Some((var.name.clone(), ty.clone(), true)),
                _ => None,
            })
            .collect();
        if targets.is_empty() {
            let ty = self.some_type(1);
            return self.expr(&ty, d);
        }
        let (name, mut ty, local) = self.random.pick(&targets).clone();
        if self.symbolic && self.shape.mistakes > 0 && self.random.chance(25) {
            // Inconsistent for a while, and usually mended.
            let wrong = self.some_type(0);
            let write = |name: &str, value: String| {
                if local { format!("{name} = {value}") } else { format!("{name} := {value}") }
            };
            let first = write(&name, self.leaf(&wrong));
            if self.random.chance(70) {
                return format!("{first}; {}", write(&name, self.leaf(&ty)));
            }
            ty = wrong;
        }
        let value = self.expr(&ty, d);
        if local { format!("{name} = {value}") } else { format!("{name} := {value}") }
    }

    fn local(&mut self, ty: &Ty, d: usize) -> String {
        let bound = self.some_type(0);
        let value = self.expr(&bound, d);
        let name = self.fresh();
        let body = self.with_var(&name, bound, true, |g| {
            let (effect, body) = (g.effect(d), g.expr(ty, d));
            format!("{effect}; {body}")
        });
        format!("(var {name} = {value}; {body})")
    }

    /// A call of a function: of one bound here, of one given a name, or of one from outside.
    fn call(&mut self, ty: &Ty, d: usize) -> String {
        let outside = self.scope.iter().any(|var| var.name == "f");
        if *ty == Ty::Int && outside && self.random.chance(30) {
            return format!("(f {})", self.atom(&Ty::Int, d));
        }
        let from = self.some_type(0);
        let (param, function) = (self.fresh(), self.fresh());
        let annotation = self.random.chance(50);
        let body = self.with_var(&param, from.clone(), false, |g| g.expr(ty, d));
        let head = if annotation { format!("({param} : {})", from.show()) } else { param };
        let argument = self.atom(&from, d);
        match self.random.below(3) {
            0 => format!("((fun {head} -> {body}) {argument})"),
            1 => format!("(let {function} {head} = {body} in {function} {argument})"),
            _ if self.shape.blocks && self.symbolic => {
                format!("(let {function} {head} = {body} in {{t {{s {function} {argument} s}} t}})")
            }
            _ => format!("(let {function} = fun {head} -> {body} in let x0 = {function} in x0 {argument})"),
        }
    }

    /// Something wrong that is only reached on some condition, and the condition's opposite around it.
    fn guarded(&mut self, ty: &Ty, d: usize) -> String {
        let condition = self.expr(&Ty::Bool, d);
        let (good, wrong) =
            (self.leaf(ty), if self.shape.mistakes > 0 { "(1 + true)".into() } else { self.leaf(ty) });
        let flag = self.fresh();
        let inner = self.leaf(ty);
        format!(
            "(let {flag} = {condition} in if {flag} then (if {flag} then {good} else {wrong}) else {inner})"
        )
    }

    /// A loop that may go wrong after some rounds.
    fn late(&mut self, ty: &Ty, d: usize) -> String {
        let i = self.fresh();
        let limit = self.leaf(&Ty::Int);
        let round = self.random.below(8);
        let wrong = if self.random.chance(50) && self.shape.mistakes > 0 { "1 + true" } else { "1 + 1" };
        let body = self.with_var(&i, Ty::Ref(Box::new(Ty::Int)), false, |g| g.expr(ty, d));
        format!(
            "(let {i} = ref 0 in while !{i} < {limit} && !{i} < 9 do (if !{i} = {round} then {wrong} else 0); \
             {i} := !{i} + 1 done; {body})"
        )
    }
}
