//! Who uses what, asked of programs as clang writes them: a global that anything might write is never called unwritten,
//! and what a function can reach is never left out.

use parallax_cmodule::{FunctionId, Module};
use parallax_cread::clang::{Options, compile};
use parallax_cread::{Input, read};

fn module(name: &str, text: &str, optimise: u8) -> Module {
    let file = std::env::temp_dir().join(format!("parallax-uses-{}-{name}.c", std::process::id()));
    std::fs::write(&file, text).expect("written");
    let compiled = compile(&file, &Options { optimise, ..Options::default() }).expect("it compiles");
    std::fs::remove_file(&file).expect("removed");
    read(&[Input { name: name.into(), bytes: &compiled.bitcode }], &[]).expect("it is read")
}

/// Ways to use a table `gN`, and whether one of them may change it.
const USES: [(&str, bool); 16] = [
    ("int useN(int i) { return gN[i & 3]; }", false),
    ("int useN(int i) { return (gN + 1)[i & 1]; }", false),
    ("int useN(int i) { int copy[4]; memcpy(copy, gN, sizeof copy); return copy[i & 3]; }", false),
    ("int useN(int i) { return i ? gN[0] : gN[1]; }", false),
    ("int useN(int i) { gN[i & 3] = 1; return 0; }", true),
    ("int useN(int i) { int *p = &gN[1]; *p = i; return 0; }", true),
    ("int useN(int i) { gN[2]++; return i; }", true),
    ("int useN(int i) { memset(gN, i, 4); return 0; }", true),
    ("int useN(int i) { memcpy(gN, &i, sizeof i); return 0; }", true),
    ("extern void outside(int *); int useN(int i) { outside(gN); return i; }", true),
    ("int *useN(int i) { return gN + i; }", true),
    (
        "static int *keptN; int useN(int i) { keptN = gN; return *keptN; } void laterN(void) { *keptN = 1; }",
        true,
    ),
    ("int *namedN = &gN[1]; int useN(int i) { return namedN[i]; }", true),
    ("static void setN(int *p) { *p = 3; } int useN(int i) { setN(gN + 1); return i; }", true),
    ("int useN(int i) { int *p = i ? gN : 0; if (p) *p = 1; return 0; }", true),
    ("long useN(int i) { long a = (long)gN; *(int *)(a + 4) = i; return a; }", true),
];

#[test]
fn what_may_be_written_is_never_called_unwritten() {
    let mut text = String::from("#include <string.h>\n");
    for (number, (usage, _)) in USES.iter().enumerate() {
        text.push_str(&format!("static int g{number}[4] = {{ 1, 2, 3, 4 }};\n"));
        text.push_str(&usage.replace("gN", &format!("g{number}")).replace("N(", &format!("{number}(")));
        text.push('\n');
    }
    text = text.replace("keptN", "kept").replace("namedN", "named");
    // Optimised code says the same in other instructions; what it removes has no use left to ask about.
    for optimise in [0, 1, 2] {
        let module = module("written", &text, optimise);
        let unwritten = module.unwritten_globals();
        for (number, (usage, written)) in USES.iter().enumerate() {
            let name = format!("g{number}");
            let Some(index) = module.globals.iter().position(|global| global.name == name) else {
                assert!(optimise > 0, "{usage}");
                continue;
            };
            if *written {
                // A store that optimisation removed writes nothing.
                assert!(
                    !unwritten[index] || optimise > 0 && module.globals[index].constant,
                    "{usage} at -O{optimise}"
                );
            } else if optimise == 0 {
                assert!(unwritten[index], "{usage}: only read");
            }
        }
    }
}

const CALLS: &str = "
static int leaf(int x) { return x + 1; }
static int in_table(int x) { return leaf(x); }
static int never(int x) { return x; }
static int data[2];
static int behind;
static int *points = &behind;
struct row { const char *name; int (*run)(int); };
static struct row rows[] = { { \"a\", in_table } };
static int given(int x) { return data[0] + x; }
extern void later(int (*)(int));
int direct(int x) { return leaf(x); }
int through(int x) { return rows[0].run(x); }
int gives(void) { later(given); return *points; }
int alone(int x) { return x * 2; }
int unused(void) { return never(1); }
";

#[test]
fn reach_leaves_nothing_out() {
    let module = module("reach", CALLS, 0);
    let names = |from: &str| {
        let from = module.function_named(from).expect("defined");
        let reach = module.reach(from);
        let functions = reach.functions.iter().enumerate().filter(|(_, reached)| **reached);
        let functions = functions.map(|(index, _)| module.function(FunctionId(index as u32)).name.clone());
        let globals = reach.globals.iter().enumerate().filter(|(_, reached)| **reached);
        let globals = globals.map(|(index, _)| module.globals[index].name.clone());
        let mut names: Vec<String> =
            functions.chain(globals).filter(|name| !name.starts_with(".str")).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(names("direct"), "direct leaf");
    assert_eq!(names("alone"), "alone");
    // Through a pointer: every function whose address is taken, and what those use.
    assert_eq!(names("through"), "data given in_table leaf rows through");
    assert_eq!(names("gives"), "behind data given gives later points");
    assert_eq!(names("unused"), "never unused");
}
