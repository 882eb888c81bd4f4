//! What is no program, and where the reader says so.

use parallax_mix::syntax::Program;
use parallax_source::{Diagnostic, SourceFile};

fn read(text: &str) -> Result<Program, Diagnostic> {
    parallax_mix::read(text)
}

/// The message and the place, as `line:column message`.
fn complaint(text: &str) -> String {
    let file = SourceFile::new("f.mix", text);
    let diagnostic = read(text).err().unwrap_or_else(|| panic!("{text:?} reads"));
    let (line, column) = file.position(diagnostic.span.start);
    assert!(diagnostic.render(&file).contains('^'));
    format!("{line}:{column} {}", diagnostic.message)
}

#[test]
fn complaints_name_the_place() {
    for (text, expected) in [
        ("", "1:1 expected an expression, found the end of the file"),
        ("{t 1", "1:1 this typed block is not closed"),
        ("{s 1", "1:1 this symbolic block is not closed"),
        ("1 t}", "1:3 `t}` closes no block"),
        ("{t {s 1\nt} s}", "2:1 `t}` crosses blocks: the innermost open block is symbolic, closed by `s}`"),
        ("{ 1 }", "1:1 `{` opens no block"),
        ("1 }", "1:3 `}` does not belong here"),
        ("let x = 1 in\n  y", "2:3 `y` is not bound here"),
        ("(let x = 1 in x) + x", "1:20 `x` is not bound here"),
        ("let x = x in x", "1:9 `x` is not bound here"),
        ("9223372036854775808", "1:1 this integer does not fit 64 bits"),
        ("99999999999999999999999999", "1:1 this integer does not fit 64 bits"),
        ("-9223372036854775809", "1:2 this integer does not fit 64 bits"),
        ("1e999", "1:1 this number does not fit a 64-bit float"),
        ("1x", "1:1 a name starts with a letter"),
        ("\"abc", "1:1 this string is not closed"),
        ("\"a\\q\"", "1:3 unknown escape in a string"),
        ("(* (* *) 1", "1:1 this comment is not closed"),
        ("(1", "1:3 expected `)` to close the parenthesis, found the end of the file"),
        ("if 1 2", "1:7 expected `then` after the condition, found the end of the file"),
        ("(1 : thing)", "1:6 there is no type `thing`"),
        ("(1 : pos bool)", "1:10 expected `int` after its sign, found `bool`"),
        ("let rec x = 1 in x", "1:9 `let rec` binds a function"),
        ("1; extern x : int", "1:4 expected an expression, found `extern`"),
        ("fun -> 1", "1:5 expected a parameter after `fun`, found `->`"),
        ("while true do 1", "1:16 expected `done` after the body of the loop, found the end of the file"),
        ("1 # 2", "1:3 `#` does not belong here"),
        ("1 + ü", "1:5 `ü` is not bound here"),
    ] {
        assert_eq!(complaint(text), expected, "{text:?}");
    }
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    for (open, close) in
        [("(", ")"), ("{t ", " t}"), ("not ", ""), ("ref ", ""), ("!", ""), ("- ", ""), ("fun x -> ", "")]
    {
        let text = format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
        assert!(complaint(&text).contains("nested too deeply"), "{open}");
    }
    assert!(complaint(&"(".repeat(300_000)).contains("nested too deeply"));
    assert!(complaint(&format!("1{}", " + 1".repeat(100_000))).contains("nested too deeply"));
    assert!(
        complaint(&format!("(1 : {}int{})", "(".repeat(100_000), ")".repeat(100_000))).contains("too deeply")
    );
    assert!(complaint(&format!("(1 : int{})", " ref".repeat(100_000))).contains("too deeply"));
    assert!(complaint(&"if true then ".repeat(100_000)).contains("nested too deeply"));
    let long = format!("{}x", "let x = 1 in x; ".repeat(100_000));
    assert!(read(&long).is_ok());
    // Deep, but allowed: nothing that walks it overflows.
    let deep = format!("{}1{}", "(1 + ".repeat(9_000), ")".repeat(9_000));
    let program = read(&deep).expect("within the bound");
    for outer in [parallax_mix::mix::Outer::Typed, parallax_mix::mix::Outer::Symbolic] {
        let options = parallax_mix::mix::Options { outer, ..Default::default() };
        assert!(parallax_mix::mix::check(&program, &options).accepted());
    }
    let run = parallax_mix::interp::run(
        &program,
        &mut parallax_mix::world::Answers::default(),
        &mut (),
        Default::default(),
    );
    assert!(matches!(run.expect("it runs").value, parallax_mix::interp::Value::Int(9001)));
}

#[test]
fn operators_bind_as_in_ml() {
    let value = |text: &str| {
        let program = read(text).unwrap_or_else(|d| panic!("{text}: {}", d.message));
        let run = parallax_mix::interp::run(
            &program,
            &mut parallax_mix::world::Answers::default(),
            &mut (),
            Default::default(),
        );
        let finished = run.unwrap_or_else(|stop| panic!("{text}: {stop}"));
        parallax_mix::interp::show(&finished.value, &finished.memory)
    };
    for (text, expected) in [
        ("1 + 2 * 3 ** 2", "19"),
        ("10 - 4 - 3", "3"),
        ("2 ** 3 ** 2", "512"),
        ("-2 ** 2", "-4"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775807 + 1", "-9223372036854775808"),
        ("-7 / 2", "-3"),
        ("not true || true && false", "false"),
        ("1 < 2 && 2.5 >= 2.5", "true"),
        ("let r = ref 1 in r := !r + 1; !r", "2"),
        ("let r = ref 1 in let s = ref 2 in r := s := 5; !r + !s", "10"),
        ("let f x y = x - y in f 7 4", "3"),
        ("let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2) in fib 15", "610"),
        ("var x = 1; x = x + 1; if x = 2 then x = 10 else x = 20; x", "10"),
        ("var x = 1; (x = 1)", "true"),
        ("var x = 1; let b = x = 2 in b", "false"),
        ("var x = 3; var n = 0; while x > 0 do x = x - 1; n = n + 2 done; n", "6"),
        ("var x = 1; let f = fun () -> x = x * 2 in f (); f (); x", "4"),
        ("{t 1 t} + {s 2 s} (* (* nested *) comment *)", "3"),
        ("let t = 1 in let s = 2 in {t t t} + {s s s}", "3"),
        ("\"a\\\"b\\n\" = \"a\\\"b\\n\"", "true"),
        ("1.5e1 /. 2.", "?"),
    ] {
        if expected == "?" {
            assert!(read(text).is_err(), "{text}");
        } else {
            assert_eq!(value(text), expected, "{text}");
        }
    }
}
