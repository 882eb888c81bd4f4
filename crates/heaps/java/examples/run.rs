//! Runs `main` of a class: `cargo run -p parallax-java --example run -- CLASSPATH CLASS`.

use parallax_java::{Bounds, ClassPath, Program, installed, run};
use std::rc::Rc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("a class path")?.into();
    let class = arguments.next().ok_or("a class")?;
    let path = ClassPath::open(&[path], installed().as_deref())?;
    let program = Rc::new(Program::new(path)?);
    let bounds = Bounds { rounds: 0, calls: 2000, steps: 500_000_000 };
    let start = std::time::Instant::now();
    let ran = run::run(&program, &class, false, bounds, &mut |_| Ok(()))?;
    print!("{}", ran.output);
    eprintln!("{:?}, {} steps, {:?}", ran.ending, ran.steps, start.elapsed());
    Ok(())
}
