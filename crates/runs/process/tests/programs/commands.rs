//! Ordinary command lines of Debian programs.

use crate::{Test, emulated, native, same};

/// Text to chew on: numbers, words and lines that sort differently by the common orders.
fn text() -> String {
    let words =
        ["pear", "Apple", "fig", "quince", "apple", "kiwi", "banana", "Cherry", "10", "9", "-3", "2.5e3"];
    let mut text = String::new();
    let mut state = 12345u32;
    for line in 0..300 {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let word = words[(state >> 16) as usize % words.len()];
        text.push_str(&format!("{word} {} {}\n", state >> 20, line % 17));
    }
    text
}

const COMMANDS: &[&[&str]] = &[
    &["true"],
    &["false"],
    &["echo", "hello", "world"],
    &["printf", "%d %x %e %.3f %s\n", "42", "255", "1234.5", "2.718281828", "text"],
    &["cat"],
    &["cat", "/etc/passwd"],
    &["wc"],
    &["sort"],
    &["sort", "-n", "-r", "-k2"],
    &["sort", "-u", "-f"],
    &["uniq", "-c"],
    &["head", "-n", "7"],
    &["tail", "-n", "5"],
    &["tac"],
    &["cut", "-d", " ", "-f", "2,3"],
    &["tr", "a-z", "A-Z"],
    &["nl"],
    &["fold", "-w", "10"],
    &["grep", "-n", "app"],
    &["grep", "-E", "-c", "^[a-k].*[0-9]{3}"],
    &["grep", "-i", "no such thing"],
    &["sed", "s/\\([a-z]*\\) \\([0-9]*\\)/\\2 \\1/; /fig/d"],
    &["awk", "{ sum[$1] += $2 } END { for (word in sum) print word, sum[word] | \"sort\" }"],
    &["awk", "BEGIN { printf \"%.10f %.10f %g\\n\", sin(1), exp(1), atan2(1, 2) ^ 3 }"],
    &["md5sum"],
    &["sha1sum"],
    &["sha256sum"],
    &["sha512sum"],
    &["cksum"],
    &["base64"],
    &["od", "-c"],
    &["xxd"],
    &["gzip", "-c", "-9", "-n"],
    &["bzip2", "-c"],
    &["xz", "-c", "-T1"],
    &["bash", "-c", "for i in 1 2 3; do echo $((i * i)); done; exit 3"],
    &[
        "bash",
        "-c",
        "ls -d / /usr | sort -r; (exit 5); echo $?; cat <<< here; echo $(echo nested | tr a-z A-Z)",
    ],
    &["bash", "-c", "trap 'echo caught' USR1; kill -USR1 $$; echo after; kill -TERM $$"],
    &["sh", "-c", "echo one; false || echo two; sh -c 'exit 7'; echo $?"],
    &["dash", "-c", "x=5; while [ $x -gt 0 ]; do printf '%s ' $x; x=$((x-1)); done; echo; no-such-command"],
    &["bc", "-l"],
    &["expr", "17", "*", "(", "3", "+", "4", ")"],
    &["seq", "-w", "1", "3", "50"],
    &["factor", "600851475143", "18446744073709551557"],
    &["date", "-u", "-d", "@1234567890", "+%F %T %A %j"],
    &["basename", "/usr/lib/libc.so.6", ".6"],
    &["dirname", "/usr/lib/libc.so.6"],
    &["env", "-i", "A=1", "B=two", "env"],
    &["ls", "-la", "/etc/apt"],
    &["find", "/etc/apt", "-name", "*.d", "-type", "d"],
    &["stat", "-c", "%s %a %F", "/etc/passwd"],
    &["du", "-b", "/etc/apt"],
    &["readlink", "-f", "/usr/bin/awk"],
    &["id", "-u"],
    &["uname", "-s", "-m"],
    &["diff", "/etc/passwd", "/etc/group"],
    &["cmp", "/etc/passwd", "/etc/group"],
    &["comm", "-12", "/etc/passwd", "/etc/passwd"],
    &["join", "/etc/hostname", "/etc/hostname"],
    &["paste", "-", "-"],
    &["tar", "-c", "--mtime=@0", "-f", "-", "-C", "/etc", "hostname", "passwd"],
    &["timeout", "5", "echo", "in time"],
    &["nice", "echo", "nicely"],
    &["xargs", "-n", "300", "echo"],
    &["tee", "/dev/null"],
    &["shuf", "--random-source=/etc/passwd", "-i", "1-20"],
    &["numfmt", "--to=iec", "1048576", "123456789"],
    &[
        "perl",
        "-e",
        "my %h; $h{$_ % 7} += $_ for 1..1000; print join(',', map { \"$_=$h{$_}\" } sort keys %h), \"\\n\"; printf \"%.15g\\n\", sqrt(2)",
    ],
    &["perl", "-ne", "print scalar reverse $_ if /(\\w+) (\\d+)/ && $2 % 3 == 0"],
    &[
        "/usr/bin/python3",
        "-c",
        "print(sum(i * 0.1 for i in range(1000)), {k: k ** 2 for k in range(5)}, 2 ** 100, 1 / 3)",
    ],
    &[
        "/usr/bin/python3",
        "-c",
        "import json, hashlib, re; print(json.dumps({'a': [1, 2.5, None]}), hashlib.sha256(b'x').hexdigest(), re.sub(r'(\\w)', r'<\\1>', 'ab'))",
    ],
    &["/usr/bin/python3", "-c", "import sys; sys.exit(4)"],
    &["/usr/bin/python3", "-c", "1/0"],
    &[
        "sqlite3",
        ":memory:",
        "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select a * 2, upper(b) from t order by a desc; select round(avg(a), 3), 1.5e300 * 10 from t;",
    ],
    &["openssl", "dgst", "-sha256"],
    &["openssl", "dgst", "-md5"],
    &[
        "openssl",
        "enc",
        "-aes-128-cbc",
        "-K",
        "00112233445566778899aabbccddeeff",
        "-iv",
        "0123456789abcdef0123456789abcdef",
        "-base64",
    ],
    &["jq", "-c", ".a | map(. * 2)", "/dev/null"],
    &["no-such-file-anywhere"],
];

/// Whether a test takes seconds: `make programs` runs those, `make test` leaves them out.
pub fn is_slow(name: &str) -> bool {
    [
        "import json",
        "sys.exit(4)",
        "jq -c",
        "c++ -O0",
        "c -O2 -static: system",
        "sha512sum",
        "dgst -md5",
        "bzip2",
    ]
    .iter()
    .any(|part| name.contains(part))
}

pub fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for command in COMMANDS {
        let name = command.join(" ").replace('\n', " ");
        let name = format!("command: {}", name.chars().take(60).collect::<String>());
        tests.push((
            name,
            Box::new(move || {
                if std::process::Command::new("which")
                    .arg(command[0])
                    .output()
                    .is_ok_and(|o| !o.status.success())
                {
                    // The one name that must not exist is what this test is about.
                    return if command[0] == "no-such-file-anywhere" {
                        let run = emulated(command, b"");
                        if run.status == crate::CANNOT { Ok(()) } else { Err(format!("{run:?}")) }
                    } else {
                        Err(format!(
                            "{} is not installed: scripts/setup names what the tests need",
                            command[0]
                        ))
                    };
                }
                let input = if command[0] == "bc" {
                    String::from("scale=30; 4*a(1); 2^127-1; sqrt(2)\n")
                } else {
                    text()
                };
                let (native, emulated) =
                    (native(command, input.as_bytes()), emulated(command, input.as_bytes()));
                same(&native, &emulated)
            }),
        ));
    }
    tests
}
