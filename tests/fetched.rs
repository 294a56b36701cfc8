//! Ring 6: fetching models, through the whole program: `quipu pull` killed in its middle and behind a proxy, `/download` in the chat.

#[cfg(feature = "llama")]
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

#[cfg(feature = "llama")]
use pretty_assertions::assert_eq;

use crate::harness::Harness;
#[cfg(feature = "llama")]
use crate::hub::Hub;

#[cfg(feature = "llama")]
fn pull(home: &Path, hub: &str, proxy: Option<&str>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command
        .args(["pull", "ada/owl"])
        .env("HOME", home)
        .env("QUIPU_HOME", home.join("quipu"))
        .env("HF_ENDPOINT", hub)
        .envs(proxy.map(|proxy| ("ALL_PROXY", proxy)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[cfg(feature = "llama")]
fn said(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[cfg(feature = "llama")]
#[test]
fn what_was_killed_goes_on_where_it_was() {
    // Far more than the system holds between two programs: when half of it is sent, most of that was read.
    const SIZE: usize = 64 << 20;
    let home = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..SIZE).map(|i| (i % 251) as u8).collect();
    let hub = Hub::start(bytes.clone(), Some(SIZE / 2));
    let address = format!("http://{}", hub.address);
    let mut first = pull(home.path(), &address, None);
    hub.broken.recv().unwrap();
    // SIGKILL: nothing can be put in order.
    first.kill().unwrap();
    first.wait().unwrap();
    let folder = home.path().join("quipu/data/models/ada/owl");
    let parts: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    let have = fs::metadata(&parts[0]).unwrap().len() as usize;
    assert_eq!((parts.len(), parts[0].extension().unwrap().to_str()), (1, Some("part")));
    assert!(have > 0 && have <= SIZE / 2, "{have}");

    let (code, text) = said(pull(home.path(), &address, None));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("'owl-Q8_0' is here, 64 MiB"), "{text}");
    let asked = hub.asked();
    assert_eq!(asked.last().unwrap().from, Some(have), "{asked:?}");
    assert!(fs::read(folder.join("owl-Q8_0.gguf")).unwrap() == bytes, "other bytes");
    assert!(!parts[0].exists());
}

#[cfg(feature = "llama")]
#[test]
fn a_proxy_is_asked_where_the_environment_names_one() {
    let home = tempfile::tempdir().unwrap();
    let proxy = Hub::start(b"GGUF and so on".to_vec(), None);
    // No such host: only the proxy can know it.
    let through = format!("http://{}", proxy.address);
    let (code, text) = said(pull(home.path(), "http://hub.invalid", Some(&through)));
    assert_eq!(code, Some(0), "{text}");
    let asked = proxy.asked();
    let wanted: Vec<_> = asked
        .iter()
        .filter(|asked| asked.line.starts_with("CONNECT "))
        .collect();
    assert_eq!(wanted.len(), 2, "{asked:?}");
    assert!(wanted[0].line.contains("hub.invalid:80"), "{asked:?}");
}

#[test]
fn a_model_is_fetched_while_one_talks() {
    let mut chat = Harness::new("[[answer]]\ntext = \"Hello.\"\n");
    chat.press("/download ada/condor<enter>");
    chat.until_shown("'ada/condor' is here, 4.0 MiB: /model ada/condor loads it");
    // One that never ends shows how far it is, lets one talk, and can be stopped.
    chat.press("/download ada/endless<enter>");
    chat.until_shown("↓ ada/endless 25 % · 1.0 MiB/s · 3 s");
    chat.press("Hi<enter>");
    chat.until_said(|text| text == "Hello.").shows("↓ ");
    chat.press("/download stop<enter>");
    chat.until_shown("stopped; what came is kept: /download ada/endless goes on");
    chat.until_gone("↓ ");
}
