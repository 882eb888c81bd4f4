//! `signs`: sign analysis.

use crate::values::{Arguments, Described};
use anyhow::{Result, bail};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_op::{Bits, Width};
use parallax_sem::Sign;

/// Which signs can values have at each place of a program?
///
/// Example: with the swap of two numbers in swap.pl, `parallax signs swap.pl --set x=neg --set y=pos` shows the states
/// of the paper's section 2: at the end `x: top, y: neg`. What is known at the start is `neg`, `zero`, `pos` or `top`; a
/// number means its sign.
#[derive(Args)]
pub struct Signs {
    #[command(flatten)]
    arguments: Arguments,
}

/// Does it.
pub fn run(signs: &Signs) -> Result<Status> {
    crate::values::run::<Sign>(&signs.arguments)
}

impl Described for Sign {
    const NAME: &'static str = "signs";

    fn read(text: &str, width: Width) -> Result<Self> {
        Ok(match text {
            "neg" | "-" => Sign::Neg,
            "zero" | "0" => Sign::Zero,
            "pos" | "+" => Sign::Pos,
            "top" | "any" => Sign::Top,
            _ => match Bits::parse(text, width) {
                Ok(number) => Sign::of(&number),
                Err(_) => bail!("`{text}` is no sign: say neg, zero, pos or top"),
            },
        })
    }
}
