//! The table of what functions of the library do with null, held against the models and against the library itself.

use parallax_cmodule::{Constant, FunctionId, Module, Operand, Operation, Terminator, TypeKind};
use parallax_cread::{Input, MODELS, read};
use parallax_points::external::{Effect, effects, is_plain};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// All models, as one module.
fn models() -> Module {
    let input = Input { name: "models".into(), bytes: MODELS };
    read(&[input], &[]).expect("the models are read")
}

/// Models that programs call by name.
fn named(module: &Module) -> impl Iterator<Item = FunctionId> {
    let ids = (0..module.functions.len() as u32).map(FunctionId);
    ids.filter(|&id| {
        let function = module.function(id);
        function.is_defined() && function.exported && !function.name.starts_with("__parallax")
    })
}

/// Functions whose memory the analysis takes not to run out: their results are not null, as every report says.
fn allocates(listed: &[Effect]) -> bool {
    listed.iter().any(|effect| matches!(effect, Effect::Allocates | Effect::AllocatesZeroed))
}

/// Whether a function returns a null constant, by itself.
fn returns_null(module: &Module, id: FunctionId) -> bool {
    let function = module.function(id);
    let is_null = |operand: &Operand| match operand {
        Operand::Constant(id) => matches!(module.constant(*id), Constant::Null),
        Operand::Register(_) => false,
    };
    let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
    function.blocks.iter().any(|block| match &block.terminator {
        Terminator::Return(Some(Operand::Register(returned))) => instructions().any(|made| {
            made.result == Some(*returned)
                && match &made.operation {
                    Operation::Phi { incoming } => incoming.iter().any(|(_, value)| is_null(value)),
                    Operation::Select { a, b, .. } => is_null(a) || is_null(b),
                    Operation::SlotLoad { slot } => instructions().any(|other| {
                        matches!(&other.operation, Operation::SlotStore { slot: to, value } if to == slot && is_null(value))
                    }),
                    _ => false,
                }
        }),
        Terminator::Return(Some(value)) => is_null(value),
        _ => false,
    })
}

#[test]
fn every_model_has_a_row() {
    let module = models();
    let (mut count, mut wrong) = (0, Vec::new());
    for id in named(&module) {
        let function = module.function(id);
        let name = function.name.as_str();
        let pointer = matches!(module.ty(function.result).kind, TypeKind::Pointer);
        count += 1;
        match effects(name) {
            None if pointer => wrong.push(format!("{name} returns a pointer and has no row")),
            None if !is_plain(name) => wrong.push(format!("{name} has no row, and is not plain")),
            Some(listed)
                if pointer
                    && !allocates(listed)
                    && !listed.contains(&Effect::Nullable)
                    && returns_null(&module, id) =>
            {
                wrong.push(format!("the model of {name} returns null, its row says that it never does"));
            }
            _ => {}
        }
    }
    assert!(count > 300, "{count} models");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Calls that return null natively: the function, and a call of it.
const NULLS: &[(&str, &str)] = &[
    ("fgetws", "fgetws(wide, 4, fopen(\"/dev/null\", \"r\"))"),
    ("fgets", "fgets(text, 4, fopen(\"/dev/null\", \"r\"))"),
    ("memccpy", "memccpy(text, \"abc\", 'x', 3)"),
    ("fmemopen", "fmemopen(text, 4, \"no such mode\")"),
    ("fopen", "fopen(\"/no/such/file\", \"r\")"),
    ("freopen", "freopen(\"/no/such/file\", \"r\", fopen(\"/dev/null\", \"r\"))"),
    ("fdopen", "fdopen(-1, \"r\")"),
    ("ctime", "ctime(&far)"),
    ("asctime", "asctime(&(struct tm){ .tm_year = 2147483647 })"),
    ("localtime", "localtime(&far)"),
    ("gmtime", "gmtime(&far)"),
    ("localtime_r", "localtime_r(&far, &date)"),
    ("gmtime_r", "gmtime_r(&far, &date)"),
    ("ctime_r", "ctime_r(&far, text)"),
    ("mkdtemp", "mkdtemp(strcpy(text, \"short\"))"),
    ("realpath", "realpath(\"/no/such/file\", 0)"),
    ("canonicalize_file_name", "canonicalize_file_name(\"/no/such/file\")"),
    ("getenv", "getenv(\"NO_SUCH_VARIABLE\")"),
    ("secure_getenv", "secure_getenv(\"NO_SUCH_VARIABLE\")"),
    ("opendir", "opendir(\"/no/such/folder\")"),
    ("strchr", "strchr(\"abc\", 'x')"),
    ("strrchr", "strrchr(\"abc\", 'x')"),
    ("index", "index(\"abc\", 'x')"),
    ("rindex", "rindex(\"abc\", 'x')"),
    ("memchr", "memchr(\"abc\", 'x', 3)"),
    ("memrchr", "memrchr(\"abc\", 'x', 3)"),
    ("strstr", "strstr(\"abc\", \"x\")"),
    ("strcasestr", "strcasestr(\"abc\", \"x\")"),
    ("strpbrk", "strpbrk(\"abc\", \"x\")"),
    ("memmem", "memmem(\"abc\", 3, \"x\", 1)"),
    ("strtok", "strtok(strcpy(text, \"\"), \" \")"),
    ("strtok_r", "strtok_r(strcpy(text, \"\"), \" \", &rest)"),
    ("strsep", "strsep(&nothing, \" \")"),
    ("strptime", "strptime(\"x\", \"%Y\", &date)"),
    ("wcschr", "wcschr(L\"abc\", L'x')"),
    ("wcsrchr", "wcsrchr(L\"abc\", L'x')"),
    ("wcsstr", "wcsstr(L\"abc\", L\"x\")"),
    ("wcspbrk", "wcspbrk(L\"abc\", L\"x\")"),
    ("wmemchr", "wmemchr(L\"abc\", L'x', 3)"),
    ("wcstok", "wcstok(wcscpy(wide, L\"\"), L\" \", &wide_rest)"),
    ("bsearch", "bsearch(\"x\", \"abc\", 3, 1, compare)"),
    ("lfind", "lfind(\"x\", \"abc\", &three, 1, compare)"),
    ("tfind", "tfind(\"x\", &root, compare)"),
    ("tdelete", "tdelete(\"x\", &root, compare)"),
    ("inet_ntop", "inet_ntop(-1, text, text, sizeof text)"),
    ("ttyname", "ttyname(-1)"),
    ("setlocale", "setlocale(LC_ALL, \"no such locale\")"),
    ("getpwnam", "getpwnam(\"no such user\")"),
    ("getgrnam", "getgrnam(\"no such group\")"),
    ("dlopen", "dlopen(\"/no/such/library\", RTLD_NOW)"),
    ("dlsym", "dlsym(RTLD_DEFAULT, \"no such symbol\")"),
    ("if_indextoname", "if_indextoname(0x7fffffff, text)"),
    ("pthread_getspecific", "pthread_getspecific(key)"),
    ("getcwd", "getcwd(text, 1)"),
    ("signal", "signal(SIGUSR1, SIG_IGN)"),
];

#[test]
fn what_returns_null_natively_has_a_row_that_says_so() {
    let mut calls = String::new();
    for (name, call) in NULLS {
        writeln!(calls, "if (!({call})) puts(\"{name}\");").expect("text");
    }
    let head = "#define _GNU_SOURCE\n#define _XOPEN_SOURCE 700\n";
    let headers = [
        "arpa/inet.h",
        "dirent.h",
        "dlfcn.h",
        "grp.h",
        "locale.h",
        "net/if.h",
        "pthread.h",
        "pwd.h",
        "search.h",
        "signal.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "strings.h",
        "time.h",
        "unistd.h",
        "wchar.h",
    ];
    let included: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
    let text = format!(
        "{head}{included}int compare(const void *a, const void *b) {{ return *(char *)a - *(char *)b; }}\n\
         int main(void) {{ char text[64], *rest, *nothing = 0; wchar_t wide[4], *wide_rest; void *root = 0;\n\
         size_t three = 3; time_t far = 1L << 62; struct tm date; pthread_key_t key; pthread_key_create(&key, 0);\n\
         {calls}return 0; }}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let (source, binary) = (folder.path().join("nulls.c"), folder.path().join("nulls"));
    std::fs::write(&source, &text).expect("a file");
    let built = Command::new("clang-19").args(["-w", "-O0"]).arg(&source).arg("-o").arg(&binary).status();
    assert!(built.expect("a compiler").success(), "{text}");
    let ran = Command::new(&binary).output().expect("it runs");
    assert!(ran.status.success(), "{ran:?}");
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let null: BTreeSet<&str> = printed.lines().collect();
    let expected: BTreeSet<&str> = NULLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(null, expected, "each of these calls returns null natively");
    let silent =
        null.iter().filter(|name| !effects(name).is_some_and(|listed| listed.contains(&Effect::Nullable)));
    assert_eq!(silent.collect::<Vec<_>>(), Vec::<&&str>::new(), "rows that say nothing of null");
}
