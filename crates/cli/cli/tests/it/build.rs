//! `--build`: a project's own build is run on a copy, in the jail, and what it compiles is analysed. What its build files do, they do to
//! the copy: hostile ones beside the same ones run by `make` alone, which do their harm to what the test made.
//!
//! Not made here: CMake and Meson themselves, which the tests need not have; a script in their place leaves what they leave.

use crate::safety::{document, walls, without_mounts, without_walls};
use crate::worlds::listing;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use tempfile::TempDir;

/// A project in a folder of its own.
struct Project(TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Project(tempfile::tempdir().expect("a folder"));
        for (name, text) in files {
            let file = project.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(&file, text).expect("a file");
            if text.starts_with("#!") {
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
            }
        }
        project
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().expect("it is there")
    }

    /// A verb on the project, from a folder that is not the project's.
    fn command(&self, verb: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir("/").args(verb).arg(self.path());
        command
    }

    fn parallax(&self, verb: &[&str]) -> Output {
        self.command(verb).output().expect("it runs")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Recursive make, a generated header and a generated source, two files in one call, a file of flags that is removed, a wrapper that
/// compiles twice, compiling and linking in one call.
const PARTS: [(&str, &str); 9] = [
    (
        "Makefile",
        "all: prog\n\
         config.h: configure\n\t./configure\n\
         table.c: maketable\n\t./maketable > table.c\n\
         prog: config.h table.c\n\
         \t$(MAKE) -C sub\n\
         \t$(CC) -c -I. one.c two.c\n\
         \techo '-DFROM_FLAGS=1 -I\"inc lude\" -c flags.c' > flags.rsp; $(CC) @flags.rsp; rm flags.rsp\n\
         \t./wrapper $(CC) -c table.c\n\
         \t$(CC) -Wp,-DWRAPPED -o prog main.c one.o two.o flags.o table.o sub/sub.o\n",
    ),
    (
        "configure",
        "#!/bin/sh\necho 'int conftest;' > conftest.c; cc -c conftest.c; rm conftest.*; echo '#define STEP 3' > config.h\n",
    ),
    ("wrapper", "#!/bin/sh\n\"$@\" -fPIC -DPIC -o pic.o; exec \"$@\"\n"),
    ("maketable", "#!/bin/sh\necho 'int table[] = {0, 7};'\n"),
    ("one.c", "#include \"config.h\"\nint one(int x) { return x + STEP; }\n"),
    ("two.c", "int two(int x) { return 2 * x; }\n"),
    ("inc lude/flags.h", "static int scale(int x) { return x * FROM_FLAGS; }\n"),
    ("flags.c", "#include \"flags.h\"\nint flags(int x) { return scale(x); }\n"),
    ("sub/Makefile", "sub.o: sub.c ../config.h\n\t$(CC) -I../ -c sub.c\n"),
];
const SUB: (&str, &str) =
    ("sub/sub.c", "#include <config.h>\nint sub(int *p, int x) {\n    return x == STEP ? *p : 0;\n}\n");
/// The mistake needs what the build generated.
const MAIN: (&str, &str) = (
    "main.c",
    "#ifndef WRAPPED\n#error not as it is built\n#endif\n#include <stdio.h>\n#include <string.h>\n\
     extern int table[];\nint one(int), two(int), flags(int), sub(int *, int);\n\
     int main(void) {\n    int c = getchar();\n    if (strchr(__FILE__, 0)[-1] != 'c') return 9;\n    if (c == table[1] && flags(one(two(1))) == 5) return sub(0, 3);\n    return 0;\n}\n",
);

fn parts() -> Project {
    let files: Vec<_> = PARTS.into_iter().chain([SUB, MAIN]).collect();
    Project::new(&files)
}

#[test]
fn a_project_is_taken_as_its_build_makes_it() {
    if walls().is_none() {
        return;
    }
    let project = parts();
    let before = listing(&project.path());
    for kernel in ["this", "without mounts"] {
        let run = |verb: &[&str]| {
            let mut command = project.command(verb);
            let command = if kernel == "this" { &mut command } else { without_mounts(&mut command) };
            command.output().expect("it runs")
        };
        let output = run(&["explore", "--stdin", "1", "--json", "--build", "make"]);
        let found = document(&output);
        assert_eq!(found["findings"][0]["native"], "confirmed", "{kernel}: {found:#} {}", said(&output));
        let place = found["findings"][0]["file"].as_str().map(PathBuf::from);
        assert_eq!(place, Some(project.path().join("sub/sub.c")), "{found:#}");
        assert_eq!(found["build"]["gone"], serde_json::json!([]));
        assert!(
            said(&output).contains("built by `make` on a copy of the folder, in the jail ("),
            "{}",
            said(&output)
        );
        assert_eq!(listing(&project.path()), before, "{kernel}: the project is as it was");
        let output = run(&["check", "--json", "--no-refine", "--build", "make"]);
        let found = document(&output);
        let first = found["findings"][0].to_string();
        assert!(first.contains("sub/sub.c"), "{kernel}: {found:#} {}", said(&output));
        assert!(!found.to_string().contains("parallax-build-"), "names are those of the project: {found:#}");
        assert_eq!(listing(&project.path()), before);
    }
    let output =
        without_walls(&mut project.command(&["check", "--build", "make"])).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("`make` was not run: no jail here: "), "{}", said(&output));
    assert_eq!(listing(&project.path()), before);
    // A page quotes the project's sources; a folder that the build made is not there.
    let page = tempfile::tempdir().expect("a folder");
    let page = page.path().join("page.html").display().to_string();
    let build = "mkdir made && sed s/two/more/ two.c > made/more.c && cc -c made/more.c && make";
    let output = project.parallax(&["check", "--no-refine", "--report", &page, "--build", build]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let page = std::fs::read_to_string(&page).expect("a page");
    assert!(page.contains("x == STEP") && !page.contains("parallax-build-"), "it quotes the project");
    // By a person's word, on a copy all the same.
    let output = project.parallax(&["check", "--no-refine", "--run-unjailed", "--build", "make"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("on a copy of the folder, without walls: "), "{}", said(&output));
    assert_eq!(listing(&project.path()), before);
}

/// What changed since a revision is asked of the project's own repository.
#[test]
fn a_built_project_knows_what_changed() {
    if walls().is_none() {
        return;
    }
    let wrong = |name: &str, number: u32| {
        format!(
            "#include \"config.h\"\nint {name}(int c) {{\n    int *p = 0;\n    return c == {number} + BASE ? *p : 0;\n}}\n"
        )
    };
    let project = Project::new(&[
        (
            "Makefile",
            "all: config.h\n\tcc -o prog main.c old.c new.c\nconfig.h:\n\techo '#define BASE 1' > config.h\n",
        ),
        (".gitignore", "config.h\nprog\n"),
        (
            "main.c",
            "#include <stdio.h>\nint first(int), second(int);\nint main(void) { int c = getchar(); return first(c) + second(c); }\n",
        ),
        ("old.c", &wrong("first", 1)),
        ("new.c", "int second(int c) { return c; }\n"),
    ]);
    let git = |words: &[&str]| {
        let fixed = ["-c", "user.name=x", "-c", "user.email=x@x"];
        let done = Command::new("git").current_dir(project.path()).args(fixed).args(words).output();
        assert!(done.is_ok_and(|output| output.status.success()), "{words:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "x"]);
    std::fs::write(project.path().join("new.c"), wrong("second", 2)).expect("a file");
    let files = |verb: &[&str]| {
        let output = project.parallax(verb);
        let found = document(&output);
        let findings = found["findings"].as_array().unwrap_or_else(|| panic!("{}", said(&output))).clone();
        findings.iter().map(|finding| finding.to_string().contains("new.c")).collect::<Vec<_>>()
    };
    assert_eq!(files(&["check", "--json", "--no-refine", "--build", "make"]).len(), 2);
    let since = ["check", "--json", "--no-refine", "--changed-since", "HEAD", "--build", "make"];
    assert_eq!(files(&since), [true]);
    assert_eq!(files(&["explore", "--json", "--changed-since", "HEAD", "--build", "make"]), [true]);
}

#[test]
fn a_build_that_says_nothing_is_an_error_that_says_why() {
    if walls().is_none() {
        return;
    }
    let project = Project::new(&[
        (
            "Makefile",
            "prog: a.o\n\tcc -o prog a.o\na.o: a.c\n\tcc -c a.c\nclean:\n\trm -f a.o prog\nfails:\n\techo first; echo 'the \\033[31mlast word'; exit 3\n",
        ),
        ("a.c", "int main(void) { return 0; }\n"),
    ]);
    let check = |command: &str| project.parallax(&["check", "--build", command]);
    let output = check("make fails");
    assert_eq!(output.status.code(), Some(2));
    let words = said(&output);
    assert!(words.contains("`make fails` ended with status 2") && words.contains("last word"), "{words}");
    assert!(!words.contains('\u{1b}') && words.contains("--run-unjailed"), "{words}");
    assert_eq!(check("make").status.code(), Some(0), "{}", said(&check("make")));
    // Where all is built there is nothing to see, until it is built anew in the copy.
    let done = Command::new("make").arg("-C").arg(project.path()).output().expect("it runs");
    assert!(done.status.success());
    let before = listing(&project.path());
    let words = said(&check("make"));
    assert!(
        words.contains("`make` called no compiler that was seen: is everything built already"),
        "{words}"
    );
    assert_eq!(check("make clean prog").status.code(), Some(0));
    assert!(said(&check("true")).contains("called no compiler"));
    assert!(said(&check("cc -E a.c > a.i")).contains("compiled no C file"));
    assert_eq!(listing(&project.path()), before);
    let output = project.command(&["check", "--build", "make"]).arg("-I.").output().expect("it runs");
    assert!(said(&output).contains("called no compiler"), "{}", said(&output));
    let file = project.path().join("a.c").display().to_string();
    let output =
        Command::new(env!("CARGO_BIN_EXE_parallax")).args(["check", "--build", "make", &file]).output();
    assert!(
        said(&output.expect("it runs")).contains("--build takes the project's folder instead of its files")
    );
}

#[test]
fn a_folder_says_how_its_files_become_known() {
    let main = ("a.c", "int main(void) { int *p = 0; return *p; }\n");
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("Makefile", "")], "--build 'make' "),
        (&[("CMakeLists.txt", "")], "cmake -S "),
        (&[("configure", "#!/bin/sh\n")], "--build './configure && make' "),
        (&[("Makefile", ""), ("CMakeLists.txt", "")], "--build 'make' "),
        (&[main], "or give the command that builds it: --build COMMAND"),
    ];
    for (files, words) in cases {
        let project = Project::new(files);
        for verb in ["check", "explore", "run"] {
            let output = project.parallax(&[verb]);
            assert_eq!(output.status.code(), Some(2), "{verb} {files:?}: {}", said(&output));
            assert!(
                said(&output).contains("is a folder without a compile_commands.json"),
                "{}",
                said(&output)
            );
            assert!(said(&output).contains(words), "{verb} {files:?}: {}", said(&output));
        }
    }
    let project = Project::new(&[("Makefile", "")]);
    let file = project.path().join("Makefile").display().to_string();
    let output =
        Command::new(env!("CARGO_BIN_EXE_parallax")).args(["check", &file]).output().expect("it runs");
    assert!(said(&output).contains("is no C source, and has a Makefile"), "{}", said(&output));
    // With a database, in it or in its folder for building, a folder is what it says.
    for place in ["compile_commands.json", "build/compile_commands.json"] {
        let project = Project::new(&[main]);
        let entry =
            serde_json::json!([{ "directory": project.path(), "file": "a.c", "command": "cc -c a.c" }]);
        std::fs::create_dir_all(project.path().join("build")).expect("a folder");
        std::fs::write(project.path().join(place), entry.to_string()).expect("a file");
        let output = project.parallax(&["check", "--no-refine"]);
        assert_eq!(output.status.code(), Some(1), "{place}: {}", said(&output));
    }
}

/// What hostile build files go for: all of it made by the test.
struct Outside {
    marked: TempDir,
    home: TempDir,
    victim: Child,
    tcp: TcpListener,
    hidden: UnixListener,
    name: String,
    before: Vec<String>,
}

impl Outside {
    fn new() -> Self {
        use std::os::linux::net::SocketAddrExt;
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (marked, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::create_dir(marked.path().join("tree")).expect("a folder");
        std::fs::write(marked.path().join("tree/file"), "as it was").expect("a file");
        std::fs::write(home.path().join(".profile"), "as it was").expect("a file");
        let victim = Command::new("sleep").arg("600").spawn().expect("a victim");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-build-{}-{number}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("a name");
        let hidden = UnixListener::bind_addr(&address).expect("a socket");
        tcp.set_nonblocking(true).expect("a flag");
        hidden.set_nonblocking(true).expect("a flag");
        let before = [listing(marked.path()), listing(home.path())].concat();
        Outside { marked, home, victim, tcp, hidden, name, before }
    }

    /// A build file whose first rule is this; words in capitals are what is outside.
    fn makefile(&self, rule: &str) -> String {
        let port = self.tcp.local_addr().expect("an address").port().to_string();
        let rule = rule
            .replace("MARKED", &self.marked.path().display().to_string())
            .replace("VICTIM", &self.victim.id().to_string())
            .replace("PORT", &port)
            .replace("ABSTRACT", &self.name);
        format!("SHELL=/bin/bash\nprog: main.c\n\t-{rule}\n\tcc -o prog main.c\n")
    }

    fn harmed(mut self) -> Vec<&'static str> {
        let mut harm = Vec::new();
        if [listing(self.marked.path()), listing(self.home.path())].concat() != self.before {
            harm.push("files");
        }
        if self.victim.try_wait().expect("it is ours").is_some() {
            harm.push("victim");
        }
        if self.tcp.accept().is_ok() {
            harm.push("TCP");
        }
        if self.hidden.accept().is_ok() {
            harm.push("abstract socket");
        }
        harm
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// What build files try, with what it comes to where nothing holds them.
const HOSTILE: [(&str, &str, &str); 12] = [
    ("delete a tree by its full path", "rm -rf MARKED/tree", "files"),
    ("overwrite a file", "echo harm > MARKED/tree/file", "files"),
    ("change a mode", "chmod 777 MARKED/tree/file", "files"),
    ("link to a file and write through the link", "ln -sf MARKED/tree/file link; echo harm > link", "files"),
    ("link hard and write", "ln MARKED/tree/file hard && echo harm > hard", "files"),
    ("write to the home of the user", "echo harm >> $$HOME/.profile", "files"),
    ("go by the root of this process", "echo harm > /proc/self/root/MARKED/tree/file", "files"),
    ("kill a process", "kill -9 VICTIM", "victim"),
    ("connect to a port", "exec 3<>/dev/tcp/127.0.0.1/PORT", "TCP"),
    ("connect to an abstract socket", "./connect ABSTRACT", "abstract socket"),
    ("harm from a compiler of its own", "./cc MARKED/tree/file", "files"),
    ("harm later", "(setsid sh -c 'sleep 0.3; echo harm > MARKED/tree/file' >/dev/null 2>&1 &)", "files"),
];

const CONNECT: &str = r#"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
int main(int count, char **words) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path + 1, words[1]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(s, (void *)&a, sizeof a.sun_family + 1 + strlen(words[1])) < 0;
}
"#;

fn hostile(outside: &Outside, rule: &str) -> Project {
    let rule = match rule.starts_with("./connect") {
        true => format!("cc -o connect connect.c && {rule}"),
        false => rule.to_owned(),
    };
    Project::new(&[
        ("Makefile", &outside.makefile(&rule)),
        ("connect.c", CONNECT),
        ("cc", "#!/bin/sh\necho harm > \"$1\"\n"),
        ("main.c", "int main(void) { return 0; }\n"),
    ])
}

#[test]
fn hostile_build_files_change_nothing_outside() {
    if walls().is_none() {
        return;
    }
    let later = || std::thread::sleep(std::time::Duration::from_millis(600));
    for (what, rule, expected) in HOSTILE {
        for kernel in ["this", "without mounts"] {
            let outside = Outside::new();
            let project = hostile(&outside, rule);
            let before = listing(&project.path());
            let mut command = project.command(&["check", "--no-refine", "--build", "make"]);
            command.env("HOME", outside.home.path()).arg("--no-cache");
            let command = if kernel == "this" { &mut command } else { without_mounts(&mut command) };
            let output = command.output().expect("it runs");
            let words = said(&output);
            assert!(words.contains("built by `make` on a copy"), "{what}, {kernel}: {words}");
            if what == "harm later" {
                later();
            }
            assert_eq!(listing(&project.path()), before, "{what}, {kernel}: the project is as it was");
            assert_eq!(outside.harmed(), Vec::<&str>::new(), "{what}, {kernel}");
        }
        // The twin: the same build file, and make alone.
        let outside = Outside::new();
        let project = hostile(&outside, rule);
        let mut make = Command::new("make");
        make.current_dir(project.path()).env("HOME", outside.home.path());
        let output = make.output().expect("it runs");
        if what == "harm later" {
            later();
        }
        assert_eq!(outside.harmed(), [expected], "{what}: {}", said(&output));
    }
}

/// What a build leaves behind for those who read it: pipes and devices as sources, links out, notes of calls that were never made, files
/// that cannot be read. The analysis ends, and the project and what lies outside are as before.
#[test]
fn what_a_build_leaves_behind_is_data() {
    if walls().is_none() {
        return;
    }
    let outside = Outside::new();
    let target = outside.marked.path().join("tree/file").display().to_string();
    let rules = [
        "rm main.c; mkfifo main.c; cc -c main.c & sleep 0.1; mkfifo pipe.c; echo 'int main(void) { return 0; }' > other.c; cc -c other.c",
        "printf '# 1 \"pipe\"\\nint *f(int *p);\\n# 1 \"/dev/zero\"\\nint *g(int *p) { return p; }\\nint main(void) { return 0; }\\n' > main.c; mkfifo pipe; cc -c main.c",
        "for c in $$(dirname $$TMPDIR)/calls/*; do rm $$c; ln -s /dev/zero $$c; mkfifo $$c.0 $${c%.*}.77; done; cc -c main.c",
        "ln -sf TARGET generated.c; ln -sf /dev/zero endless.c; cc -c main.c",
        "mkdir -p deep/er; chmod 0 deep; cc -c main.c",
        "printf 'cc\\0/\\0-c\\0TARGET\\0' > $$(dirname $$TMPDIR)/calls/1.1; cc -c main.c",
        "rm -rf $$(dirname $$TMPDIR)/bin $$(dirname $$TMPDIR)/calls; cc -c main.c",
    ];
    for rule in rules {
        let project = Project::new(&[
            ("Makefile", &format!("all:\n\t{}\n", rule.replace("TARGET", &target))),
            ("main.c", "int main(void) { return 0; }\n"),
        ]);
        let before = listing(&project.path());
        let output = project.parallax(&["check", "--no-refine", "--build", "timeout 20 make"]);
        assert!(output.status.code().is_some_and(|code| code != 101), "{rule}: {}", said(&output));
        assert!(!said(&output).contains("as it was"), "{rule}: {}", said(&output));
        assert_eq!(listing(&project.path()), before, "{rule}");
    }
    assert_eq!(outside.harmed(), Vec::<&str>::new());
}
