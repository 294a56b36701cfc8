//! A hub on this machine, for the tests that fetch: one repository, `ada/owl`, with one file, `owl-Q8_0.gguf`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// What was asked of it, in its own words: the line of a request and the byte it was from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) from: Option<usize>,
}

/// The hub.
pub(crate) struct Hub {
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Tells when the first request for the file was answered as far as it is.
    pub(crate) broken: Receiver<()>,
}

impl Hub {
    /// One whose file has these bytes. The first answer with the file ends after so many of them, and says no more; every other is
    /// whole.
    pub(crate) fn start(bytes: Vec<u8>, first: Option<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (tell, broken) = channel();
        let shared = Arc::new((bytes, Mutex::new(first), Arc::clone(&asked)));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, tell) = (Arc::clone(&shared), tell.clone());
                thread::spawn(move || serve(&stream, &shared, &tell));
            }
        });
        Self { address, asked, broken }
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

type Shared = (Vec<u8>, Mutex<Option<usize>>, Arc<Mutex<Vec<Asked>>>);

/// Answers one connection. As a proxy it answers for every host there is.
fn serve(stream: &TcpStream, (bytes, first, seen): &Shared, tell: &Sender<()>) {
    let mut out = stream;
    let mut asked = read(stream);
    seen.lock().unwrap().push(asked.clone());
    if asked.line.starts_with("CONNECT ") {
        // A client that went away has its reasons, here and below.
        let _ = out.write_all(b"HTTP/1.1 200 X\r\n\r\n");
        asked = read(stream);
        seen.lock().unwrap().push(asked.clone());
    }
    let api = serde_json::json!({"siblings": [{"rfilename": "owl-Q8_0.gguf", "size": bytes.len()}]}).to_string();
    let from = asked.from.unwrap_or(0);
    let (status, body) = match asked.line.split(' ').nth(1) {
        Some("/api/models/ada/owl/revision/main?blobs=true") => (200, api.as_bytes()),
        Some("/ada/owl/resolve/main/owl-Q8_0.gguf") => (if from > 0 { 206 } else { 200 }, &bytes[from..]),
        _ => (404, &[][..]),
    };
    let (size, end) = (body.len(), bytes.len().saturating_sub(1));
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {size}\r\nContent-Range: bytes {from}-{end}/{}\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    let _ = out.write_all(head.as_bytes());
    let cut = if status == 200 && asked.line.contains(".gguf") {
        first.lock().unwrap().take()
    } else {
        None
    };
    match cut {
        Some(cut) => {
            let _ = out.write_all(&body[..cut]);
            let _ = tell.send(());
            // The rest never comes; the client ends it.
            let _ = out.read(&mut [0]);
        }
        None => {
            let _ = out.write_all(body);
        }
    }
}

fn read(stream: &TcpStream) -> Asked {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let line = lines.next().unwrap_or_default();
    let mut from = None;
    for header in lines.take_while(|line| !line.is_empty()) {
        if let Some(range) = header.to_lowercase().strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok();
        }
    }
    Asked { line, from }
}
