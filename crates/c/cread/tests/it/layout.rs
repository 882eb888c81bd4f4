//! What is read against what the compiler lays out: sizes, places of fields and first bytes of variables of random types,
//! as a native program prints them.

use parallax_cmodule::{Constant, ConstantId, DebugType, Module, TypeKind};
use parallax_cread::clang::{COMPILER, Options, compile};
use parallax_cread::{Input, read};
use std::fmt::Write;
use std::process::Command;

/// Small random numbers; the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A type: how a field of it is declared, around its name, and an initial value.
struct Shape {
    before: String,
    after: String,
    value: String,
}

/// A random type that may hold the structures before number `made`.
fn shape(random: &mut Random, made: &[String], depth: u32) -> Shape {
    let plain = |before: &str, value: String| Shape { before: before.into(), after: String::new(), value };
    let number = random.below(1 << 30) as i64 - (1 << 29);
    match random.below(if depth == 0 { 10 } else { 13 }) {
        0 => plain("char", (number % 128).to_string()),
        1 => plain("short", (number % 32768).to_string()),
        2 => plain("int", number.to_string()),
        3 => plain("long", format!("{number} * 65537L * 4099")),
        4 => plain("unsigned __int128", format!("((unsigned __int128){number}UL << 61) + 5")),
        5 => plain("float", format!("{number} / 1024.0f")),
        6 => plain("double", format!("{number} / 3.0")),
        7 => plain("long double", format!("{number} / 7.0L")),
        8 => plain("_Bool", (number & 1).to_string()),
        9 => plain("enum { A_NAME = 1, ANOTHER = 70000 }", "70000".into()).renamed(random, made.len()),
        10 | 11 if !made.is_empty() => {
            let which = random.below(made.len() as u64) as usize;
            Shape { before: format!("struct s{which}"), after: String::new(), value: made[which].clone() }
        }
        _ => {
            let length = 1 + random.below(5);
            let element = shape(random, made, depth - 1);
            // One element less than there is room for: the rest is zero.
            let values = vec![element.value; (length.max(2) - 1) as usize].join(", ");
            let after = format!("[{length}]{}", element.after);
            Shape { before: element.before, after, value: format!("{{ {values} }}") }
        }
    }
}

impl Shape {
    /// Names of enumerators may be there once only.
    fn renamed(mut self, random: &mut Random, mark: usize) -> Shape {
        let unique = format!("_{mark}_{}", random.below(1 << 40));
        self.before =
            self.before.replace("A_NAME", &format!("A{unique}")).replace("ANOTHER", &format!("B{unique}"));
        self
    }
}

/// C text of structures with a variable of each, and for each structure its number of fields.
fn program(random: &mut Random, structures: usize) -> (String, Vec<usize>) {
    let mut text = String::from("#include <stddef.h>\n#include <stdio.h>\nstatic int target[9];\n");
    let (mut made, mut counts) = (Vec::new(), Vec::new());
    for index in 0..structures {
        let count = 1 + random.below(6) as usize;
        let shapes: Vec<Shape> = (0..count).map(|_| shape(random, &made, 2)).collect();
        let packed = ["", " __attribute__((packed))"][usize::from(random.below(4) == 0)];
        let _ = write!(text, "struct s{index} {{ ");
        for (field, shape) in shapes.iter().enumerate() {
            let aligned = if random.below(9) == 0 { "_Alignas(32) " } else { "" };
            // A packed structure and an alignment of its own do not go together in every place.
            let aligned = if packed.is_empty() { aligned } else { "" };
            let _ = write!(text, "{aligned}{} f{field}{}; ", shape.before, shape.after);
        }
        let values = shapes.iter().map(|shape| shape.value.clone()).collect::<Vec<_>>().join(", ");
        let value = format!("{{ {values} }}");
        let _ = writeln!(text, "}}{packed};\nstruct s{index} v{index} = {value};");
        let place = random.below(10);
        let _ = writeln!(text, "void *p{index} = (char *)&target[{place}] + {};", random.below(3));
        made.push(value);
        counts.push(count);
    }
    text.push_str("int main(void) {\n");
    for (index, count) in counts.iter().enumerate() {
        let _ = writeln!(text, "  printf(\"%zu %td\", sizeof v{index}, (char *)p{index} - (char *)target);");
        for field in 0..*count {
            let _ = writeln!(text, "  printf(\" %zu\", offsetof(struct s{index}, f{field}));");
        }
        let _ = writeln!(text, "  putchar(' ');");
        let _ = writeln!(
            text,
            "  for (size_t i = 0; i < sizeof v{index}; i++) printf(\"%02x\", ((unsigned char *)&v{index})[i]);"
        );
        let _ = writeln!(text, "  putchar('\\n');");
    }
    text.push_str("  return 0;\n}\n");
    (text, counts)
}

/// The bytes of a constant without addresses.
fn bytes(module: &Module, id: ConstantId, out: &mut [u8]) {
    match module.constant(id) {
        Constant::Bits(bits) => bits.write_le_bytes(&mut out[..usize::from(bits.width().div_ceil(8))]),
        Constant::Zero(_) => {}
        Constant::Bytes(_, bytes) => out[..bytes.len()].copy_from_slice(bytes),
        Constant::Aggregate(ty, elements) => match &module.ty(*ty).kind {
            TypeKind::Array { element, .. } => {
                let step = module.ty(*element).size as usize;
                for (index, part) in elements.iter().enumerate() {
                    bytes(module, *part, &mut out[index * step..]);
                }
            }
            TypeKind::Struct(fields) => {
                for ((_, at), part) in fields.iter().zip(elements) {
                    bytes(module, *part, &mut out[*at as usize..]);
                }
            }
            other => panic!("an aggregate of type {other:?}"),
        },
        // Padding that clang spells out.
        Constant::Undefined(_) => {}
        other => panic!("not a plain initialiser: {other:?}"),
    }
}

/// What the native program should print, by what was read.
fn printed(module: &Module, counts: &[usize]) -> String {
    let global = |name: String| {
        module.globals.iter().find(|global| global.name == name).unwrap_or_else(|| panic!("no global {name}"))
    };
    let mut text = String::new();
    for (index, count) in counts.iter().enumerate() {
        let variable = global(format!("v{index}"));
        let size = module.ty(variable.ty).size as usize;
        let pointer = global(format!("p{index}")).initialiser.expect("defined");
        let Constant::Global(target, offset) = module.constant(pointer) else {
            panic!("p{index} is {:?}", module.constant(pointer))
        };
        assert_eq!(module.global(*target).name, "target");
        let _ = write!(text, "{size} {offset}");
        let fields = module.debug_types.iter().find_map(|ty| match ty {
            DebugType::Struct { name, size: told, fields } if *name == format!("s{index}") => {
                assert_eq!(*told as usize, size, "debug information tells the size of s{index}");
                Some(fields)
            }
            _ => None,
        });
        let fields = fields.unwrap_or_else(|| panic!("no debug type s{index}"));
        assert_eq!(fields.len(), *count);
        for field in fields {
            let _ = write!(text, " {}", field.offset_bits / 8);
        }
        let mut initial = vec![0; size];
        bytes(module, variable.initialiser.expect("defined"), &mut initial);
        text.push(' ');
        initial.iter().for_each(|byte| {
            let _ = write!(text, "{byte:02x}");
        });
        text.push('\n');
    }
    text
}

#[test]
fn random_types_are_laid_out_as_the_compiler_does() {
    let folder = std::env::temp_dir().join(format!("parallax-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for seed in 0..12 {
        let (text, counts) = program(&mut Random(seed), 12);
        let (file, native) = (folder.join("types.c"), folder.join("types"));
        std::fs::write(&file, &text).expect("written");
        let built =
            Command::new(COMPILER).arg("-w").arg(&file).arg("-o").arg(&native).output().expect(COMPILER);
        assert!(built.status.success(), "seed {seed}: {}\n{text}", String::from_utf8_lossy(&built.stderr));
        let expected = Command::new(&native).output().expect("it runs").stdout;
        let options = Options { flags: vec!["-w".into()], ..Options::default() };
        let compiled = compile(&file, &options).expect("it compiles");
        let module =
            read(&[Input { name: "types".into(), bytes: &compiled.bitcode }], &[]).expect("it is read");
        let found = printed(&module, &counts);
        for (index, (found, expected)) in
            found.lines().zip(String::from_utf8_lossy(&expected).lines()).enumerate()
        {
            assert_eq!(found, expected, "seed {seed}, structure {index} of\n{text}");
        }
        assert_eq!(found.lines().count(), counts.len());
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}
