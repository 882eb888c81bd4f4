//! `gdbserver`: a recording for GDB.

use anyhow::{Context, Result};
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_gdbserver::{ServeError, check, serve};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::PathBuf;

/// Let GDB open a recording, and go forwards and backwards in it.
///
/// Example: `parallax gdbserver sorted.rec --port 1234`, and in GDB `target remote :1234`. Breakpoints, watchpoints,
/// `reverse-continue` and `reverse-step` work everywhere; symbols come out of the recording. `monitor when` tells the time,
/// `monitor seek TIME` goes there, `monitor last-write list->next` finds the last write, `monitor find execute FUNCTION`
/// lists steps.
#[derive(Args)]
pub struct Gdbserver {
    /// The recording: a folder, or a packed file.
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 1234)]
    port: u16,
    /// The address to listen on. Whoever can connect can read the recording.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// The process: `0` is the first, `0.1` its first child.
    #[arg(long, value_name = "NAME", default_value = "0")]
    stream: String,
    /// End when the first GDB goes away.
    #[arg(long)]
    once: bool,
}

/// Does it.
pub fn run(arguments: &Gdbserver) -> Result<Status> {
    let travel = super::process::travel(&arguments.recording, &arguments.stream)?;
    check(&travel).map_err(refused)?;
    let listener = TcpListener::bind((arguments.listen, arguments.port))
        .with_context(|| format!("cannot listen on {}:{}", arguments.listen, arguments.port))?;
    eprintln!("listening; in GDB: target remote {}", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept()?;
        match serve(&travel, connection) {
            Ok(()) => {}
            Err(error) => eprintln!("{error}"),
        }
        if arguments.once {
            return Ok(Status::Clean);
        }
    }
}

fn refused(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Machine(_) => Failure { status: Status::Unsupported, message: error.to_string() }.into(),
        error => error.into(),
    }
}
