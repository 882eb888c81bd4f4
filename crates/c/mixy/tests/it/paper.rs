//! The code fragments of the paper's section 4, with and without their blocks, from both starts.

use crate::common;

use common::checked;
use parallax_mixy::{Mode, Settings, Sinks};

const HEAD: &str = "#include <parallax.h>\n#include <stddef.h>\n#include <stdlib.h>\n";

fn run(text: &str, start: Mode) -> Vec<String> {
    let settings = Settings { sinks: Sinks::Annotated, start, ..Settings::default() };
    let found = checked(&format!("{HEAD}{text}"), &settings);
    // Lines as in the fragment.
    found
        .into_iter()
        .map(|line| {
            let (number, rest) = line.split_once(' ').expect("a line and a kind");
            format!("{} {rest}", number.parse::<usize>().expect("a number") - HEAD.lines().count())
        })
        .collect()
}

fn typed(text: &str) -> Vec<String> {
    run(text, Mode::Typed)
}

fn symbolic(text: &str) -> Vec<String> {
    run(text, Mode::Symbolic)
}

const NOTHING: [&str; 0] = [];

#[test]
fn null_goes_through_id_to_free() {
    let text = |mark: &str| {
        format!(
            "void release(int *x) __attribute__((nonnull));
{mark} int *id(int *p) {{ return p; }}
int main(void) {{
  int *x = NULL;
  int *y = id(x);
  release(y);
  return 0;
}}
"
        )
    };
    // Null reaches release whatever analyses id: inference has it in main, execution at the call.
    for mark in ["", "MIX(typed)", "MIX(symbolic)"] {
        assert_eq!(typed(&text(mark)), ["6 null-to-nonnull typed"], "{mark}");
        assert_eq!(symbolic(&text(mark)), ["6 null-to-nonnull symbolic"], "{mark}");
    }
}

#[test]
fn blocks_are_revisited_until_nothing_changes() {
    // The block that uses x is met before the block that sets it to null.
    let text = "void release(int *x) __attribute__((nonnull));
int v, *x;
MIX(symbolic) void right(void) { release(x); }
MIX(symbolic) void left(void) { x = NULL; }
int main(void) {
  x = &v;
  while (*x) { right(); left(); }
  return 0;
}
";
    assert_eq!(typed(text), ["3 null-to-nonnull symbolic"]);
    assert_eq!(symbolic(text), NOTHING, "v is zero, so that the loop is not entered");
}

#[test]
fn aliasing_is_restored_in_typed_blocks() {
    let text = |target: &str| {
        format!(
            "void assert_nonnull(int *x) __attribute__((nonnull));
int v;
MIX(typed) void inner(int **x, int **y) {{ *x = NULL; assert_nonnull(*y); }}
MIX(symbolic) void outer(void) {{
  int *x = &v, *r = &v, **y = &{target};
  inner(&x, y);
}}
int main(void) {{ outer(); return 0; }}
"
        )
    };
    for run in [typed as fn(&str) -> Vec<String>, symbolic] {
        assert_eq!(run(&text("r")), NOTHING, "*y is not x");
        assert_eq!(run(&text("x")), ["3 null-to-nonnull typed"], "*y is x");
    }
}

#[test]
fn case_1_flow_and_path_insensitivity_in_sockaddr_clear() {
    let text = |mark: &str| {
        format!(
            "struct sockaddr {{ int family; }};
MIX(typed) void sysutil_free(void *p) __attribute__((nonnull));
void sockaddr_clear(struct sockaddr **p_sock) {mark};
void sockaddr_clear(struct sockaddr **p_sock) {{
  if (*p_sock != NULL) {{
    sysutil_free(*p_sock);
    *p_sock = NULL;
  }}
}}
int main(void) {{
  struct sockaddr *p = malloc(sizeof *p);
  sockaddr_clear(&p);
  return 0;
}}
"
        )
    };
    assert_eq!(typed(&text("")), ["6 null-to-nonnull typed"], "the false warning of inference");
    assert_eq!(typed(&text("MIX(symbolic)")), NOTHING);
    assert_eq!(symbolic(&text("")), NOTHING);
}

#[test]
fn case_2_path_and_context_insensitivity_in_str_next_dirent() {
    let text = |mark: &str| {
        format!(
            "MIX(typed) void sysutil_free(const void *p) __attribute__((nonnull));
const char *kept;
MIX(typed) void str_alloc_text(const char *p_src) {{ kept = p_src; }}
MIX(typed) const char *sysutil_next_dirent(const char *p_dirent) {{
  if (p_dirent == NULL) return NULL;
  return p_dirent;
}}
{mark} void str_next_dirent(const char *d) {{
  const char *p_filename = sysutil_next_dirent(d);
  if (p_filename != NULL)
    str_alloc_text(p_filename);
}}
int main(int argc, char **argv) {{
  str_next_dirent(argv[1]);
  const char *str = malloc(3);
  str_alloc_text(str);
  sysutil_free(kept);
  return 0;
}}
"
        )
    };
    assert_eq!(typed(&text("")), ["17 null-to-nonnull typed"], "null of another caller");
    assert_eq!(typed(&text("MIX(symbolic)")), NOTHING);
}

#[test]
fn case_3_flow_and_path_insensitivity_in_dns_resolve() {
    let text = |mark: &str| {
        format!(
            "struct sockaddr {{ int family; }};
struct hostent {{ int h_addrtype; }};
int __VERIFIER_nondet_int(void);
MIX(typed) void sysutil_free(void *p) __attribute__((nonnull));
MIX(symbolic) void sockaddr_clear(struct sockaddr **p_sock) {{
  if (*p_sock != NULL) {{
    sysutil_free(*p_sock);
    *p_sock = NULL;
  }}
}}
void sockaddr_alloc_ipv4(struct sockaddr **p) {{ sockaddr_clear(p); *p = malloc(16); }}
void sockaddr_alloc_ipv6(struct sockaddr **p) {{ sockaddr_clear(p); *p = malloc(28); }}
MIX(model) struct hostent *gethostbyname_(const char *name) {{
  static struct hostent h;
  h.h_addrtype = __VERIFIER_nondet_int() ? 2 : 10;
  return &h;
}}
void dns_resolve(struct sockaddr **p_sock, const char *p_name) {{
  struct hostent *hent = gethostbyname_(p_name);
  sockaddr_clear(p_sock);
  if (hent->h_addrtype == 2)
    sockaddr_alloc_ipv4(p_sock);
  else if (hent->h_addrtype == 10)
    sockaddr_alloc_ipv6(p_sock);
  else
    exit(1);
}}
{mark} void main_block(struct sockaddr **p_sock) {{
  *p_sock = NULL;
  dns_resolve(p_sock, \"host\");
}}
int main(void) {{
  struct sockaddr *p_addr = malloc(16);
  main_block(&p_addr);
  sysutil_free(p_addr);
  return 0;
}}
"
        )
    };
    assert_eq!(typed(&text("")), ["35 null-to-nonnull typed"], "both nulls are overwritten before");
    assert_eq!(typed(&text("MIX(symbolic)")), NOTHING);
    assert_eq!(symbolic(&text("")), NOTHING);
}

#[test]
fn case_4_function_pointers_are_called_from_typed_code() {
    let text = "typedef void (*exit_func_t)(void);
static exit_func_t s_exit_func;
int *kept, v;
void release(int *p) __attribute__((nonnull));
static void on_exit_(void) { kept = &v; }
MIX(typed) void sysutil_exit_block(void) { if (s_exit_func) (*s_exit_func)(); }
void sysutil_exit(int code) { sysutil_exit_block(); exit(code); }
MIX(symbolic) void work(int n) {
  if (n == 3) { kept = NULL; sysutil_exit(1); }
  release(kept);
}
int main(int argc, char **argv) {
  kept = &v;
  s_exit_func = on_exit_;
  work(argc);
  return 0;
}
";
    // The path with null ends in exit; the typed block in between is analysed, pointer and all.
    assert_eq!(typed(text), NOTHING);
    assert_eq!(symbolic(text), NOTHING);
}
