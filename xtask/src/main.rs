//! Repository checks (`cargo xtask check`) and recorded benchmark runs (`cargo xtask bench`).

mod check;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("check") => check::run(),
        _ => bail!("usage: cargo xtask check"),
    }
}
