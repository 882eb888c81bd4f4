//! Answering a browser: the page, and triage records to keep. Pure: bytes in, bytes out; the edge owns the socket.
//!
//! The server listens on the loopback interface, but every page the user visits can talk to that. So a request must
//! name this host (a name rebound by DNS does not), must not come from another origin, and must know the token that
//! only the printed address and the page itself carry.

use crate::html;
use crate::page::Page;
use crate::triage::{Record, Triage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longer heads are refused.
pub const LONGEST_HEAD: usize = 16 << 10;
/// Longer bodies are refused.
pub const LONGEST_BODY: usize = 1 << 20;

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// What follows it, such as `/triage`.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// What follows the head.
    pub body: Vec<u8>,
}

/// What is wrong with the bytes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// Not HTTP.
    #[error("malformed request")]
    Malformed,
    /// Head or body is too long.
    #[error("request too large")]
    TooLarge,
}

impl Request {
    /// Reads a request from what has arrived so far; `None` asks for more.
    pub fn read(bytes: &[u8]) -> Result<Option<Request>, BadRequest> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return if bytes.len() > LONGEST_HEAD { Err(BadRequest::TooLarge) } else { Ok(None) };
        };
        if end > LONGEST_HEAD {
            return Err(BadRequest::TooLarge);
        }
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| BadRequest::Malformed)?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or("").split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (first.next(), first.next(), first.next(), first.next())
        else {
            return Err(BadRequest::Malformed);
        };
        if !version.starts_with("HTTP/1.") || method.is_empty() {
            return Err(BadRequest::Malformed);
        }
        let mut request =
            Request { method: method.to_owned(), target: target.to_owned(), ..Request::default() };
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(BadRequest::Malformed)?;
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = match request.header("content-length") {
            None => 0,
            Some(length) => length.parse::<usize>().map_err(|_| BadRequest::Malformed)?,
        };
        if length > LONGEST_BODY {
            return Err(BadRequest::TooLarge);
        }
        let body = &bytes[end + 4..];
        if body.len() < length {
            return Ok(None);
        }
        request.body = body[..length].to_vec();
        Ok(Some(request))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    fn text(status: u16, text: &str) -> Response {
        Response { status, kind: "text/plain; charset=utf-8", body: format!("{text}\n").into_bytes() }
    }

    /// The answer to bytes that are no request.
    pub fn to_bad(error: BadRequest) -> Response {
        Response::text(if error == BadRequest::TooLarge { 413 } else { 400 }, &error.to_string())
    }

    /// The bytes to send.
    pub fn write(&self) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            204 => "No Content",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Content Too Large",
            _ => "Error",
        };
        let mut bytes = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Content-Security-Policy: {}; frame-ancestors 'none'\r\n\r\n",
            self.status,
            self.kind,
            self.body.len(),
            html::policy(true),
        )
        .into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// Where answers are kept: a file that other servers and editors may write too.
pub trait Store {
    /// Everything that is there now.
    fn read(&mut self) -> Result<Triage, String>;
    /// Puts answers in with what is there now, for good, and gives everything that is there then.
    fn merge(&mut self, answers: Triage) -> Result<Triage, String>;
}

/// A page being served.
pub struct Service {
    page: Page,
    token: String,
    port: u16,
}

/// Answers as a page sends them and gets them back.
#[derive(Deserialize, Serialize)]
struct Exchange {
    records: BTreeMap<String, Record>,
}

impl Service {
    /// Serves `page` on `port` to those who know `token`.
    pub fn new(mut page: Page, token: String, port: u16) -> Service {
        page.server = Some(crate::page::Server { token: token.clone(), version: None });
        Service { page, token, port }
    }

    /// Says that reports and sources are watched: the page asks `/version` and loads again when it has changed.
    pub fn watched(&mut self) {
        if let Some(server) = &mut self.page.server {
            server.version = server.version.or(Some(1));
        }
    }

    /// Puts a page made anew in the place of the old one.
    pub fn renew(&mut self, mut page: Page) {
        let version = self.page.server.as_ref().and_then(|server| server.version).map(|version| version + 1);
        page.server = Some(crate::page::Server { token: self.token.clone(), version });
        self.page = page;
    }

    /// The address to open.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Answers a request.
    pub fn respond(&mut self, request: &Request, store: &mut dyn Store) -> Response {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let Some(host) = request.header("host").filter(|host| hosts.iter().any(|ours| ours == host)) else {
            return Response::text(403, "this server answers to its own address only");
        };
        if request.header("origin").is_some_and(|origin| origin != format!("http://{host}")) {
            return Response::text(403, "requests from other pages are not answered");
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        match (request.method.as_str(), path) {
            ("GET", "/") => {
                let given = query.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap_or("");
                if !same(given, &self.token) {
                    return Response::text(403, "open the address that `parallax view --serve` printed");
                }
                // What cannot be read now is said when an answer is to be saved.
                if let Ok(now) = store.read() {
                    self.page.triage.merge(now);
                }
                let body = html::render(&self.page).into_bytes();
                Response { status: 200, kind: "text/html; charset=utf-8", body }
            }
            ("POST", "/triage") => self.keep(request, store),
            ("GET", "/version") => {
                if !same(request.header("x-parallax-token").unwrap_or(""), &self.token) {
                    return Response::text(403, "wrong token");
                }
                let version = self.page.server.as_ref().and_then(|server| server.version).unwrap_or(0);
                Response::text(200, &version.to_string())
            }
            (_, "/" | "/triage" | "/version") => Response::text(405, "not that way"),
            _ => Response::text(404, "nothing here"),
        }
    }

    /// What of the answers that are known here a file lacks that was read just now: somebody wrote over it who did not know
    /// of them.
    pub fn lost(&self, now: &Triage) -> Triage {
        let mut known = self.page.triage.clone();
        known.prune();
        let is_lost = |key: &String, record: &Record| {
            let mut both = now.records.get(key).cloned().unwrap_or_default();
            let before = both.answers.clone();
            both.merge(record.clone());
            both.answers != before
        };
        known.records.retain(|key, record| !record.answers.is_empty() && is_lost(key, record));
        Triage { records: known.records, ..Triage::default() }
    }

    /// Keeps answers, and tells what is known of the same reports now.
    fn keep(&mut self, request: &Request, store: &mut dyn Store) -> Response {
        if !same(request.header("x-parallax-token").unwrap_or(""), &self.token) {
            return Response::text(403, "wrong token");
        }
        let given: Exchange = match serde_json::from_slice(&request.body) {
            Ok(given) => given,
            Err(error) => return Response::text(400, &format!("not triage records: {error}")),
        };
        for (key, record) in &given.records {
            // A record of another page brings its identity along.
            if record.identity.is_none() && !self.page.triage.records.contains_key(key) {
                return Response::text(404, "no such report");
            }
            if let Err(error) = record.check() {
                return Response::text(413, &error.to_string());
            }
        }
        let keys: Vec<String> = given.records.keys().cloned().collect();
        // With the answers goes what the reports of this page are known by.
        let mut answers = Triage { records: self.page.triage.records.clone(), ..Triage::default() };
        answers.merge(Triage { records: given.records, ..Triage::default() });
        match store.merge(answers) {
            Ok(now) => {
                let records = keys
                    .into_iter()
                    .filter_map(|key| now.records.get(&key).cloned().map(|record| (key, record)))
                    .collect();
                let body = serde_json::to_vec(&Exchange { records }).unwrap_or_default();
                self.page.triage = now;
                Response { status: 200, kind: "application/json", body }
            }
            Err(why) => Response::text(500, &why),
        }
    }
}

/// Equality that takes as long for a near miss as for a far one.
fn same(given: &str, token: &str) -> bool {
    given.len() == token.len() && given.bytes().zip(token.bytes()).fold(0, |bits, (a, b)| bits | (a ^ b)) == 0
}
