//! Repository checks (`cargo xtask check`) and recorded benchmark runs (`cargo xtask bench`).

mod arrows;
mod bench;
mod check;
mod dependencies;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("check") => check::run(),
        Some("bench") => bench::run(&arguments[1..]),
        _ => bail!("usage: cargo xtask check | cargo xtask bench [name...]"),
    }
}
