//! Machine code on the command line, as a user types it.

use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("the command runs")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn fails(arguments: &[&str], status: i32, message: &str) {
    let output = parallax(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty() || arguments[0] == "lift", "{output:?}");
}

#[test]
fn lift_lists_instructions_and_operations() {
    let listing = text(&parallax(&["lift", "--lang", "x86-64", "--hex", "31 d8 c3"]));
    assert!(listing.contains("0x1000  31 d8") && listing.contains("xor eax,ebx"), "{listing}");
    assert!(
        listing.contains("RAX = Zext") && listing.contains("ZF = Eq") && listing.contains("Return"),
        "{listing}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&text(&parallax(&["lift", "--lang", "powerpc", "--hex", "7c632214", "--json"])))
            .unwrap();
    assert_eq!(json["instructions"][0]["text"], "add r3,r3,r4");
}

#[test]
fn eval_wlp_and_compose_of_bytes() {
    let update = text(&parallax(&["eval", "--lang", "x86-64", "--hex", "48 01 d8"]));
    assert!(update.contains("RAX -> RAX + RBX"), "{update}");
    let wlp = text(&parallax(&["wlp", "--lang", "x86-64", "--hex", "48 83 c0 01", "--post", "rax == 5"]));
    assert_eq!(wlp.trim(), "RAX = 4:64");
    // A part of a register is that part.
    let wlp = text(&parallax(&["wlp", "--lang", "x86-64", "--hex", "b0 07", "--post", "al = 7 && ah = 1"]));
    assert_eq!(wlp.trim(), "extract(RAX, 15, 8) = 1:8");
    let composed =
        text(&parallax(&["compose", "--lang", "x86-64", "--hex", "48 ff c0", "--hex", "48 ff c0"]));
    assert!(composed.contains("RAX -> RAX + 2"), "{composed}");
}

#[test]
fn smt2_names_are_the_contract() {
    let script = text(&parallax(&["eval", "--lang", "x86-64", "--hex", "48 39 d8", "--smt2"]));
    for wanted in [
        "(declare-const RAX (_ BitVec 64))",
        "(declare-const ZF Bool)",
        "F_mem",
        "(Array (_ BitVec 64) (_ BitVec 8))",
        "RAX_post",
        "ZF_post",
        "F_mem_post",
    ] {
        assert!(script.contains(wanted), "{wanted} in {script}");
    }
    let script =
        text(&parallax(&["wlp", "--lang", "x86", "--hex", "83 c0 01", "--post", "EAX = 5", "--smt2"]));
    assert!(script.contains("wlp") && script.contains("(Array (_ BitVec 32) (_ BitVec 8))"), "{script}");
}

#[test]
fn run_executes_bytes_from_a_state() {
    let json = text(&parallax(&[
        "run", "--lang", "x86-64", "--hex", "48 01 d8", "--set", "RAX=0x1", "--set", "RBX=2", "--json",
    ]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["values"]["RAX"], "0x3");
    assert_eq!(json["values"]["ZF"], "0");
}

#[test]
fn states_go_in_and_come_out_one_a_line_in_both_readings() {
    let mut file = std::env::temp_dir();
    file.push(format!("parallax-states-{}.jsonl", std::process::id()));
    let mut writer = std::fs::File::create(&file).unwrap();
    for index in 0..50u64 {
        let rax = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writeln!(
            writer,
            "{{\"regs\":{{\"RAX\":\"{rax:#x}\",\"RBX\":\"0x10\",\"RSI\":\"0x10000\",\"CF\":{}}},\"mem\":{{\"0x10000\":\"0102030405060708\"}}}}",
            index % 2
        )
        .unwrap();
    }
    drop(writer);
    // adc rax, [rsi]; mov [rsi], rbx
    let code = "48 13 06 48 89 1e";
    let file_name = file.to_str().unwrap();
    let arguments = ["run", "--lang", "x86-64", "--hex", code, "--states", file_name];
    let concrete = text(&parallax(&arguments));
    let symbolic = text(&parallax(&[&arguments[..], &["--reading", "symbolic"]].concat()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(concrete, symbolic);
    assert_eq!(concrete.lines().count(), 50);
    for (index, line) in concrete.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let before = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let after = before.wrapping_add(0x0807_0605_0403_0201).wrapping_add(index as u64 % 2);
        assert_eq!(value["regs"]["RAX"], format!("{after:#x}"));
        assert_eq!(value["mem"]["0x10000"], "1000000000000000");
        assert!(value["regs"]["CF"].is_number());
    }
}

#[test]
fn bad_input_is_said_so() {
    fails(&["lift", "--lang", "x86-64", "--hex", "0f 0b 0f"], 2, "0x1002");
    fails(&["eval", "--lang", "x86-64", "--hex", "3"], 2, "odd number");
    fails(&["eval", "--lang", "x86-64", "--hex", "zz"], 2, "no hexadecimal digit");
    fails(&["eval", "--lang", "x86-64"], 2, "--hex");
    fails(&["eval", "--hex", "90"], 2, "--lang");
    fails(&["lift", "--elf", "/dev/null", "--function", "main"], 2, "/dev/null");
    fails(
        &["lift", "--elf", env!("CARGO_BIN_EXE_parallax"), "--function", "no_such_function_at_all"],
        2,
        "no function",
    );
    fails(&["lift", "--sla", "/dev/null", "--hex", "90"], 2, "specification");
    fails(&["run", "--lang", "x86-64", "--hex", "90", "--set", "NOPE=1"], 2, "no register");
}

#[test]
fn standard_input_can_hold_the_states() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["run", "--lang", "powerpc", "--hex", "7c632214", "--states", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"regs\":{\"R3\":\"0x2\",\"R4\":\"0x3\"}}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["regs"]["R3"], "0x5");
}

/// A processor of one's own, from source, through every primitive.
#[test]
fn a_specification_in_source_form_gives_a_processor() {
    let specification = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../corpus/sleigh/tiny.slaspec");
    // sub A, B; bz over the next; set B, 7
    let code = ["--sla", specification, "--hex", "3100 6002 1407"];
    let listing = text(&parallax(&[&["lift"][..], &code].concat()));
    assert!(listing.contains("sub A, B") && listing.contains("bz 0x1006"), "{listing}");
    let wlp = text(&parallax(&[&["wlp"][..], &code, &["--post", "B = 9"]].concat()));
    assert!(wlp.contains('A') && wlp.contains("9:16"), "{wlp}");
    let run = text(&parallax(&[&["run"][..], &code, &["--set", "A=5", "--set", "B=3", "--json"]].concat()));
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!((&run["values"]["A"], &run["values"]["B"]), (&"0x2".into(), &"0x7".into()));
    fails(&["lift", "--sla", "nowhere.slaspec", "--hex", "00"], 2, "nowhere.slaspec");
}

#[test]
fn a_listing_goes_on_behind_what_is_no_instruction() {
    let output = parallax(&["lift", "--lang", "x86-64", "--hex", "90 06 90", "--brief"]);
    assert_eq!(output.status.code(), Some(2));
    let listing = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = listing.lines().collect();
    assert_eq!(lines.len(), 3, "{listing}");
    assert!(lines[1].contains("0x1001") && lines[1].contains("no instruction") && lines[2].contains("nop"));
}

/// What `eval --smt2` says about code, read by Z3 as anybody would, is what running the code gives.
#[test]
fn another_solver_reads_the_same_meaning() {
    const CODE: &[(&str, u16, &str)] = &[
        // add, adc, sbb, and a rotation through carry
        ("x86-64", 64, "48 01 d8 11 d1 48 19 f0 48 d1 d2"),
        // a store that a load may see, of another size
        ("x86-64", 64, "89 07 0f b6 1e 66 03 07"),
        // cmp, cmov, jg over an xor; a product and a quotient
        ("x86-64", 64, "48 39 d8 48 0f 4c ca 7f 02 31 db 48 0f af c1 83 cf 01 31 d2 f7 f7"),
        // popcnt, bsf, bswap, shld, setb
        ("x86-64", 64, "f3 48 0f b8 c3 0f bc d1 0f ce 0f a4 df 05 0f 92 c1"),
        // cvtsi2sd, mulsd, addsd, cvttsd2si
        ("x86-64", 64, "f2 48 0f 2a c0 f2 0f 2a cb f2 0f 59 c1 f2 0f 58 c0 f2 48 0f 2c c8"),
        ("x86", 32, "01 d8 f7 e1 0f ba e0 07 19 d2 87 de"),
        // add., subfe, rlwinm, cntlzw, a store and a load
        ("powerpc", 32, "7c 63 22 15 7c 84 29 10 54 a5 39 7e 7c c6 00 34 90 67 00 08 88 67 00 0a"),
        // adds, csel, ubfx, str, ldrh
        ("aarch64", 64, "ab020020 9a831044 d3483c85 f9000026 79400427"),
    ];
    for (language, bits, code) in CODE {
        let code = if *language == "aarch64" { little_endian(code) } else { (*code).to_owned() };
        let names: Vec<String> = match *language {
            "x86-64" => ["RAX", "RBX", "RCX", "RDX", "RSI", "RDI"].map(str::to_owned).into(),
            "x86" => ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"].map(str::to_owned).into(),
            "powerpc" => (3..9).map(|n| format!("R{n}")).collect(),
            _ => (0..8).map(|n| format!("X{n}")).collect(),
        };
        let script = text(&parallax(&["eval", "--lang", language, "--hex", &code, "--smt2"]));
        for seed in 1..6u64 {
            let value = |index: usize| {
                let random = (seed * 1000 + index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (random ^ (random >> 29)) >> (64 - bits)
            };
            let digits = usize::from(bits / 4);
            let mut before = script.clone();
            let zero = format!("((as const (Array (_ BitVec {bits}) (_ BitVec 8))) #x00)");
            writeln!(before, "(assert (= F_mem {zero}))").unwrap();
            let mut settings = Vec::new();
            for (index, name) in names.iter().enumerate() {
                settings.extend(["--set".to_owned(), format!("{name}={:#x}", value(index))]);
                writeln!(before, "(assert (= {name} #x{:0digits$x}))", value(index)).unwrap();
            }
            // What is not set is zero when running.
            for line in script.lines().filter_map(|line| line.strip_prefix("(declare-const ")) {
                let (name, sort) = line.split_once(' ').unwrap();
                if names.iter().any(|known| known == name) || matches!(name, "RIP" | "EIP" | "PC") {
                    continue;
                }
                match sort.strip_prefix("(_ BitVec ").and_then(|rest| rest.strip_suffix("))")) {
                    Some(width) => writeln!(before, "(assert (= {name} (_ bv0 {width})))").unwrap(),
                    None if sort == "Bool)" => writeln!(before, "(assert (not {name}))").unwrap(),
                    None => {}
                }
            }
            let mut run = vec!["run", "--lang", language, "--hex", &code, "--json"];
            run.extend(settings.iter().map(String::as_str));
            let after: serde_json::Value = serde_json::from_str(&text(&parallax(&run))).unwrap();
            let number = |name: &str| {
                let digits = after["values"][name].as_str().unwrap_or_else(|| panic!("{name} in {after}"));
                u64::from_str_radix(digits.trim_start_matches("0x"), 16).unwrap()
            };
            let same: Vec<String> =
                names.iter().map(|name| format!("(= {name}_post #x{:0digits$x})", number(name))).collect();
            let solver = z3::Solver::new();
            solver.from_string(before.as_str());
            assert_eq!(solver.check(), z3::SatResult::Sat, "{language} {code}");
            let solver = z3::Solver::new();
            solver.from_string(format!("{before}(assert (not (and {})))", same.join(" ")));
            assert_eq!(solver.check(), z3::SatResult::Unsat, "{language} {code} {settings:?} {after}");
        }
    }
}

/// Words of code as a manual prints them, as bytes.
fn little_endian(words: &str) -> String {
    let word = |word: &str| u32::from_str_radix(word, 16).unwrap().swap_bytes();
    words.split(' ').map(|digits| format!("{:08x}", word(digits))).collect::<Vec<_>>().join(" ")
}

#[test]
fn functions_of_cplusplus_are_named_as_people_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("zoo.cc"), folder.path().join("zoo.o"));
    std::fs::write(
        &source,
        "namespace zoo {\nint sound(int n) { return n + 3; }\nint sound(unsigned char n) { return n * 2; }\n}\n",
    )
    .unwrap();
    let status = Command::new("g++").args(["-O1", "-c", "-o"]).arg(&object).arg(&source).status();
    assert!(status.unwrap().success());
    let object = object.to_str().unwrap();
    let eval = |name: &str| text(&parallax(&["eval", "--elf", object, "--function", name]));
    assert!(eval("zoo::sound(int)").contains("+ 3"), "{}", eval("zoo::sound(int)"));
    assert_eq!(eval("sound(int)"), eval("_ZN3zoo5soundEi"));
    assert_ne!(eval("sound(unsigned char)"), eval("sound(int)"));
    fails(
        &["eval", "--elf", object, "--function", "sound"],
        2,
        "there are several: zoo::sound(int), zoo::sound(unsigned char)",
    );
}
