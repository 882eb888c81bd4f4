//! Folding in each language, checked against what the chapter says stays on screen.

use super::*;
use std::collections::BTreeSet;

/// The lines that stay when line `line` is of interest: itself and what frames it.
fn kept(name: &str, text: &str, line: u32) -> Vec<u32> {
    let outline = Outline::of(name, text);
    let mut kept = BTreeSet::from([line]);
    for block in outline.blocks.iter().filter(|block| block.lines.contains(line)) {
        kept.extend(&block.skeleton);
    }
    kept.into_iter().collect()
}

fn functions(name: &str, text: &str) -> Vec<(String, u32, u32)> {
    let outline = Outline::of(name, text);
    outline.functions.into_iter().map(|f| (f.name, f.lines.first, f.lines.last)).collect()
}

const C: &str = "\
static int *
f(int a, char *b)
{
    int c = 1;
    if (a &&
        b) {
        one();
    } else if (c) {
        two();
        three();
    } else {
        four();
    }
    do {
        five();
    } while (c);
    switch (a) {
    case 1:
        six();
        break;
    default:
        seven();
    }
    for (;;)
        eight();
#ifdef X
    nine();
#else
    ten();
#endif
    {
        eleven();
    }
    return 0;
}
";

/// As zip 3.0 has it: both branches of a conditional begin what comes after it, and parameters are declared the old way.
const CUT: &str = "\
int f(n)
int n; /* a number */
{
#ifdef A
  if (n > 1)
#else
#  if 0
  if (n > 2) {
#  else
  if (n > \\
      3)
#  endif
#endif
  {
    one();
  }
#ifdef A
  else if (n)
#else
  else if (!n)
#endif
  {
    two();
  }
  return 0;
}

int g(void)
{
  return 1;
}
";

#[test]
fn conditionals_that_cut_through_statements_leave_functions_whole() {
    assert_eq!(functions("cut.c", CUT), [("f".to_owned(), 1, 26), ("g".to_owned(), 28, 31)]);
    let kept = kept("cut.c", CUT, 15);
    for line in [1, 3, 5, 14, 16, 26] {
        assert!(kept.contains(&line), "{line} of {kept:?}");
    }
    assert!(!kept.contains(&23), "{kept:?}");
}

/// As zip 3.0 and unzip 6.0 have it: the grammar loses old definitions whose result is a pointer.
const OLD: &str = "\
#ifdef WIDE
wchar_t *name(x, n)
#else
char *name(x, n)
#endif
const char *x;          /* in: (a path) { */
int (*n)();
/* What it does stands
   here. */
{
  return last(x);
}

local char **list(a) char *a[]; { return a; }

int plain(a, b)
  int a;
  int b;
{
#ifdef A
  if (a) {
#else
  if (b) {
#endif
    one();
  }
#ifdef A
  if (b) {
#endif
  return 0;
}

#ifdef A
char *after(void)
{
  return 0;
}
#else
int other(void)
{
  return 1;
}
#endif
";

#[test]
fn old_definitions_are_functions_from_their_head_to_their_end() {
    let expected =
        [("name", 2, 12), ("list", 14, 14), ("plain", 16, 31), ("after", 34, 37), ("other", 39, 42)];
    assert_eq!(functions("old.c", OLD), expected.map(|(name, first, last)| (name.to_owned(), first, last)));
    // The declarations of parameters are part of the head, the comment between them is not.
    let kept = kept("old.c", OLD, 11);
    for (line, shown) in
        [(2, true), (6, true), (7, true), (8, false), (9, false), (10, true), (12, true), (17, false)]
    {
        assert_eq!(kept.contains(&line), shown, "{line} of {kept:?}");
    }
    let outline = Outline::of("old.c", OLD);
    let defined = |name| {
        outline.definitions.iter().filter(|one| one.name == name && one.kind == Kind::Function).count()
    };
    for (name, ..) in expected {
        assert_eq!(defined(name), 1, "{name}");
    }
}

#[test]
fn c_keeps_guards_else_lines_heads_and_ends() {
    assert_eq!(functions("a.c", C), [("f".to_owned(), 1, 35)]);
    let head = [1, 2, 3, 35];
    let with = |lines: &[u32]| {
        let mut all = [&head[..], lines].concat();
        all.sort_unstable();
        all
    };
    assert_eq!(kept("a.c", C, 4), with(&[4]));
    let chain = [5, 6, 8, 11, 13];
    assert_eq!(kept("a.c", C, 7), with(&[&chain[..], &[7]].concat()));
    assert_eq!(kept("a.c", C, 10), with(&[&chain[..], &[10]].concat()));
    assert_eq!(kept("a.c", C, 12), with(&[&chain[..], &[12]].concat()));
    assert_eq!(kept("a.c", C, 15), with(&[14, 15, 16]));
    assert_eq!(kept("a.c", C, 19), with(&[17, 18, 19, 23]));
    assert_eq!(kept("a.c", C, 22), with(&[17, 21, 22, 23]));
    assert_eq!(kept("a.c", C, 25), with(&[24, 25]));
    assert_eq!(kept("a.c", C, 27), with(&[26, 27, 28, 30]));
    assert_eq!(kept("a.c", C, 32), with(&[31, 32, 33]));
    // C++ reads the same text the same way.
    for line in 1..=35 {
        assert_eq!(kept("a.c", C, line), kept("a.cpp", C, line), "line {line}");
    }
}

#[test]
fn cpp_folds_methods_lambdas_and_try() {
    let text = "\
namespace n {
class C {
    int m() const {
        try {
            a();
        } catch (E &e) {
            b();
        }
        auto l = [&](int q) {
            return q;
        };
        for (auto x : y) {
            z();
        }
    }
};
}
int C::g() { return 1; }
";
    assert_eq!(functions("a.cc", text), [("m".to_owned(), 3, 15), ("g".to_owned(), 18, 18)]);
    assert_eq!(kept("a.cc", text, 7), [1, 2, 3, 4, 6, 7, 8, 15, 16, 17]);
    assert_eq!(kept("a.cc", text, 10), [1, 2, 3, 9, 10, 11, 15, 16, 17]);
    assert_eq!(kept("a.cc", text, 13), [1, 2, 3, 12, 13, 14, 15, 16, 17]);
}

#[test]
fn java_folds() {
    let text = "\
class A {
    int f(int a) {
        if (a > 1) {
            b();
        } else {
            c();
        }
        synchronized (x) {
            d();
        }
        try {
            e();
        } finally {
            g();
        }
        return a;
    }
}
";
    assert_eq!(functions("A.java", text), [("f".to_owned(), 2, 17)]);
    assert_eq!(kept("A.java", text, 4), [1, 2, 3, 4, 5, 7, 17, 18]);
    assert_eq!(kept("A.java", text, 9), [1, 2, 8, 9, 10, 17, 18]);
    assert_eq!(kept("A.java", text, 14), [1, 2, 11, 13, 14, 15, 17, 18]);
}

#[test]
fn rust_folds() {
    let text = "\
impl S {
    fn f(&self, b: u8) -> u8 {
        if b > 1 {
            one()
        } else if c {
            two()
        } else {
            three()
        }
        match b {
            1 => {
                four()
            }
            _ => 3,
        }
        let Some(z) = q else {
            return 0;
        };
        loop {
            five()
        }
    }
}
";
    assert_eq!(functions("a.rs", text), [("f".to_owned(), 2, 22)]);
    assert_eq!(kept("a.rs", text, 6), [1, 2, 3, 5, 6, 7, 9, 22, 23]);
    assert_eq!(kept("a.rs", text, 12), [1, 2, 10, 11, 12, 15, 22, 23]);
    assert_eq!(kept("a.rs", text, 17), [1, 2, 16, 17, 18, 22, 23]);
    assert_eq!(kept("a.rs", text, 20), [1, 2, 19, 20, 21, 22, 23]);
}

#[test]
fn python_folds() {
    let text = "\
class A:
    def f(self, a):
        b = 1
        if a:
            one()
        elif b:
            two()
        else:
            three()
        try:
            four()
        except E as e:
            five()
        with a as b:
            six()
        return 1
";
    assert_eq!(functions("a.py", text), [("f".to_owned(), 2, 16)]);
    assert_eq!(kept("a.py", text, 7), [1, 2, 4, 6, 7, 8]);
    assert_eq!(kept("a.py", text, 13), [1, 2, 10, 12, 13]);
    assert_eq!(kept("a.py", text, 15), [1, 2, 14, 15]);
}

#[test]
fn javascript_and_go_fold() {
    let js = "\
function g(x) {
  for (const q of r) {
    one();
  }
  list.map(y => {
    two();
  });
}
";
    assert_eq!(functions("a.js", js), [("g".to_owned(), 1, 8)]);
    assert_eq!(kept("a.js", js, 3), [1, 2, 3, 4, 8]);
    assert_eq!(kept("a.js", js, 6), [1, 5, 6, 7, 8]);
    let go = "\
package p

func (t *T) m(a int) int {
	if a > 1 {
		one()
	} else if d {
		two()
	} else {
		three()
	}
	select {
	case <-q:
		four()
	}
	return 1
}
";
    assert_eq!(functions("a.go", go), [("m".to_owned(), 3, 16)]);
    assert_eq!(kept("a.go", go, 7), [3, 4, 6, 7, 8, 10, 16]);
    assert_eq!(kept("a.go", go, 13), [3, 11, 12, 13, 14, 16]);
}

#[test]
fn other_languages_fold_by_indentation() {
    let text = "\
function f()
  if a then
    one()
  else
    two()
  end

  three()
end
four()
";
    assert_eq!(kept("a.lua", text, 5), [1, 2, 4, 5, 6, 9]);
    assert_eq!(kept("a.lua", text, 8), [1, 8, 9]);
    assert_eq!(kept("a.lua", text, 10), [10]);
}

#[test]
fn definitions_are_found_with_their_kind_and_scope() {
    let text = "\
#define N 3
typedef struct s { int a; } T;
enum e { A };
/* how many */
int count = 4, *p;
int g(int);
extern int far;
int g(int x) {
    int y = x;
    return y;
}
";
    let outline = Outline::of("a.c", text);
    let found: Vec<_> = outline
        .definitions
        .iter()
        .map(|d| (d.name.as_str(), d.kind, d.lines.first, d.scope.is_some()))
        .collect();
    for wanted in [
        ("N", Kind::Macro, 1, false),
        ("T", Kind::Type, 2, false),
        ("s", Kind::Type, 2, false),
        ("A", Kind::Constant, 3, false),
        ("count", Kind::Variable, 5, false),
        ("p", Kind::Variable, 5, false),
        ("g", Kind::Declaration, 6, false),
        ("far", Kind::Declaration, 7, false),
        ("g", Kind::Function, 8, false),
        ("x", Kind::Parameter, 8, true),
        ("y", Kind::Local, 9, true),
    ] {
        assert!(found.contains(&wanted), "{wanted:?} not in {found:?}");
    }
    let count = outline.definitions.iter().find(|d| d.name == "count").unwrap();
    assert_eq!(outline.with_comment(text, count.lines), Lines { first: 4, last: 5 });
    let macro_lines = outline.definitions.iter().find(|d| d.name == "N").unwrap().lines;
    assert_eq!(macro_lines, Lines { first: 1, last: 1 });
}

#[test]
fn tokens_cover_what_they_say_also_beyond_ascii() {
    let text = "int ä = \"ü\"; /* a\nb */ return 42;\n";
    let outline = Outline::of("a.c", text);
    let lines: Vec<Vec<u16>> = text.lines().map(|line| line.encode_utf16().collect()).collect();
    let words: Vec<(Class, String)> = outline
        .tokens
        .iter()
        .map(|token| {
            let line = &lines[token.line as usize - 1];
            let range = token.start as usize..(token.start + token.length) as usize;
            (token.class, String::from_utf16(&line[range]).unwrap())
        })
        .collect();
    assert!(words.contains(&(Class::String, "\"ü\"".into())), "{words:?}");
    assert!(words.contains(&(Class::Comment, "/* a".into())));
    assert!(words.contains(&(Class::Comment, "b */".into())));
    assert!(words.contains(&(Class::Keyword, "return".into())));
    assert!(words.contains(&(Class::Number, "42".into())));
}

#[test]
fn qualified_names_lose_their_qualification() {
    assert_eq!(unqualified("ns::C::f(int, std::string)"), "f");
    assert_eq!(unqualified("com.example.Main.run"), "run");
    assert_eq!(unqualified("f"), "f");
}

#[test]
fn hostile_texts_are_outlined_in_a_moment() {
    let begun = std::time::Instant::now();
    let deep = 60_000;
    for (name, text) in [
        ("a.c", format!("int f() {{ {} }}", "if (a) ".repeat(deep))),
        ("a.c", "{".repeat(deep)),
        ("a.rs", format!("fn f() {{ {} }}", "(".repeat(deep))),
        ("a.js", format!("{}{}", "if (a) {} else ".repeat(deep / 4), "b")),
        ("a.py", (0..2_000).map(|n| format!("{}if a:\n", " ".repeat(n))).collect()),
        ("a.txt", (0..3_000).map(|n| format!("{}x\n", " ".repeat(n))).collect()),
        ("a.go", "\u{0}\u{1}\u{fffd}".repeat(deep)),
        ("a.c", "int x;\n".repeat(deep)),
    ] {
        Outline::of(name, &text);
        assert!(begun.elapsed().as_secs() < 60, "{name} takes too long");
    }
}
