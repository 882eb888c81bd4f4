//! `lift`: machine code as operations.

use crate::operation;
use crate::subject::Which;
use crate::subject::code::lift_failure;
use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_sleigh::LiftError;

/// Show machine code as the operations it is lifted to.
///
/// Example: `parallax lift --lang x86-64 --hex "31 d8"` lists `xor eax,ebx` and its operations, flags included;
/// `parallax lift --elf a.out --function main` lists a function of a file.
#[derive(Args)]
pub struct Lift {
    #[command(flatten)]
    which: Which,
    /// Leave the operations out: a disassembly.
    #[arg(long)]
    brief: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(arguments: &Lift) -> Result<Status> {
    let program = arguments.which.machine_code()?;
    let listing = program.listing();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    if arguments.json {
        let instructions: Vec<_> = listing
            .iter()
            .map(|place| match place {
                Ok(instruction) => {
                    let operations: Vec<_> =
                        instruction.ops.iter().map(|op| operation::json(op, program.processor())).collect();
                    serde_json::json!({
                        "address": format!("{:#x}", instruction.address),
                        "bytes": hex(program.bytes(instruction)),
                        "text": instruction.text,
                        "operations": operations,
                    })
                }
                Err((address, LiftError::Unsupported { text, reason, .. })) => serde_json::json!({
                    "address": format!("{address:#x}"),
                    "text": text,
                    "error": reason.to_string(),
                }),
                Err((address, error)) => {
                    serde_json::json!({ "address": format!("{address:#x}"), "error": error.to_string() })
                }
            })
            .collect();
        let error = listing.iter().find_map(|place| place.as_ref().err().map(|(_, error)| error.to_string()));
        println!("{:#}", serde_json::json!({ "instructions": instructions, "error": error }));
    } else {
        for place in &listing {
            match place {
                Ok(instruction) => {
                    println!(
                        "{:#x}  {:<30}  {}",
                        instruction.address,
                        hex(program.bytes(instruction)),
                        instruction.text
                    );
                    if !arguments.brief {
                        for op in &instruction.ops {
                            println!("    {}", op.display(program.processor()));
                        }
                    }
                }
                Err((address, LiftError::Unsupported { text, reason, .. })) => {
                    println!("{address:#x}  {:<30}  {text}  (not modelled: {reason})", "");
                }
                Err((address, _)) => println!("{address:#x}  (no instruction)"),
            }
        }
    }
    let failed = listing.into_iter().filter_map(Result::err).map(|(_, error)| error);
    // The first says what is wrong; how many there are, the listing shows.
    match failed.into_iter().next() {
        Some(error) => Err(lift_failure(&error)),
        None => Ok(Status::Clean),
    }
}
