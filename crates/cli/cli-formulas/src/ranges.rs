//! `ranges`: interval analysis.

use crate::values::{Arguments, Described};
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_op::{Bits, Width};
use parallax_sem::Interval;

/// From which number to which do values go at each place?
///
/// Example: with `i = 0; while (i < 10) { i = i + 1; }` in count.pl, `parallax ranges count.pl` says that `i` is in
/// `[0, 10]` before the test, in `[0, 9]` inside the loop, and `10` at the end. What is known at the start is a number or
/// a range: `--set n=5`, `--set 'n=[-3, 7]'`, `any`. Numbers are shown with a sign where they are consecutive that way.
#[derive(Args)]
pub struct Ranges {
    #[command(flatten)]
    arguments: Arguments,
}

/// Does it.
pub fn run(ranges: &Ranges) -> Result<Status> {
    crate::values::run::<Interval>(&ranges.arguments)
}

impl Described for Interval {
    const NAME: &'static str = "ranges";

    fn read(text: &str, width: Width) -> Result<Self> {
        let number = |text: &str| {
            let bits =
                Bits::parse(text.trim(), width).map_err(|error| anyhow!("`{}`: {error}", text.trim()))?;
            bits.to_u128().ok_or_else(|| anyhow!("`{}` has more than 128 bits", text.trim()))
        };
        if text == "any" {
            return Ok(Interval::Any);
        }
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match inner.map(|inner| inner.split_once(',')) {
            None => number(text).map(|only| Interval::between(width, only, only)),
            Some(ends) => {
                let (first, last) = ends.ok_or_else(|| anyhow!("`{text}`: write [FIRST, LAST]"))?;
                ensure!(!first.trim().is_empty() && !last.trim().is_empty(), "`{text}`: write [FIRST, LAST]");
                Ok(Interval::between(width, number(first)?, number(last)?))
            }
        }
    }
}
