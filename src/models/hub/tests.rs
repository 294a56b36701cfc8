//! Fetching from a server on this machine that speaks the hub's API, well and badly.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};

use pretty_assertions::assert_eq;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::*;
use crate::gguf::hexadecimal;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// What a client asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    path: String,
    from: Option<u64>,
    token: Option<String>,
}

/// What it is told.
#[derive(Clone, Default)]
struct Reply {
    status: u16,
    headers: Vec<String>,
    body: Vec<u8>,
    /// Bytes of the body that are sent; all without it.
    sent: Option<usize>,
    /// Whether nothing more comes then, and the connection stays.
    stalls: bool,
}

impl Reply {
    fn of(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    fn with(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }
}

/// A server, and what was asked of it.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// One that answers as `handler` says, which is told the request and how many there were for that path before.
    fn start(handler: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, handler) = (Arc::clone(&asked), Arc::new(handler));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, handler) = (Arc::clone(&seen), Arc::clone(&handler));
                thread::spawn(move || serve(&stream, &seen, &*handler));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// From which byte each request for a path was.
    fn ranges(&self, path: &str) -> Vec<Option<u64>> {
        let asked = self.asked();
        let of_it = asked.iter().filter(|asked| asked.path.ends_with(path));
        of_it.map(|asked| asked.from).collect()
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<Asked>>, handler: &dyn Fn(&Asked, usize) -> Reply) {
    let mut reader = BufReader::new(stream);
    let mut asked = Asked::default();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("GET ") {
            asked.path = rest.split(' ').next().unwrap_or_default().to_owned();
        }
        let (name, value) = text.split_once(": ").unwrap_or_default();
        match name.to_lowercase().as_str() {
            "range" => asked.from = value.trim_start_matches("bytes=").trim_end_matches('-').parse().ok(),
            "authorization" => asked.token = Some(value.to_owned()),
            _ => {}
        }
        line.clear();
    }
    let before = {
        let mut seen = seen.lock().unwrap();
        let before = seen.iter().filter(|other| other.path == asked.path).count();
        seen.push(asked.clone());
        before
    };
    let reply = handler(&asked, before);
    let mut head = format!(
        "HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n",
        reply.status,
        reply.body.len()
    );
    for header in &reply.headers {
        write!(head, "{header}\r\n").unwrap();
    }
    let mut out = stream;
    let sent = reply.sent.unwrap_or(reply.body.len());
    // A client that went away has its reasons.
    let _ = out.write_all(format!("{head}\r\n").as_bytes());
    let _ = out.write_all(&reply.body[..sent]);
    if reply.stalls {
        let _ = out.read(&mut [0]);
    }
}

/// The bytes of a model of some size.
fn bytes() -> Vec<u8> {
    (0..700_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
}

fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The answer of a server that has `bytes`: all of it, or the rest that was asked for.
fn whole(asked: &Asked, bytes: &[u8]) -> Reply {
    let Some(from) = asked.from else {
        return Reply {
            body: bytes.to_vec(),
            ..Reply::of(200)
        };
    };
    let range = format!("Content-Range: bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
    Reply {
        body: bytes[from as usize..].to_vec(),
        ..Reply::of(206).with(&range)
    }
}

/// A hub with one model of `bytes`, whose file is answered as `file` says.
fn hub_with(file: impl Fn(&Asked, usize, &[u8]) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |asked, before| {
        let bytes = bytes();
        if asked.path.starts_with("/api/models/ada/owl") {
            let siblings = serde_json::json!([
                {"rfilename": "README.md", "size": 5},
                {"rfilename": "owl-Q4_K_M.gguf", "size": 1, "lfs": {"sha256": digest(&bytes), "size": bytes.len()}},
            ]);
            let body = serde_json::json!({"id": "ada/owl", "sha": "abc123", "siblings": siblings});
            return Reply {
                body: body.to_string().into_bytes(),
                ..Reply::of(200)
            };
        }
        file(asked, before, &bytes)
    })
}

/// Somebody who fetches.
struct Client {
    hub: Hub,
    folder: TempDir,
    progress: Arc<Progress>,
    waits: Mutex<Vec<Duration>>,
}

impl Client {
    fn new(server: &Server) -> Self {
        let address = format!("http://{}", server.address);
        let variable = |name: &str| match name {
            "HF_ENDPOINT" => Some(address.clone().into()),
            "HF_TOKEN" => Some("hf_secret".into()),
            _ => None,
        };
        let options = HubOptions {
            stall: Duration::from_millis(400),
            direct: true,
            ..HubOptions::find(variable, None)
        };
        Self {
            hub: Hub::new(options),
            folder: tempfile::tempdir().unwrap(),
            progress: Arc::default(),
            waits: Mutex::default(),
        }
    }

    fn fetch(&self) -> Result<PathBuf, HubError> {
        let listing = self.hub.list("ada/owl")?;
        let choice = choose(&listing, None, None)?;
        let wait = |pause| self.waits.lock().unwrap().push(pause);
        let patience = Patience {
            tries: 3,
            first: Duration::from_secs(1),
            wait: &wait,
        };
        fetch(
            &self.hub,
            &listing,
            &choice,
            self.folder.path(),
            (&patience, &self.progress),
        )
    }

    /// Fetches it and looks that it is whole and nothing else was left.
    fn succeed(&self) {
        let path = self.fetch().unwrap();
        assert_eq!(path, self.folder.path().join("owl-Q4_K_M.gguf"));
        assert_eq!(digest(&fs::read(path).unwrap()), digest(&bytes()));
        assert_eq!(
            fs::read_dir(self.folder.path()).unwrap().count(),
            1,
            "nothing else is left"
        );
        assert_eq!(self.progress.done.load(Ordering::Relaxed), bytes().len() as u64);
    }

    fn fail(&self) -> String {
        self.fetch().unwrap_err().to_string()
    }

    fn waits(&self) -> Vec<u64> {
        self.waits.lock().unwrap().iter().map(Duration::as_secs).collect()
    }

    fn part(&self) -> PathBuf {
        self.folder
            .path()
            .join(format!("owl-Q4_K_M.gguf.{}.part", &digest(&bytes())[..12]))
    }
}

const FILE: &str = "/ada/owl/resolve/abc123/owl-Q4_K_M.gguf";

#[test]
fn a_file_comes_whole_and_is_not_fetched_twice() {
    let server = hub_with(|asked, _, bytes| whole(asked, bytes));
    let client = Client::new(&server);
    client.succeed();
    let asked = server.asked();
    assert_eq!(asked[1].path, FILE);
    assert!(
        asked
            .iter()
            .all(|asked| asked.token.as_deref() == Some("Bearer hf_secret"))
    );
    client.progress.done.store(0, Ordering::Relaxed);
    client.succeed();
    assert_eq!(server.ranges(FILE), [None], "it is there");
}

#[test]
fn what_was_broken_off_goes_on_where_it_ended() {
    let server = hub_with(|asked, _, bytes| whole(asked, bytes));
    let client = Client::new(&server);
    fs::write(client.part(), &bytes()[..300_000]).unwrap();
    client.succeed();
    assert_eq!(server.ranges(FILE), [Some(300_000)]);
}

#[test]
fn a_short_body_and_a_stall_are_asked_for_again() {
    let server = hub_with(|asked, before, bytes| Reply {
        sent: [Some(200_000), Some(100_000)].get(before).copied().flatten(),
        stalls: before == 1,
        ..whole(asked, bytes)
    });
    let client = Client::new(&server);
    client.succeed();
    assert_eq!(server.ranges(FILE), [None, Some(200_000), Some(300_000)]);
    assert_eq!(client.waits(), [1, 1], "whenever something came, patience is new");
}

#[test]
fn a_server_without_ranges_begins_anew() {
    let server = hub_with(|_, _, bytes| whole(&Asked::default(), bytes));
    let client = Client::new(&server);
    fs::write(client.part(), b"something else").unwrap();
    client.succeed();
}

#[test]
fn a_range_that_is_refused_begins_anew() {
    let server = hub_with(|asked, _, bytes| match asked.from {
        Some(_) => Reply::of(416),
        None => whole(asked, bytes),
    });
    let client = Client::new(&server);
    fs::write(client.part(), b"something else").unwrap();
    client.succeed();
    assert_eq!(server.ranges(FILE), [Some(14), None]);
    // More than there can be is asked for no more.
    let client = Client::new(&server);
    fs::write(client.part(), [bytes(), vec![1]].concat()).unwrap();
    client.succeed();
}

#[test]
fn who_may_not_read_is_told_why() {
    for (status, words) in [
        (
            401,
            "the hub does not let 'ada/owl' be read: accept its conditions on its page",
        ),
        (403, "the hub does not let 'ada/owl' be read"),
        (404, "there is no 'ada/owl' on the hub"),
        (410, "the hub answers with the error 410"),
    ] {
        let server = hub_with(move |_, _, _| Reply::of(status));
        let client = Client::new(&server);
        let said = client.fail();
        assert!(said.starts_with(words), "{said}");
        assert!(!said.contains("hf_secret"));
        assert!(client.waits().is_empty(), "it would be the same again");
    }
}

#[test]
fn a_hub_that_wants_to_be_asked_later_is() {
    let server = hub_with(|asked, before, bytes| match before {
        0 => Reply::of(429).with("Retry-After: 7"),
        1 => Reply::of(503),
        _ => whole(asked, bytes),
    });
    let client = Client::new(&server);
    client.succeed();
    assert_eq!(client.waits(), [7, 2]);

    let server = hub_with(|_, _, _| Reply::of(429).with("Retry-After: 90000"));
    let client = Client::new(&server);
    assert_eq!(client.fail(), "the hub is asked too often: try again later");
    assert_eq!(client.waits(), [300, 300], "not for a day");

    let server = hub_with(|_, _, _| Reply::of(500));
    let client = Client::new(&server);
    assert_eq!(client.fail(), "the hub answers with the error 500: try again later");
    assert_eq!(client.waits(), [1, 2]);
}

#[test]
fn the_token_goes_to_no_other_host() {
    let store = Server::start(|asked, _| whole(asked, &bytes()));
    let port = store.address.rsplit(':').next().unwrap().to_owned();
    let server = hub_with(move |_, _, _| Reply::of(302).with(&format!("Location: http://localhost:{port}/blob?x=1")));
    let client = Client::new(&server);
    fs::write(client.part(), &bytes()[..1000]).unwrap();
    client.succeed();
    let asked = Asked {
        path: "/blob?x=1".to_owned(),
        from: Some(1000),
        token: None,
    };
    assert_eq!(store.asked(), [asked], "the range goes along, and the token does not");
    assert!(server.asked().iter().all(|asked| asked.token.is_some()));
}

#[test]
fn what_came_damaged_is_not_kept() {
    let server = hub_with(|asked, _, bytes| {
        let mut bytes = bytes.to_vec();
        bytes[5] ^= 1;
        whole(asked, &bytes)
    });
    let client = Client::new(&server);
    let words = "'owl-Q4_K_M.gguf' came damaged: its SHA-256 is not what the hub records";
    assert!(client.fail().starts_with(words));
    assert_eq!(fs::read_dir(client.folder.path()).unwrap().count(), 0);

    let server = hub_with(|asked, _, bytes| whole(asked, &[bytes, &[0]].concat()));
    let client = Client::new(&server);
    assert!(client.fail().contains("its length is not what the hub records"));
    assert_eq!(fs::read_dir(client.folder.path()).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let server = hub_with(|asked, _, bytes| whole(asked, bytes));
    let client = Client::new(&server);
    std::os::unix::fs::symlink("/dev/full", client.part()).unwrap();
    let said = client.fail();
    assert!(
        said.starts_with("the disk is full at '") && said.contains(": 684 KiB are still missing"),
        "{said}"
    );
}

#[test]
fn whoever_stops_it_finds_what_came() {
    let stop = Arc::new(Mutex::new(None::<Arc<Progress>>));
    let seen = Arc::clone(&stop);
    let server = hub_with(move |asked, before, bytes| {
        if before == 0 {
            // The rest never comes: it is stopped by then.
            seen.lock().unwrap().as_ref().unwrap().set_stopped(true);
        }
        whole(asked, bytes)
    });
    let client = Client::new(&server);
    fs::write(client.part(), &bytes()[..5000]).unwrap();
    *stop.lock().unwrap() = Some(Arc::clone(&client.progress));
    assert_eq!(
        client.fail(),
        "stopped: what came so far is kept, and the same command goes on from there"
    );
    assert_eq!(fs::metadata(client.part()).unwrap().len(), 5000);
    client.progress.set_stopped(false);
    client.progress.done.store(0, Ordering::Relaxed);
    client.succeed();
}

#[test]
fn two_do_not_fetch_the_same() {
    let server = hub_with(|asked, _, bytes| whole(asked, bytes));
    let client = Client::new(&server);
    let other = fs::File::create(client.part()).unwrap();
    other.lock().unwrap();
    assert_eq!(
        client.fail(),
        "another quipu is fetching 'owl-Q4_K_M.gguf': wait for it, or stop it there"
    );
    drop(other);
    client.progress.set_stopped(false);
    client.succeed();
}

#[test]
fn the_parts_of_a_model_come_at_once() {
    let both = Barrier::new(2);
    let server = Server::start(move |asked, _| {
        let part = |n: usize| format!("owl-Q4_K_M-0000{n}-of-00002.gguf");
        if asked.path.starts_with("/api/") {
            let file = |n: usize| serde_json::json!({"rfilename": format!("Q4/{}", part(n)), "size": 3 * n});
            let body = serde_json::json!({"siblings": [file(2), file(1)]});
            return Reply {
                body: body.to_string().into_bytes(),
                ..Reply::of(200)
            };
        }
        // Each waits until the other is asked for.
        both.wait();
        let n = if asked.path.ends_with(&part(1)) { 1 } else { 2 };
        whole(asked, &vec![n as u8; 3 * n])
    });
    let client = Client::new(&server);
    let path = client.fetch().unwrap();
    assert_eq!(path, client.folder.path().join("owl-Q4_K_M-00001-of-00002.gguf"));
    assert_eq!(fs::read(&path).unwrap(), [1; 3]);
    assert_eq!(fs::read_dir(client.folder.path()).unwrap().count(), 2);
    assert_eq!(
        server.ranges("/ada/owl/resolve/main/Q4/owl-Q4_K_M-00001-of-00002.gguf"),
        [None]
    );
}

#[test]
fn who_is_offline_asks_nobody() {
    let server = hub_with(|asked, _, bytes| whole(asked, bytes));
    let mut client = Client::new(&server);
    client.hub.options.offline = true;
    assert!(client.fail().starts_with("quipu is offline"));
    assert_eq!(server.asked(), []);
}

#[test]
fn nonsense_is_told_of() {
    let server = Server::start(|_, _| Reply {
        body: b"<html>".to_vec(),
        ..Reply::of(200)
    });
    let said = Client::new(&server).fail();
    assert!(
        said.starts_with("what the hub tells of 'ada/owl' makes no sense"),
        "{said}"
    );
    let gone = Server {
        address: "127.0.0.1:1".to_owned(),
        asked: Arc::default(),
    };
    assert!(Client::new(&gone).fail().starts_with("the hub cannot be reached ("));
}

#[test]
fn names_of_repositories_are_read_and_others_refused() {
    for (text, repo, quant) in [
        ("ada/owl", "ada/owl", None),
        ("ada/owl:Q8_0", "ada/owl", Some("Q8_0")),
        ("https://huggingface.co/ada/owl-GGUF", "ada/owl-GGUF", None),
        ("hf.co/ada/owl:iq4_xs", "ada/owl", Some("iq4_xs")),
    ] {
        let name = RepoName::read(text).unwrap();
        assert_eq!((name.repo.as_str(), name.quant.as_deref()), (repo, quant));
    }
    for text in [
        "owl",
        "a/b/c",
        "../owl",
        "ada/owl?x",
        "ada/ow l",
        "/owl",
        "ada/:Q4",
        "ada/owl:",
    ] {
        let said = RepoName::read(text).unwrap_err().to_string();
        assert!(said.starts_with(&format!("'{text}' is no repository")), "{said}");
    }
}
