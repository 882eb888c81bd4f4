//! Structures that one file only declares are what another file defines.

use parallax_cmodule::{DebugType, Module};
use parallax_cread::clang::{Options, compile};
use parallax_cread::{Input, read};

fn joined(name: &str, files: &[&str]) -> Module {
    let compiled = files.iter().enumerate().map(|(number, text)| {
        let own = format!("parallax-declared-{}-{name}-{number}.c", std::process::id());
        let file = std::env::temp_dir().join(own);
        std::fs::write(&file, text).expect("written");
        let compiled = compile(&file, &Options::default()).expect("it compiles");
        std::fs::remove_file(&file).expect("removed");
        compiled.bitcode
    });
    let compiled: Vec<_> = compiled.collect();
    let inputs = compiled.iter().map(|bytes| Input { name: name.into(), bytes });
    read(&inputs.collect::<Vec<_>>(), &[]).expect("it is read")
}

/// The size of what the first parameter of a function points to.
fn pointed(module: &Module, name: &str) -> u64 {
    let function = module.function(module.function_named(name).expect("a function"));
    let mut ty = function.signature[1];
    let mut pointers = 0;
    while let Some(id) = ty {
        ty = match &module.debug_types[id.0 as usize] {
            DebugType::Pointer(of) if pointers == 0 => {
                pointers = 1;
                *of
            }
            DebugType::Alias { of, .. } => *of,
            DebugType::Struct { size, .. } | DebugType::Union { size, .. } => return *size,
            _ => None,
        };
    }
    panic!("{name} has no pointer to a structure")
}

const USER: &str = "struct box; int look(struct box *); int peek(struct box *b) { return look(b); }";

#[test]
fn what_another_file_defines_is_known() {
    for files in [
        [USER, "struct box { int a[5]; }; int look(struct box *b) { return b->a[1]; }"],
        ["struct box { int a[5]; }; int look(struct box *b) { return b->a[1]; }", USER],
    ] {
        let module = joined("defined", &files);
        assert_eq!(pointed(&module, "look"), 20);
        assert_eq!(pointed(&module, "peek"), 20);
    }
}

#[test]
fn a_union_is_no_structure_of_the_same_tag() {
    let module =
        joined("union", &[USER, "union box { int a[5]; }; int look(union box *b) { return b->a[1]; }"]);
    assert_eq!(pointed(&module, "peek"), 0);
}

#[test]
fn what_files_disagree_on_stays_unknown() {
    let module = joined(
        "disagree",
        &[
            USER,
            "struct box { int a[5]; }; int look(struct box *b) { return b->a[1]; }",
            "struct box { long a[5]; }; long other(struct box *b) { return b->a[1]; }",
        ],
    );
    assert_eq!(pointed(&module, "look"), 20);
    assert_eq!(pointed(&module, "other"), 40);
    assert_eq!(pointed(&module, "peek"), 0);
}
