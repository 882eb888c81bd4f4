//! Shell lines from `lines.txt`: the shell, its children and what they run are all emulated.

use crate::{Outcome, Test, emulated_in, native_in, same, temporary};
use std::path::Path;

fn files(folder: &Path) {
    for (name, letters) in [("a.txt", ["x", "y", "z"]), ("b.txt", ["x", "y", "w"])] {
        let line = |i: usize| format!("{} line {} apple-{i}\n", i * 7919 % 61, letters[i % 3].repeat(i % 5));
        std::fs::write(folder.join(name), (0..60).map(line).collect::<String>()).unwrap();
    }
}

/// Runs a line in a fresh folder, always the same one, since its name shows in output.
fn run(number: usize, by: impl Fn(&Path) -> Outcome) -> Outcome {
    let folder = temporary(&format!("line-{number}"));
    std::fs::create_dir(&folder).unwrap();
    files(&folder);
    let outcome = by(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    outcome
}

pub fn tests(slow: bool) -> Vec<Test> {
    let lines = include_str!("lines.txt").lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| (line.starts_with("+ "), line.trim_start_matches("+ ")));
    let wanted = lines.enumerate().filter(|(_, (long, _))| slow || !long);
    wanted
        .map(|(number, (_, line))| {
            let name = format!("line: {}", line.chars().take(60).collect::<String>());
            let test = move || {
                let command = ["sh", "-c", line];
                let input = b"one two\nthree 3\n";
                let native = run(number, |folder| native_in(folder, &command, input));
                let emulated = run(number, |folder| emulated_in(folder, &command, input));
                same(&native, &emulated)
            };
            (name, Box::new(test) as Box<dyn Fn() -> Result<(), String> + Send + Sync>)
        })
        .collect()
}
