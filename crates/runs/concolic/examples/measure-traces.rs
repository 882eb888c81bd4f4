//! What one symbolic run costs: `measure PROGRAM BYTES [ARGUMENTS]` runs a program on that many unknown bytes of standard
//! input, once, and asks the solver nothing.

use parallax_concolic::{Command, Kind, Settings, Source, Sources, explore};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let usage = "measure PROGRAM BYTES [ARGUMENTS]";
    let program = arguments.next().ok_or(usage)?;
    let bytes = arguments.next().and_then(|text| text.to_str()?.parse().ok()).ok_or(usage)?;
    let folder = std::env::temp_dir().join(format!("parallax-measure-{}", std::process::id()));
    let settings = Settings {
        strategy: parallax_path::Strategy::Breadth,
        approximate: false,
        at: None,
        summaries: false,
        targets: Vec::new(),
        avoid: Vec::new(),
        tests: 1,
        time: Duration::from_secs(600),
        solver_time: Duration::from_millis(1),
        patience: Duration::from_millis(1),
        steps: 1 << 40,
        memory: 1 << 30,
        term_memory: 8 << 30,
        jobs: 1,
        stop_at_target: false,
        folder: folder.clone(),
        resume: false,
        seeds: Vec::new(),
        allowed: parallax_concolic::Allowed::default(),
        keep_world: None,
    };
    let mut list = vec![program.as_bytes().to_vec()];
    list.extend(arguments.map(|argument| argument.as_bytes().to_vec()));
    let command =
        Command { path: (&program).into(), arguments: list, environment: Vec::new(), unjailed: false };
    let sources = Sources(vec![Source { kind: Kind::Stdin, bytes }]);
    let found = explore(&command, &sources, &settings, &mut |_, _| ())?;
    std::fs::remove_dir_all(folder)?;
    let test = found.tests.first().ok_or("the program did not run")?;
    println!("instructions {} count", test.instructions);
    println!("evaluated {} count", test.evaluated);
    println!("constraints {} count", test.constraints.unwrap_or(0));
    println!("concrete {:.3} s", test.seconds[0]);
    println!("symbolic {:.3} s", test.seconds[1]);
    println!("evaluated_per_second {:.0} 1/s", test.evaluated as f64 / test.seconds[1].max(1e-9));
    println!("terms {} bytes", test.term_bytes);
    println!("bytes_per_evaluated {:.1} bytes", test.term_bytes as f64 / test.evaluated.max(1) as f64);
    println!("peak {} bytes", peak_of_children());
    Ok(())
}

/// The most memory that one of the processes which made the runs held.
fn peak_of_children() -> u64 {
    // SAFETY: the structure is made of numbers, for which zero is a value; the call writes only what it is handed.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    usage.ru_maxrss as u64 * 1024
}
