//! Input that is not a program: a message that shows the place, exit status 2, no panic, no overflow.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_input");
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let file = folder.join(name);
    std::fs::write(&file, bytes).expect("writable");
    file
}

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("the command runs")
}

/// The command refuses with status 2 and says why.
fn refuses(arguments: &[&str], why: &str) {
    let output = parallax(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(message.contains(why), "{arguments:?} should say {why:?}, said: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed {:?}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn files_that_are_no_text() {
    refuses(&["eval", scratch("binary.pl", b"x = 1;\0\x01\x02").to_str().unwrap()], "binary file");
    refuses(&["eval", scratch("latin.pl", b"x = \xe9;").to_str().unwrap()], "not UTF-8");
    refuses(&["eval", "no/such/file.pl"], "cannot read no/such/file.pl");
    refuses(&["eval", env!("CARGO_TARGET_TMPDIR"), "--lang", "pl"], "cannot read");
    refuses(&["eval", scratch("unknown.xyz", b"x = 1;").to_str().unwrap()], "say --lang");
}

#[test]
fn wrong_use() {
    refuses(&["eval"], "no program: name a file");
    refuses(&["nonsense"], "unrecognized");
    refuses(&["wlp", scratch("ok.pl", b"x = 1;").to_str().unwrap()], "--post");
}

/// Nesting costs memory, not stack: what is well formed is read, what is not is refused with its place.
#[test]
fn deep_nesting() {
    const DEEP: usize = 200_000;
    let nested = |open: &str, middle: &str, close: &str| {
        format!("x = {}{middle}{};", open.repeat(DEEP), close.repeat(DEEP))
    };
    let well = scratch("deep.pl", nested("(", "1", ")").as_bytes());
    let output = parallax(&["eval", well.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "({}, {F_rho -> F_rho[x -> 1]})\n");
    let prefix = scratch("prefix.pl", nested("-~", "y", "").as_bytes());
    assert_eq!(parallax(&["eval", prefix.to_str().unwrap()]).status.code(), Some(0));
    let sums = scratch("sums.pl", nested("(y * ", "y", ")").as_bytes());
    assert_eq!(parallax(&["eval", sums.to_str().unwrap()]).status.code(), Some(0));
    let choices = scratch("choices.pl", format!("x = {}1;", "y ? 2 : ".repeat(DEEP)).as_bytes());
    assert_eq!(parallax(&["eval", choices.to_str().unwrap()]).status.code(), Some(0));
    let blocks = scratch("blocks.pl", format!("{}x = 1;{}", "{".repeat(DEEP), "}".repeat(DEEP)).as_bytes());
    assert_eq!(parallax(&["eval", blocks.to_str().unwrap()]).status.code(), Some(0));
    let unclosed = scratch("unclosed.pl", nested("(", "1", "").as_bytes());
    refuses(&["eval", unclosed.to_str().unwrap()], "expected `)`, found `;`");
    let overclosed = scratch("overclosed.pl", nested("", "1", ")").as_bytes());
    refuses(&["eval", overclosed.to_str().unwrap()], "expected `;`, found `)`");
    // The notation of L is read by recursion, up to a limit that is said.
    let post = format!("{}EAX{} = 1", "(".repeat(DEEP / 4), ")".repeat(DEEP / 4));
    let program = scratch("one.mc", b"mov eax, 1\n");
    refuses(&["wlp", program.to_str().unwrap(), "--post", &post], "nested more than");
}

/// Random damage to a program is refused or read, never a crash.
#[test]
fn damaged_programs() {
    let programs = [
        (
            "damaged.pl",
            "proc f(a, b) { int t; if (a < b) { return b; } return a; }\nx = f(x, *p); again: y = x ? 1 : 2; while (x < 3) { x = x + 1; } goto again; q = malloc(4);",
        ),
        ("damaged.mc", "again: mov eax, [ebp-10]\nxor eax, [x]\ncmp eax, 5\njz again\nmov [eax+4], ebx\n"),
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for (name, text) in programs {
        for round in 0..60 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                match random(3) {
                    0 => drop(bytes.remove(at)),
                    1 => bytes.insert(at, b"(){};=*&[]:?-x5\xff"[random(16)]),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            let file = scratch(&format!("{round}-{name}"), &bytes);
            let output = parallax(&["eval", file.to_str().unwrap(), "--unroll", "2", "--steps", "500"]);
            let status = output.status.code();
            assert!(matches!(status, Some(0 | 2 | 4)), "{status:?} on {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// A reader that closes the pipe early is no error.
#[test]
fn a_closed_pipe_ends_quietly() {
    let long: String = (0..20_000).map(|index| format!("x{index} = y * {index};\n")).collect();
    let file = scratch("long.pl", long.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["eval", file.to_str().unwrap()])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
