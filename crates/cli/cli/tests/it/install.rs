//! Installed into an empty prefix the command works from anywhere, and what shells and `man` get can be read by them.

use std::path::Path;
use std::process::{Command, Output};

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn an_installed_command_needs_no_clone() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("prefix");
    run(Command::new(top.join("scripts/install")).arg(&prefix).arg(env!("CARGO_BIN_EXE_parallax")));

    // Nothing of ours in the environment, another working directory, and the solver is asked.
    let here = folder.path().join("elsewhere");
    std::fs::create_dir(&here).expect("a folder");
    std::fs::write(here.join("p.pl"), "x = x + 1; if (x == 7) { y = 1; }\n").expect("written");
    let installed = |arguments: &[&str]| {
        let mut command = Command::new(prefix.join("bin/parallax"));
        command
            .args(arguments)
            .current_dir(&here)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &here);
        String::from_utf8(run(&mut command).stdout).expect("text")
    };
    assert!(installed(&["path", "p.pl", "--through", "1"]).contains("an input that goes there"));
    let libraries = Command::new("ldd").arg(prefix.join("bin/parallax")).env_clear().output().expect("ldd");
    let libraries = String::from_utf8_lossy(&libraries.stdout).into_owned();
    let solver = libraries.lines().find(|line| line.contains("libz3.so.5")).expect("it is linked");
    assert!(solver.contains("prefix/bin/../lib/parallax/"), "{solver}");

    let bash = prefix.join("share/bash-completion/completions/parallax");
    run(Command::new("bash").arg("-n").arg(&bash));
    let offered = format!(
        "source {}; COMP_WORDS=(parallax exp); COMP_CWORD=1; _parallax parallax exp parallax; echo ${{COMPREPLY[@]}}",
        bash.display()
    );
    let offered = run(Command::new("bash").args(["-c", &offered]));
    assert_eq!(String::from_utf8_lossy(&offered.stdout).trim(), "explore");
    let pages = std::fs::read_dir(prefix.join("share/man/man1")).expect("pages");
    let pages: Vec<String> =
        pages.map(|page| page.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    for page in ["parallax.1", "parallax-explore.1", "parallax-mix-check.1"] {
        assert!(pages.iter().any(|there| there == page), "{page} of {pages:?}");
    }
    let page = std::fs::read_to_string(prefix.join("share/man/man1/parallax-view.1")).expect("a page");
    assert!(page.contains(".TH") && page.contains("\\-\\-serve"), "{page}");
}
