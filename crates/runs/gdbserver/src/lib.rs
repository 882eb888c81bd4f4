//! A recording served to GDB, forwards and backwards in time.
//!
//! [`serve`] speaks the remote protocol on a connection until GDB goes away. Breakpoints and watchpoints are conditions
//! of searches ([`parallax_travel`]): nothing is written into the program, and there may be any number of them. Programs and
//! libraries come out of the recording, so GDB finds their symbols on a machine that does not have them.
//!
//! The past cannot be changed: writes of registers and memory are refused.

mod agent;
mod conditions;
mod files;
mod line;
mod link_map;
mod local;
mod monitor;
mod registers;
mod session;
mod signals;

use gdbstub::conn::ConnectionExt;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, MultiThreadStopReason};
use line::Line;
use parallax_process::elf::Machine;
use parallax_trace::{Time, Watch};
use parallax_travel::{Travel, TravelError};
use session::Session;
use std::cell::RefCell;
use std::io;
use std::net::TcpStream;

/// Why a recording could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The recording cannot be travelled in.
    #[error(transparent)]
    Travel(#[from] TravelError),
    /// Its program is for a machine that GDB is not told about here.
    #[error("GDB is served recordings of x86-64 programs; this one is of {0}")]
    Machine(&'static str),
    /// The connection failed, or GDB said what it should not.
    #[error("the connection to GDB failed: {0}")]
    Connection(String),
}

/// Whether GDB can be served a recording.
pub fn check(travel: &Travel) -> Result<(), ServeError> {
    let machine = travel.machine()?;
    if machine == Machine::X86_64 { Ok(()) } else { Err(ServeError::Machine(machine.abi().name)) }
}

/// Serves a recording on a connection until GDB goes away.
pub fn serve(travel: &Travel, connection: TcpStream) -> Result<(), ServeError> {
    check(travel)?;
    connection.set_nodelay(true).map_err(|error| ServeError::Connection(error.to_string()))?;
    let mut session = Session::new(travel)?;
    session.beside.borrow_mut().stream = connection.try_clone().ok();
    let stub = GdbStub::new(Line::new(connection, session.beside.clone()));
    match stub.run_blocking::<Loop>(&mut session) {
        Ok(DisconnectReason::Disconnect | DisconnectReason::Kill) => Ok(()),
        Ok(DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_)) => Ok(()),
        Err(error) if error.is_connection_error() => Ok(()),
        Err(error) => Err(ServeError::Connection(error.to_string())),
    }
}

/// Stops a search when GDB says something: that can only be an interrupt.
struct Interrupts<'a>(RefCell<&'a mut Line>);

impl Watch for Interrupts<'_> {
    fn stop(&self) -> bool {
        self.0.borrow_mut().peek().is_ok_and(|byte| byte.is_some())
    }

    fn progress(&self, _: Time) {}
}

enum Loop<'a> {
    #[allow(dead_code, reason = "a name for the lifetime")]
    Of(&'a ()),
}

impl<'a> BlockingEventLoop for Loop<'a> {
    type Target = Session<'a>;
    type Connection = Line;
    type StopReason = MultiThreadStopReason<u64>;

    fn wait_for_stop_reason(
        session: &mut Session<'a>,
        connection: &mut Line,
    ) -> Result<Event<MultiThreadStopReason<u64>>, WaitForStopReasonError<TravelError, io::Error>> {
        let interrupts = Interrupts(RefCell::new(connection));
        let stopped = session.go(&interrupts).map_err(WaitForStopReasonError::Target)?;
        match stopped {
            Some(reason) => Ok(Event::TargetStopped(reason)),
            None => {
                let byte = interrupts.0.into_inner().read();
                byte.map(Event::IncomingData).map_err(WaitForStopReasonError::Connection)
            }
        }
    }

    fn on_interrupt(session: &mut Session<'a>) -> Result<Option<MultiThreadStopReason<u64>>, TravelError> {
        Ok(Some(session.interrupted()))
    }
}
