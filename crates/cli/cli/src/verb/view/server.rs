//! The socket under `parallax view --serve`: loopback only, one thread per connection, a bounded number of them.

use super::store::TriageFile;
use anyhow::{Context, Result};
use parallax_cli_base::exit::Status;
use parallax_cli_base::words::counted;
use parallax_view::page::Page;
use parallax_view::serve::{LONGEST_BODY, LONGEST_HEAD, Request, Response, Service, Store};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Connections that wait for their request; a further one closes the oldest.
const MOST_WAITING: usize = 32;
const PATIENCE: Duration = Duration::from_secs(10);

/// What a page was made from, and how to make it again.
pub struct Watch {
    /// Reports and sources.
    pub files: Vec<PathBuf>,
    /// Makes the page from what they hold now.
    pub make: Box<dyn FnMut() -> Result<(Page, Vec<PathBuf>)> + Send>,
}

/// What the threads of a server share.
struct Shared {
    service: Mutex<Service>,
    triage_file: PathBuf,
    /// Connections whose request is not whole yet, the oldest first.
    waiting: Mutex<VecDeque<(u64, TcpStream)>>,
}

impl Shared {
    fn service(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves `page` until the process is ended, and saves triage records to `triage_file` as they come.
pub fn run(page: Page, port: u16, triage_file: &Path, watch: Option<Watch>) -> Result<Status> {
    let listener = listen(port, triage_file)?;
    let port = listener.local_addr().context("no local address")?.port();
    let mut service = Service::new(page, token()?, port);
    if watch.is_some() {
        service.watched();
    }
    println!("{}", service.address());
    std::io::stdout().flush()?;
    eprintln!("note: answers are saved to {}; end with Ctrl-C", triage_file.display());
    let (service, waiting) = (Mutex::new(service), Mutex::default());
    let shared = Arc::new(Shared { service, triage_file: triage_file.to_owned(), waiting });
    {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || guard(&shared));
    }
    if let Some(watch) = watch {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || follow(watch, &shared));
    }
    for (number, stream) in (0_u64..).zip(listener.incoming()) {
        let Ok(stream) = stream else { continue };
        let Ok(copy) = stream.try_clone() else { continue };
        {
            let mut waiting = shared.waiting();
            // Connections that say nothing make room for those that may.
            if waiting.len() >= MOST_WAITING
                && let Some((_, oldest)) = waiting.pop_front()
            {
                let _ = oldest.shutdown(Shutdown::Both);
            }
            waiting.push_back((number, copy));
        }
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || {
            let _ = answer(stream, &shared, number);
            shared.waiting().retain(|(waiting, _)| *waiting != number);
        });
    }
    Ok(Status::Clean)
}

/// Any free port, but the same for one triage file from day to day where it is free: a browser keeps what the server
/// has not got yet by the address of the page.
fn listen(port: u16, triage_file: &Path) -> Result<TcpListener> {
    let bind = |port: u16| TcpListener::bind(("127.0.0.1", port));
    if port != 0 {
        return bind(port).with_context(|| format!("cannot listen on port {port}"));
    }
    let place = std::path::absolute(triage_file).unwrap_or_else(|_| triage_file.to_owned());
    let hash = place
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // Below the ports that the system gives to those who ask for any.
    let usual = 20_000 + (hash % 12_000) as u16;
    // Several servers on one file have neighbouring ports.
    let near = (usual..usual + 8).find_map(|port| bind(port).ok());
    near.map_or_else(|| bind(0), Ok).context("cannot listen on any port")
}

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(500);

/// When a file was written last, and how long it is.
fn stamp(file: &Path) -> Option<(Option<SystemTime>, u64)> {
    std::fs::metadata(file).ok().map(|data| (data.modified().ok(), data.len()))
}

/// Looks after the triage file: an editor that saves what it read an hour ago takes nothing away that was confirmed.
fn guard(shared: &Shared) {
    let mut store = TriageFile(shared.triage_file.clone());
    let mut seen = stamp(&store.0);
    loop {
        std::thread::sleep(EVERY);
        let now = stamp(&store.0);
        if now == seen {
            continue;
        }
        // What cannot be read may be half written: it is looked at again.
        let Ok(file) = store.read() else { continue };
        seen = now;
        let mut lost = shared.service().lost(&file);
        if !lost.records.is_empty() {
            // An answer may have come since the file was read: none comes while the service is held.
            let service = shared.service();
            let Ok(file) = store.read() else { continue };
            lost = service.lost(&file);
        }
        if lost.records.is_empty() {
            continue;
        }
        let reports = counted(lost.records.len(), "report");
        match store.merge(lost) {
            Ok(_) => eprintln!(
                "note: {} was written without answers on {reports} that had been saved: they are there again",
                store.0.display()
            ),
            Err(why) => eprintln!("error: {why}"),
        }
    }
}

/// Makes the page anew whenever one of its files changes. A file that is being written is read again when it is whole.
fn follow(mut watch: Watch, shared: &Shared) {
    let stamps = |files: &[PathBuf]| -> Vec<_> { files.iter().map(|file| stamp(file)).collect() };
    let mut seen = stamps(&watch.files);
    loop {
        std::thread::sleep(EVERY);
        let now = stamps(&watch.files);
        if now == seen {
            continue;
        }
        match (watch.make)() {
            Ok((page, files)) => {
                shared.service().renew(page);
                watch.files = files;
                seen = stamps(&watch.files);
            }
            Err(error) => {
                eprintln!("note: not loaded: {error:#}");
                seen = now;
            }
        }
    }
}

/// One request, one answer. Until the request is whole, the connection is among those that `waiting` may close.
fn answer(mut stream: TcpStream, shared: &Shared, number: u64) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let begun = Instant::now();
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let request = loop {
        match Request::read(&bytes) {
            Err(error) => break Err(error),
            Ok(Some(request)) => break Ok(request),
            Ok(None) => {}
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 || begun.elapsed() > PATIENCE || bytes.len() > LONGEST_HEAD + LONGEST_BODY {
            return Ok(());
        }
        bytes.extend_from_slice(&buffer[..count]);
    };
    shared.waiting().retain(|(waiting, _)| *waiting != number);
    let response = match request {
        Ok(request) => {
            let response = shared.service().respond(&request, &mut TriageFile(shared.triage_file.clone()));
            if response.status == 500 {
                eprint!("error: {}", String::from_utf8_lossy(&response.body));
            }
            response
        }
        Err(error) => Response::to_bad(error),
    };
    stream.write_all(&response.write())?;
    Ok(())
}

fn token() -> Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
