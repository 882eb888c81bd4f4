//! The socket under `parallax view --serve`: loopback only, one thread per connection, a bounded number of them.

use crate::exit::Status;
use anyhow::{Context, Result};
use parallax_view::page::Page;
use parallax_view::serve::{LONGEST_BODY, LONGEST_HEAD, Request, Response, Service};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MOST_CONNECTIONS: usize = 32;
const PATIENCE: Duration = Duration::from_secs(10);

/// What a page was made from, and how to make it again.
pub struct Watch {
    /// Reports and sources.
    pub files: Vec<PathBuf>,
    /// Makes the page from what they hold now.
    pub make: Box<dyn Fn() -> Result<(Page, Vec<PathBuf>)> + Send>,
}

/// Serves `page` until the process is ended, and saves triage records to `triage_file` as they come.
pub fn run(page: Page, port: u16, triage_file: &Path, watch: Option<Watch>) -> Result<Status> {
    let listener =
        TcpListener::bind(("127.0.0.1", port)).with_context(|| format!("cannot listen on port {port}"))?;
    let port = listener.local_addr().context("no local address")?.port();
    let mut service = Service::new(page, token()?, port);
    if watch.is_some() {
        service.watched();
    }
    println!("{}", service.address());
    std::io::stdout().flush()?;
    eprintln!("note: answers are saved to {}; end with Ctrl-C", triage_file.display());
    let shared = Arc::new((Mutex::new(service), triage_file.to_owned()));
    if let Some(watch) = watch {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || follow(watch, &shared.0));
    }
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (shared, open) = (Arc::clone(&shared), Arc::clone(&open));
        std::thread::spawn(move || {
            let _ = answer(stream, &shared.0, &shared.1);
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
    Ok(Status::Clean)
}

/// Makes the page anew whenever one of its files changes. A file that is being written is read again when it is whole.
fn follow(mut watch: Watch, service: &Mutex<Service>) {
    const EVERY: Duration = Duration::from_millis(500);
    let stamps = |files: &[PathBuf]| -> Vec<_> {
        let stamp =
            |file: &PathBuf| std::fs::metadata(file).ok().map(|data| (data.modified().ok(), data.len()));
        files.iter().map(stamp).collect()
    };
    let mut seen = stamps(&watch.files);
    loop {
        std::thread::sleep(EVERY);
        let now = stamps(&watch.files);
        if now == seen {
            continue;
        }
        match (watch.make)() {
            Ok((page, files)) => {
                service.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).renew(page);
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

/// One request, one answer.
fn answer(mut stream: TcpStream, service: &Mutex<Service>, triage_file: &Path) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let begun = Instant::now();
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let response = loop {
        match Request::read(&bytes) {
            Err(error) => break Response::to_bad(error),
            Ok(Some(request)) => break respond(&request, service, triage_file),
            Ok(None) => {}
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 || begun.elapsed() > PATIENCE || bytes.len() > LONGEST_HEAD + LONGEST_BODY {
            return Ok(());
        }
        bytes.extend_from_slice(&buffer[..count]);
    };
    stream.write_all(&response.write())?;
    Ok(())
}

fn respond(request: &Request, service: &Mutex<Service>, triage_file: &Path) -> Response {
    let mut service = service.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (response, changed) = service.respond(request);
    if changed && let Err(error) = save(triage_file, &service.triage.write()) {
        eprintln!("error: cannot save {}: {error}", triage_file.display());
        return Response { status: 500, kind: "text/plain; charset=utf-8", body: b"cannot save\n".to_vec() };
    }
    response
}

/// Writes beside the file and renames, so that the answers of a day never half exist.
fn save(file: &Path, text: &str) -> std::io::Result<()> {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let fresh = PathBuf::from(name);
    std::fs::write(&fresh, text)?;
    std::fs::rename(&fresh, file)
}

fn token() -> Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
