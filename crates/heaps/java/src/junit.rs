//! JUnit 5 tests: each builds an input heap, calls the method, and asserts what came out and what the heap became.
//!
//! Objects are made without constructors and fields set by place, whatever their access; records, whose fields nothing
//! can set, by their canonical constructor. Or an object is made through the calls that anyone may make.

use crate::calls::Call;
use crate::machine::Task;
use crate::program::{Class, Method, Program};
use crate::read::flags;
use crate::shared::writes_shared;
use crate::types::{Type, dotted};
use parallax_engines::engine::Ending;
use parallax_engines::{ConcreteValue, End, Replay, Value};
use parallax_heap::{ClassId, InputHeap, InputValue};
use parallax_op::Bits;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::rc::Rc;

/// One test to be.
pub struct Case {
    /// Its name as a method.
    pub name: String,
    /// What it shows, in words.
    pub title: String,
    /// What it calls in the end: the method, or the precondition where that throws.
    pub method: Rc<Method>,
    /// The calls that make `this`, a constructor first; none if it is built field by field.
    pub calls: Vec<Call>,
    /// The heap it starts from, or that the calls start from.
    pub input: InputHeap,
    /// What the concrete machine did.
    pub replay: Replay<Task>,
}

/// A Java source file.
pub struct Source {
    /// Where it goes, from the root of sources.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Tests that it does not have, because no Java program can build their input.
    pub unbuildable: Vec<String>,
}

/// The tests of a method as one class. `failing` tests of paths that end in an exception do not expect it, and so fail
/// until the method is mended.
pub fn source(task: &Task, cases: &[Case], failing: bool) -> Source {
    let program = &task.program;
    let class = program.class(task.method.class);
    let (package, simple) = class.name.rsplit_once('/').unwrap_or(("", &class.name));
    // No class can be added to the packages of the JDK.
    let package = if class.own { dotted(package) } else { String::new() };
    let method = task.method.name.replace(['<', '>'], "");
    let name = format!("{}_{method}_Test", simple.replace('$', "_"));
    let mut text = String::new();
    if !package.is_empty() {
        let _ = writeln!(text, "package {package};\n");
    }
    let _ = writeln!(
        text,
        "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.DisplayName;\n\
         import org.junit.jupiter.api.Test;\n\n/** One test for each path of {}. */\nclass {name} {{",
        program.method_name(&task.method)
    );
    let mut unbuildable = Vec::new();
    let fresh = cases.iter().any(|case| writes_shared(task, case));
    for case in cases {
        match (Writer { program, task, case, failing, fresh, text: String::new() }).test() {
            Some(test) => text.push_str(&test),
            None => unbuildable.push(case.name.clone()),
        }
    }
    text.push_str(if fresh { FRESH } else { PLAIN });
    text.push_str(HELPERS);
    let folder = if package.is_empty() { String::new() } else { format!("{}/", package.replace('.', "/")) };
    Source { path: format!("{folder}{name}.java"), text, unbuildable }
}

struct Writer<'a> {
    program: &'a Rc<Program>,
    task: &'a Task,
    case: &'a Case,
    failing: bool,
    /// Whether each test has classes of its own.
    fresh: bool,
    text: String,
}

/// The name that `Class.forName` takes.
fn binary(name: &str) -> String {
    dotted(name)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// A literal of a primitive type, boxed by where it stands.
fn literal(ty: &Type, bits: &Bits) -> String {
    let signed = bits.to_i128().unwrap_or(0);
    let unsigned = bits.to_u64().unwrap_or(0);
    match ty {
        Type::Boolean => (unsigned != 0).to_string(),
        Type::Byte => format!("(byte) {signed}"),
        Type::Short => format!("(short) {signed}"),
        Type::Char => format!("(char) {unsigned}"),
        Type::Int => format!("{signed}"),
        Type::Long => format!("{signed}L"),
        Type::Float => format!("Float.intBitsToFloat({})", unsigned as u32 as i32),
        Type::Double => format!("Double.longBitsToDouble({}L)", unsigned as i64),
        Type::Ref(_) => "null".into(),
    }
}

impl Writer<'_> {
    fn class(&self, id: ClassId) -> Rc<Class> {
        self.program.class(id)
    }

    fn input(&self, ty: &Type, value: InputValue) -> String {
        match value {
            InputValue::Null => "null".into(),
            InputValue::Object(at) => format!("o{at}"),
            InputValue::Bits(bits) => literal(ty, &Bits::new(ty.width().max(1), bits.into())),
            InputValue::Bool(b) => b.to_string(),
        }
    }

    /// The text of the test; none if its input cannot be built.
    fn test(mut self) -> Option<String> {
        let _ = writeln!(
            self.text,
            "    @Test\n    @DisplayName({})\n    void {}() throws Throwable {{",
            quoted(&self.case.title),
            self.case.name
        );
        if self.fresh {
            self.text.push_str("        fresh();\n");
        }
        self.build()?;
        self.make_calls();
        self.call();
        let _ = writeln!(self.text, "    }}\n");
        Some(self.text)
    }

    fn is_record(&self, class: &Class) -> bool {
        class.superclass.is_some_and(|parent| &*self.class(parent).name == "java/lang/Record")
    }

    fn build(&mut self) -> Option<()> {
        let case = self.case;
        let objects = &case.input.objects;
        let made = self.task.method.is_static() || !self.case.calls.is_empty();
        let wanted = |at: usize| at != 1 && !(at == 0 && made);
        let mut records = Vec::new();
        for (at, object) in objects.iter().enumerate().filter(|(at, _)| wanted(*at)) {
            let class = self.program.class(object.class);
            if self.is_record(&class) {
                records.push(at);
                continue;
            }
            let made = match &class.element {
                Some(_) => format!("array({}, {})", quoted(&class.name), object.fields.len()),
                None => format!("make({})", quoted(&binary(&class.name))),
            };
            let _ = writeln!(self.text, "        Object o{at} = {made};");
        }
        // A record after the records it holds.
        let mut made: Vec<usize> = Vec::new();
        while !records.is_empty() {
            let holds = |at: &usize, other: &usize| objects[*at].fields.contains(&InputValue::Object(*other));
            let ready = records.iter().position(|at| !records.iter().any(|other| holds(at, other)))?;
            let at = records.remove(ready);
            let class = self.program.class(objects[at].class);
            let arguments: Vec<String> = class
                .layout
                .iter()
                .zip(&objects[at].fields)
                .map(|(field, value)| self.input(&field.ty, *value))
                .collect();
            let types: Vec<String> = class.layout.iter().map(|field| field.ty.descriptor()).collect();
            let _ = writeln!(
                self.text,
                "        Object o{at} = construct({}, {}, new Object[] {{{}}});",
                quoted(&binary(&class.name)),
                quoted(&format!("({})V", types.concat())),
                arguments.join(", ")
            );
            made.push(at);
        }
        for (at, object) in objects.iter().enumerate().filter(|(at, _)| wanted(*at) && !made.contains(at)) {
            let class = self.program.class(object.class);
            for (place, value) in object.fields.iter().enumerate() {
                if matches!(value, InputValue::Null | InputValue::Bits(0) | InputValue::Bool(false)) {
                    continue;
                }
                match &class.element {
                    Some(element) => {
                        let value = self.input(element, *value);
                        let _ = writeln!(
                            self.text,
                            "        java.lang.reflect.Array.set(o{at}, {place}, {value});"
                        );
                    }
                    None => {
                        let field = &class.layout[place];
                        let owner = self.class(field.class);
                        let value = self.input(&field.ty, *value);
                        let _ = writeln!(
                            self.text,
                            "        put(o{at}, {}, {}, {value});",
                            quoted(&binary(&owner.name)),
                            quoted(&field.name)
                        );
                    }
                }
            }
        }
        Some(())
    }

    /// The calls that make `this`.
    fn make_calls(&mut self) {
        for call in &self.case.calls {
            let text = match &*call.method.name {
                "<init>" => format!(
                    "Object o0 = construct({}, {}, {})",
                    quoted(&binary(&self.class(call.method.class).name)),
                    quoted(&call.method.descriptor),
                    self.arguments(&call.method, &call.arguments)
                ),
                _ => self.calling(&call.method, &call.arguments),
            };
            let _ = writeln!(self.text, "        {text};");
        }
    }

    fn arguments(&self, method: &Method, values: &[InputValue]) -> String {
        let values = method.signature.parameters.iter().zip(values);
        let values: Vec<String> = values.map(|(ty, value)| self.input(ty, *value)).collect();
        format!("new Object[] {{{}}}", values.join(", "))
    }

    fn calling(&self, method: &Method, values: &[InputValue]) -> String {
        let this = if method.is_static() { "null" } else { "o0" };
        format!(
            "call({}, {}, {}, {this}, {})",
            quoted(&binary(&self.class(method.class).name)),
            quoted(&method.name),
            quoted(&method.descriptor),
            self.arguments(method, values)
        )
    }

    fn call(&mut self) {
        let method = &self.case.method;
        let call = self.calling(method, &self.case.input.objects[1].fields);
        let replay = &self.case.replay;
        match (&replay.end.end, &replay.trace.ending) {
            (End::Value(value), _) => {
                let value = value.clone();
                match &method.signature.result {
                    None => {
                        let _ = writeln!(self.text, "        {call};");
                        self.heap(None);
                    }
                    Some(ty) => {
                        let _ = writeln!(self.text, "        Object result = {call};");
                        self.heap(Some((ty.clone(), value)));
                    }
                }
            }
            (_, Ending::Error(uncaught)) if !self.failing => {
                let _ = writeln!(
                    self.text,
                    "        Throwable thrown = assertThrows(Throwable.class, () -> {call});\n        \
                     assertEquals({}, thrown.getClass().getName());",
                    quoted(&uncaught.class)
                );
                self.heap(None);
            }
            _ => {
                let _ = writeln!(self.text, "        {call};");
            }
        }
    }

    /// Asserts the result and what every object that the test can see holds in the end.
    fn heap(&mut self, result: Option<(Type, ConcreteValue)>) {
        let memory = &self.case.replay.end.memory;
        let inputs = self.case.input.objects.len();
        let mut names: HashMap<usize, String> = HashMap::new();
        let mut queue = VecDeque::new();
        for at in (0..inputs).filter(|at| *at != 1 && !(*at == 0 && self.task.method.is_static())) {
            names.insert(at, format!("o{at}"));
            queue.push_back(at);
        }
        let mut checks = Vec::new();
        if let Some((ty, value)) = result {
            checks.push(("result".to_owned(), ty, value));
        }
        let mut fresh = 0;
        loop {
            for (place, ty, value) in std::mem::take(&mut checks) {
                match value {
                    Value::Bool(b) => {
                        let _ = writeln!(self.text, "        assertEquals({b}, {place});");
                    }
                    Value::Int(bits) => {
                        // What comes from a variable has 32 bits, whatever its type.
                        let bits = if bits.width() > ty.width() { bits.extract(0, ty.width()) } else { bits };
                        let _ =
                            writeln!(self.text, "        assertEquals({}, {place});", literal(&ty, &bits));
                    }
                    Value::Ref(None) => {
                        let _ = writeln!(self.text, "        assertNull({place});");
                    }
                    Value::Ref(Some(at)) => match names.get(&at) {
                        Some(name) => {
                            let _ = writeln!(self.text, "        assertSame({name}, {place});");
                        }
                        None => {
                            let name = format!("n{fresh}");
                            fresh += 1;
                            let class = self.class(memory.objects[at].class);
                            let _ = writeln!(self.text, "        Object {name} = {place};");
                            if class.flags & flags::SYNTHETIC == 0 {
                                let _ = writeln!(
                                    self.text,
                                    "        assertEquals({}, {name}.getClass().getName());",
                                    quoted(&binary(&class.name))
                                );
                            } else {
                                let _ = writeln!(self.text, "        assertNotNull({name});");
                            }
                            names.insert(at, name);
                            // What the JDK keeps inside is its own.
                            let array = class.element.is_some();
                            if (class.own || array) && class.flags & flags::SYNTHETIC == 0 {
                                queue.push_back(at);
                            }
                        }
                    },
                }
            }
            let Some(at) = queue.pop_front() else { break };
            let object = &memory.objects[at];
            let class = self.class(object.class);
            let name = names[&at].clone();
            for (place, value) in object.fields.iter().enumerate() {
                let (get, ty) = match &class.element {
                    Some(element) => {
                        (format!("java.lang.reflect.Array.get({name}, {place})"), element.clone())
                    }
                    None => {
                        let field = &class.layout[place];
                        let owner = binary(&self.class(field.class).name);
                        let get = format!("get({name}, {}, {})", quoted(&owner), quoted(&field.name));
                        (get, field.ty.clone())
                    }
                };
                checks.push((get, ty, value.clone()));
            }
        }
    }
}

/// How classes are found where tests leave them as they were.
const PLAIN: &str = include_str!("junit/plain.java");
/// And where they do not.
const FRESH: &str = include_str!("junit/fresh.java");
/// What every test class brings along.
const HELPERS: &str = include_str!("junit/helpers.java");
