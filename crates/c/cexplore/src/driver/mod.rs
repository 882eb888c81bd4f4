//! A C file that feeds one input to a program: what harness functions return, or a `main` that sets up memory and
//! calls a function. Compiled together with the program it makes a native test.

mod call;
mod types;

use crate::explore::{Entry, Input, Settings};
use parallax_cmodule::{Function, Module, TypeKind};
use parallax_op::FloatFormat;
use std::fmt::Write;

/// How to compile the files of a program whose function a driver calls: the driver has a `main` of its own.
pub const RENAMED_MAIN: &str = "-Dmain=program_main_";

/// A driver.
pub struct Driver {
    /// The C file.
    pub text: String,
    /// Symbols it refers to that are `static`, each with its file: they have to be made visible before linking.
    pub hidden: Vec<(String, String)>,
}

/// How to link a program whose allocations fail when the input says so.
pub const WRAPPED: &str = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup";

const FAILING: &str = "\
/* Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup. */
void *__real_malloc(unsigned long);
void *__wrap_malloc(unsigned long n) { return take_() ? 0 : __real_malloc(n); }
void *__real_calloc(unsigned long, unsigned long);
void *__wrap_calloc(unsigned long n, unsigned long m) { return take_() ? 0 : __real_calloc(n, m); }
void *__real_realloc(void *, unsigned long);
void *__wrap_realloc(void *p, unsigned long n) { return (!p || n) && take_() ? 0 : __real_realloc(p, n); }
char *__real_strdup(const char *);
char *__wrap_strdup(const char *s) { return take_() ? 0 : __real_strdup(s); }
char *__real_strndup(const char *, unsigned long);
char *__wrap_strndup(const char *s, unsigned long n) { return take_() ? 0 : __real_strndup(s, n); }
";

/// The driver, or why there cannot be one.
pub fn driver(module: &Module, input: &Input, settings: &Settings) -> Result<Driver, String> {
    if !input.unknowns.is_empty() {
        return Err("the path depends on what code without a model returns".into());
    }
    if settings.failing_calls > 0 {
        return Err("nothing native makes a system call fail".into());
    }
    let mut text = String::from("/* One input. Compile together with the program");
    if matches!(settings.entry, Entry::Function(_)) {
        let _ = write!(text, ", its own files with {RENAMED_MAIN}");
    }
    text.push_str(". */\n#undef main\n");
    harness(module, input, &mut text)?;
    if settings.failing_allocation {
        text.push_str(FAILING);
    }
    let mut hidden = Vec::new();
    if let Entry::Function(name) = &settings.entry {
        hidden = call::main(module, name, input, &mut text)?;
    }
    Ok(Driver { text, hidden })
}

/// A driver that carries the whole input, arguments, standard input and files included: it has a `main` of its own,
/// which calls the program's.
pub fn standalone(module: &Module, input: &Input, settings: &Settings) -> Result<Driver, String> {
    let mut made = driver(module, input, settings)?;
    let Entry::Main { .. } = settings.entry else { return Ok(made) };
    let main = module.function_named("main").ok_or("the program has no function main")?;
    let plain = format!("with the program's own files, which are compiled with {RENAMED_MAIN}");
    made.text = made.text.replacen("together with the program", &plain, 1);
    let text = &mut made.text;
    let _ = writeln!(text, "int open(const char *, int, ...); int close(int); int dup2(int, int);");
    let _ = writeln!(text, "int unlink(const char *); extern char **environ;");
    let _ = writeln!(text, "int setenv(const char *, const char *, int);");
    let _ = writeln!(text, "static void make_(const char *name, const char *bytes, unsigned long n) {{");
    // Made anew, to be read and written by its owner.
    let _ = writeln!(text, "  int file = open(name, 01 | 0100 | 01000, 0600);");
    let _ =
        writeln!(text, "  if (file < 0 || write(file, bytes, n) != (long)n) abort();\n  close(file);\n}}");
    let parameters = module.function(main).parameters.len();
    let declared = ["void", "int", "int, char **", "int, char **, char **"];
    let list = declared.get(parameters).ok_or("main takes something other than the usual")?;
    let _ = writeln!(text, "int program_main_({list});");
    let _ = writeln!(text, "int main(void) {{");
    for (name, bytes) in &input.files {
        let _ = writeln!(text, "  make_({}, {}, {});", literal(name.as_bytes()), literal(bytes), bytes.len());
    }
    let _ = writeln!(text, "  make_(\".stdin\", {}, {});", literal(&input.stdin), input.stdin.len());
    let _ = writeln!(
        text,
        "  int in = open(\".stdin\", 0);\n  dup2(in, 0);\n  close(in);\n  unlink(\".stdin\");"
    );
    for (name, value) in &input.environment {
        let _ = writeln!(text, "  setenv({}, {}, 1);", literal(name.as_bytes()), literal(value));
    }
    let arguments: Vec<String> = match input.arguments.is_empty() {
        true => vec![literal(b"program")],
        false => input.arguments.iter().map(|argument| literal(argument)).collect(),
    };
    let _ = writeln!(text, "  static char *arguments[] = {{{}, 0}};", arguments.join(", "));
    let given = [format!("{}", arguments.len()), "arguments".into(), "environ".into()];
    let _ = writeln!(text, "  exit(program_main_({}));\n}}", given[..parameters].join(", "));
    Ok(made)
}

/// Bytes as a C string literal.
fn literal(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' | b'?' => text.extend(['\\', byte as char]),
            0x20..=0x7e => text.push(byte as char),
            // Three digits, so that nothing that follows belongs to them.
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text + "\""
}

fn harness(module: &Module, input: &Input, text: &mut String) -> Result<(), String> {
    let values: Vec<String> = input
        .values
        .iter()
        .map(|(_, bits)| format!("{:#x}ULL", bits.to_u128().unwrap_or(0) as u64))
        .chain(["0".to_string()])
        .collect();
    let _ = writeln!(text, "static const unsigned long long values_[] = {{{}}};", values.join(", "));
    let _ = writeln!(text, "static unsigned long next_;");
    let _ = writeln!(
        text,
        "static unsigned long long take_(void) {{ return next_ < {} ? values_[next_++] : 0; }}",
        input.values.len()
    );
    let _ = writeln!(text, "void abort(void); void exit(int); long write(int, const void *, unsigned long);");
    for function in module.functions.iter().filter(|f| !f.is_defined()) {
        if let Some(body) = harness_function(module, function)? {
            let _ = writeln!(text, "{body}");
        }
    }
    Ok(())
}

/// A definition for a harness function that the program only declares.
fn harness_function(module: &Module, function: &Function) -> Result<Option<String>, String> {
    let name = function.name.as_str();
    Ok(Some(match name {
        "klee_make_symbolic" => "void klee_make_symbolic(void *to, unsigned long n, const char *name) {\n  \
             (void)name;\n  unsigned char *p = to;\n  \
             if (n == 1 || n == 2 || n == 4 || n == 8) {\n    unsigned long long v = take_();\n    \
             for (unsigned long i = 0; i < n; i++) p[i] = (unsigned char)(v >> (8 * i));\n  } else {\n    \
             for (unsigned long i = 0; i < n; i++) p[i] = (unsigned char)take_();\n  }\n}"
            .into(),
        "klee_int" => "int klee_int(const char *n) { (void)n; return (int)take_(); }".into(),
        "klee_range" => {
            "int klee_range(int a, int b, const char *n) { (void)a, (void)b, (void)n; return (int)take_(); }"
                .into()
        }
        "klee_choose" => "unsigned long klee_choose(unsigned long n) { (void)n; return take_(); }".into(),
        "__CPROVER_assume" => "void __CPROVER_assume(int c) { if (!c) exit(0); }".into(),
        "__CPROVER_assert" => "void __CPROVER_assert(int c, const char *w) \
             { (void)w; if (!c) { write(2, \"PARALLAX assertion\", 18); abort(); } }"
            .into(),
        "__CPROVER_havoc_object" => return Err("nothing native says how large an object is".into()),
        "klee_assert_fail" => {
            "void klee_assert_fail(const char *a, const char *f, unsigned l, const char *g) \
             { (void)a, (void)f, (void)l, (void)g; write(2, \"PARALLAX assertion\", 18); abort(); }"
                .into()
        }
        "klee_assume" => "void klee_assume(unsigned long c) { if (!c) exit(0); }".into(),
        "__VERIFIER_assume" => "void __VERIFIER_assume(int c) { if (!c) exit(0); }".into(),
        "klee_assert" | "__VERIFIER_assert" => {
            format!("void {name}(int c) {{ if (!c) {{ write(2, \"PARALLAX assertion\", 18); abort(); }} }}")
        }
        "reach_error" | "__VERIFIER_error" => {
            format!("void {name}(void) {{ write(2, \"PARALLAX reached-error\", 22); abort(); }}")
        }
        "klee_abort" => "void klee_abort(void) { write(2, \"PARALLAX assertion\", 18); abort(); }".into(),
        "klee_report_error" => "void klee_report_error(const char *f, int l, const char *m, const char *s) \
             { (void)f, (void)l, (void)m, (void)s; write(2, \"PARALLAX assertion\", 18); abort(); }"
            .into(),
        // Under AddressSanitizer it is known which bytes may be touched.
        "klee_check_memory_access" => {
            "__attribute__((weak)) void *__asan_region_is_poisoned(void *, unsigned long);\n\
             void klee_check_memory_access(const void *p, unsigned long n) \
             { if (n && __asan_region_is_poisoned && __asan_region_is_poisoned((void *)p, n)) \
             { write(2, \"PARALLAX stack-buffer-overflow\", 30); abort(); } }"
                .into()
        }
        "klee_silent_exit" => "void klee_silent_exit(int s) { exit(s); }".into(),
        "klee_is_symbolic" => "unsigned klee_is_symbolic(unsigned long v) { (void)v; return 0; }".into(),
        "klee_get_obj_size" => return Err("nothing native says how large an object is".into()),
        "klee_get_valuef" => "float klee_get_valuef(float v) { return v; }".into(),
        "klee_get_valued" => "double klee_get_valued(double v) { return v; }".into(),
        _ if name.starts_with("klee_get_value") => format!("long {name}(long v) {{ return v; }}"),
        _ if name.starts_with("__VERIFIER_atomic_") => format!("void {name}(void) {{}}"),
        _ if name.starts_with("__CPROVER_") => format!("void {name}(void) {{}}"),
        _ if (name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_"))
            && is_int128(module, function) =>
        {
            format!(
                "unsigned __int128 {name}(void) {{ unsigned __int128 low = take_(); \
             return low | (unsigned __int128)take_() << 64; }}"
            )
        }
        _ if name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") => {
            let ty = c_type(module, function)
                .ok_or_else(|| format!("{name} returns something other than a number"))?;
            format!(
                "{ty} {name}(void) {{ unsigned long long v = take_(); {ty} r; \
                     __builtin_memcpy(&r, &v, sizeof r); return r; }}"
            )
        }
        _ if name.starts_with("klee_") => format!("long {name}() {{ return 0; }}"),
        _ => return Ok(None),
    }))
}

/// As clang returns it: two words.
fn is_int128(module: &Module, function: &Function) -> bool {
    match &module.ty(function.result).kind {
        TypeKind::Struct(fields) => {
            fields.len() == 2 && fields.iter().all(|(ty, _)| matches!(module.ty(*ty).kind, TypeKind::Int(64)))
        }
        _ => false,
    }
}

fn c_type(module: &Module, function: &Function) -> Option<&'static str> {
    Some(match module.ty(function.result).kind {
        TypeKind::Int(1) => "_Bool",
        TypeKind::Int(8) => "unsigned char",
        TypeKind::Int(16) => "unsigned short",
        TypeKind::Int(32) => "unsigned",
        TypeKind::Int(64) => "unsigned long",
        TypeKind::Float(FloatFormat::F32) => "float",
        TypeKind::Float(FloatFormat::F64) => "double",
        TypeKind::Pointer => "void *",
        _ => return None,
    })
}
