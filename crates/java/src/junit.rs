//! JUnit 5 tests: each builds an input heap, calls the method, and asserts what came out and what the heap became.
//!
//! Objects are made without constructors and fields set by place, whatever their access; records, whose fields nothing
//! can set, by their canonical constructor.

use crate::machine::Task;
use crate::program::{Class, Program};
use crate::read::flags;
use crate::types::{Type, dotted};
use parallax_engines::engine::Ending;
use parallax_engines::{ConcreteValue, End, Replay, Value};
use parallax_heap::{ClassId, InputHeap, InputValue};
use parallax_op::Bits;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::rc::Rc;

/// One test to be.
pub struct Case<'a> {
    /// Its name as a method.
    pub name: String,
    /// What it shows, in words.
    pub title: String,
    /// The heap it starts from.
    pub input: &'a InputHeap,
    /// What the concrete machine did.
    pub replay: &'a Replay<Task>,
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
pub fn source(task: &Task, cases: &[Case<'_>], failing: bool) -> Source {
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
    for case in cases {
        match (Writer { program, task, case, failing, text: String::new() }).test() {
            Some(test) => text.push_str(&test),
            None => unbuildable.push(case.name.clone()),
        }
    }
    text.push_str(HELPERS);
    let folder = if package.is_empty() { String::new() } else { format!("{}/", package.replace('.', "/")) };
    Source { path: format!("{folder}{name}.java"), text, unbuildable }
}

struct Writer<'a> {
    program: &'a Rc<Program>,
    task: &'a Task,
    case: &'a Case<'a>,
    failing: bool,
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
        self.build()?;
        self.call();
        let _ = writeln!(self.text, "    }}\n");
        Some(self.text)
    }

    fn is_record(&self, class: &Class) -> bool {
        class.superclass.is_some_and(|parent| &*self.class(parent).name == "java/lang/Record")
    }

    fn build(&mut self) -> Option<()> {
        let objects = &self.case.input.objects;
        let wanted = |at: usize| at != 1 && !(at == 0 && self.task.method.is_static());
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
                "        Object o{at} = record({}, {}, new Object[] {{{}}});",
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

    fn call(&mut self) {
        let method = &self.task.method;
        let this = if method.is_static() { "null" } else { "o0" };
        let arguments: Vec<String> = method
            .signature
            .parameters
            .iter()
            .zip(&self.case.input.objects[1].fields)
            .map(|(ty, value)| self.input(ty, *value))
            .collect();
        let call = format!(
            "call({}, {}, {}, {this}, new Object[] {{{}}})",
            quoted(&binary(&self.class(method.class).name)),
            quoted(&method.name),
            quoted(&method.descriptor),
            arguments.join(", ")
        );
        let replay = self.case.replay;
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

/// What every test class brings along.
const HELPERS: &str = r#"    static {
        // Before any class of the program is loaded.
        ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(true);
    }

    private static final sun.misc.Unsafe UNSAFE = unsafe();

    private static sun.misc.Unsafe unsafe() {
        try {
            java.lang.reflect.Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** An object as it is before its constructor runs. */
    private static Object make(String name) throws Exception {
        return UNSAFE.allocateInstance(Class.forName(name));
    }

    private static Object array(String name, int length) throws Exception {
        return java.lang.reflect.Array.newInstance(Class.forName(name.replace('/', '.')).getComponentType(), length);
    }

    private static Object record(String name, String descriptor, Object[] arguments) throws Throwable {
        for (java.lang.reflect.Constructor<?> constructor : Class.forName(name).getDeclaredConstructors()) {
            if (descriptor(void.class, constructor.getParameterTypes()).equals(descriptor)) {
                constructor.setAccessible(true);
                try {
                    return constructor.newInstance(arguments);
                } catch (java.lang.reflect.InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
        throw new NoSuchMethodException(name + descriptor);
    }

    private static String descriptor(Class<?> result, Class<?>[] parameters) {
        return java.lang.invoke.MethodType.methodType(result, parameters).toMethodDescriptorString();
    }

    @SuppressWarnings("removal")
    private static void put(Object object, String owner, String name, Object value) throws Exception {
        java.lang.reflect.Field field = Class.forName(owner).getDeclaredField(name);
        long at = UNSAFE.objectFieldOffset(field);
        Class<?> type = field.getType();
        if (type == boolean.class) UNSAFE.putBoolean(object, at, (Boolean) value);
        else if (type == byte.class) UNSAFE.putByte(object, at, (Byte) value);
        else if (type == char.class) UNSAFE.putChar(object, at, (Character) value);
        else if (type == short.class) UNSAFE.putShort(object, at, (Short) value);
        else if (type == int.class) UNSAFE.putInt(object, at, (Integer) value);
        else if (type == long.class) UNSAFE.putLong(object, at, (Long) value);
        else if (type == float.class) UNSAFE.putFloat(object, at, (Float) value);
        else if (type == double.class) UNSAFE.putDouble(object, at, (Double) value);
        else UNSAFE.putObject(object, at, value);
    }

    @SuppressWarnings("removal")
    private static Object get(Object object, String owner, String name) throws Exception {
        java.lang.reflect.Field field = Class.forName(owner).getDeclaredField(name);
        if (field.getDeclaringClass().isRecord()) {
            field.setAccessible(true);
            return field.get(object);
        }
        long at = UNSAFE.objectFieldOffset(field);
        Class<?> type = field.getType();
        if (type == boolean.class) return UNSAFE.getBoolean(object, at);
        if (type == byte.class) return UNSAFE.getByte(object, at);
        if (type == char.class) return UNSAFE.getChar(object, at);
        if (type == short.class) return UNSAFE.getShort(object, at);
        if (type == int.class) return UNSAFE.getInt(object, at);
        if (type == long.class) return UNSAFE.getLong(object, at);
        if (type == float.class) return UNSAFE.getFloat(object, at);
        if (type == double.class) return UNSAFE.getDouble(object, at);
        return UNSAFE.getObject(object, at);
    }

    private static Object call(String owner, String name, String descriptor, Object self, Object[] arguments)
            throws Throwable {
        for (java.lang.reflect.Method method : Class.forName(owner).getDeclaredMethods()) {
            if (method.getName().equals(name)
                    && descriptor(method.getReturnType(), method.getParameterTypes()).equals(descriptor)) {
                if (!method.canAccess(self)) method.setAccessible(true);
                try {
                    return method.invoke(self, arguments);
                } catch (java.lang.reflect.InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
        throw new NoSuchMethodException(owner + "." + name + descriptor);
    }
}
"#;
