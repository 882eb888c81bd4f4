//! Warnings that the text of one function refutes, without any execution: and those that look like it and stay.

use crate::common;

use common::load;
use parallax_mixy::{Settings, check, names::site_location};
use std::time::Duration;

/// Lines with a finding, no function being executed.
fn lines(text: &str) -> Vec<u32> {
    let program = load(text);
    let settings = Settings { refine: Some(Duration::ZERO), ..Settings::default() };
    let report = check(&program.module, &settings).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let line = |finding: &parallax_mixy::Finding| {
        program.module.location(site_location(&program.module, finding.site)).line
    };
    let mut lines: Vec<u32> = report.findings.iter().map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

const HEAD: &str = "#include <stdlib.h>\nstruct s { struct s *next; int k; int *f; }; int v; struct s o, *g, *h; void stop(void) { exit(1); }\n\
    void clear(void) { g = 0; } struct s *find(int n) { return n ? &o : 0; }\n\
    struct s *make(void) { return &o; }\n\
    void touch(struct s *r, int n) { if (r) { v = n ? r->k : 1; } else { stop(); } }\n\
    void maybe(struct s *r, int n) { if (n && r) v = r->k; }\n\
    int *place(struct s *r) { return &r->k; }\n\
    void other(struct s *r, int n) { r = &o; v = r->k; }\n";

/// Bodies of `void use(struct s *p, struct s *q, int n)`, one line each; a line that ends in `//!` has a finding.
const CASES: &[(&str, &str)] = &[
    ("nothing tests it", "p->k = 1; //!"),
    ("tested", "if (p) p->k = 1;"),
    ("tested the other way round", "if (!p) p->k = 1; //!"),
    ("tested before a return", "if (p == NULL) return;\np->k = 1;"),
    ("tested, null first", "if (NULL == p) return;\np->k = 1;"),
    ("tested the other way round, null first", "if (NULL == p) p->k = 1; //!"),
    ("assigned and tested at once, null first", "if (NULL == (p = find(n))) return;\np->k = 1;"),
    ("tested before the end of the program", "if (p == NULL) stop();\np->k = 1;"),
    ("tested before a function that returns", "if (p == NULL) clear();\np->k = 1; //!"),
    ("used before: the first use is where it goes wrong", "p->k = 1; //!\np->k = 2;\nif (n) p->k = 3;"),
    ("used on one way only", "if (n) p->k = 1; //!\np->k = 2; //!"),
    ("used on both ways", "if (n) p->k = 1; //!\nelse p->k = 3; //!\np->k = 2;"),
    ("assigned since", "if (p) { p = find(n);\np->k = 1; } //!"),
    ("assigned another that is not null", "p = &o;\np->k = 1;"),
    ("null at first, assigned what never is", "struct s *t = 0; if (n) { t = make();\nt->k = 1; }"),
    ("null at first, assigned what may be", "struct s *t = 0; if (n) { t = find(n);\nt->k = 1; } //!"),
    ("null at first, not always assigned", "struct s *t = 0; if (n) t = make();\nt->k = 1; //!"),
    ("passed to what returns only if it is not null", "touch(p, n);\np->k = 1;"),
    ("passed to what may return all the same", "maybe(p, n);\np->k = 1; //!"),
    ("passed to what uses something else", "other(p, n);\np->k = 1; //!"),
    (
        "through a pointer, to either",
        "void (*f)(struct s *, int) = n ? touch : maybe; f(p, n);\np->k = 1; //!",
    ),
    ("assigned and tested at once", "if ((p = find(n)) != NULL)\np->k = 1;"),
    ("a copy outlives the original", "if (p) { struct s *t = p; p = 0;\nt->k = 1; }"),
    ("the original is another one", "struct s *t = p; p = find(n);\nif (t) p->k = 1; //!"),
    ("tested in a loop", "while (p) { p->k = 1; p = p->next; }"),
    ("tested before a loop that changes it", "if (p) do { p->k = 1; //!\np = p->next; } while (n--);"),
    ("tested in one half of a condition", "while (p && p->k) p = p->next;"),
    ("a value made of both", "int b = p && n;\nif (b) p->k = 1; //!"),
    ("one of two", "if (p || n) p->k = 1; //!"),
    ("both", "if (p && q) { p->k = 1;\nq->k = 1; }"),
    ("expected", "if (__builtin_expect(p == NULL, 0)) return;\np->k = 1;"),
    ("expected to be", "if (__builtin_expect(!!p, 1))\np->k = 1;"),
    ("a test of an address in it", "if (&p->f) p->k = 1; //!"),
    ("a global, tested", "if (g) g->k = 1;"),
    ("a global, changed by a call since", "if (g) { clear();\ng->k = 1; } //!"),
    ("a global, changed by a store since", "if (g) { g = h;\ng->k = 1; } //!"),
    (
        "a global, changed through a pointer since",
        "struct s **a = n ? &g : &h; if (g) { *a = 0;\ng->k = 1; } //!",
    ),
    ("another global changed since", "if (g) { h = 0;\ng->k = 1; }"),
    ("a field, tested", "if (p && p->next) p->next->k = 1;"),
    ("a field of another one, tested", "if (!p || !q) return;\nif (q->next) p->next->k = 1; //!"),
    ("a field, changed by a store since", "if (p && q && p->next) { q->next = 0;\np->next->k = 1; } //!"),
    ("the way to a field changed since", "if (p && p->next) { p = find(1);\np->next->k = 1; } //!"),
    ("another variable with an address", "struct s *t = p, **a = &t; if (t) { *a = q;\nt->k = 1; } //!"),
    ("an address in it, tested", "int *t = &p->k; if (t) *t = 1; //!"),
    ("an address in it, tested the other way round", "int *t = &p->k; if (!t) return;\n*t = 1; //!"),
    ("an address before it, tested", "struct s *t = p - 1; if (t) t->k = 1; //!"),
    ("an address behind it, tested", "struct s *t = p + n; if (t) t->k = 1; //!"),
    ("an address in it, returned and tested", "int *t = place(p); if (t) *t = 1; //!"),
    ("an address in it, kept in a field", "o.f = &p->k; if (o.f) *o.f = 1; //!"),
    ("an address in what is not null, tested", "if (p) { int *t = &p->k; if (t) *t = 1; }"),
    ("the address of its first field, tested", "struct s **t = &p->next; if (t) *t = 0;"),
    ("moved on in a loop", "while (p && p->k) p++;"),
    ("compared with another", "if (p == q) p->k = 1; //!"),
    ("an element, tested", "struct s *t[2] = { p, q }; if (t[0]) t[0]->k = 1;"),
    ("another element, tested", "struct s *t[2] = { p, q }; if (t[0]) t[1]->k = 1; //!"),
];

#[test]
fn what_stays_is_what_can_go_wrong() {
    for (name, body) in CASES {
        let text = format!(
            "{HEAD}void use(struct s *p, struct s *q, int n) {{\n{body}\n}}\n\
             int main(int argc, char **argv) {{ g = h = argc > 2 ? &o : 0; if (argc > 1) o.next = find(argc - 2);\n\
             use(argc > 3 ? &o : 0, argc > 4 ? &o : 0, argc); return 0; }}\n"
        );
        let marked = text.lines().enumerate().filter(|(_, line)| line.ends_with("//!"));
        let expected: Vec<u32> = marked.map(|(number, _)| number as u32 + 1).collect();
        assert_eq!(lines(&text), expected, "{name}\n{text}");
    }
}

/// Where a pointer was tested, or is never null there, no null flows on: into a function, or into memory.
#[test]
fn null_does_not_flow_on_from_where_it_is_not() {
    let head = "struct s { struct s *next; int k; } o, list = { &o, 0 }; struct s *find(int n) { return n ? &o : 0; }\n\
         void set(struct s *p) { p->k = 1; } int next(struct s *p) { return p->next->k; }\n\
         void abort(void); struct s *get(int n) { struct s *p = find(n); if (!p) abort(); return p; }\n";
    let program = |body: &str| format!("{head}int main(int argc, char **argv) {{ {body} }}\n");
    let tested = "struct s *p = find(argc - 1); if (p) { set(p); list.next = p; } return next(&list);";
    assert_eq!(lines(&program(tested)), [] as [u32; 0]);
    let null_at_first =
        "struct s *p = 0; if (argc > 1) { p = &o; set(p); list.next = p; } return next(&list) + !p;";
    assert_eq!(lines(&program(null_at_first)), [] as [u32; 0]);
    let returned = "struct s *p = get(argc - 1); p->k = 1; return 0;";
    assert_eq!(lines(&program(returned)), [] as [u32; 0]);
    let not_tested = "struct s *p = find(argc - 1); set(p); return 0;";
    assert_eq!(lines(&program(not_tested)), [2]);
    let tested_too_late = "struct s *p = find(argc - 1); list.next = p; if (p) set(p); return next(&list);";
    assert_eq!(lines(&program(tested_too_late)), [2]);
}
