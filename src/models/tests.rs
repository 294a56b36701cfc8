//! Unpacking the built-in model and finding others, with real files in temporary folders.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use pretty_assertions::assert_eq;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::builtin::{SHA256, unpack_bytes};
use super::*;
use crate::gguf::tests::file::{Meta, sound, text};
use crate::gguf::{Fault, Purpose};

/// A folder with a subfolder `cache` that does not exist yet.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("state").join("cache");
    (folder, cache)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The words for a model that cannot be had, with the temporary folder's name left out.
fn words(folder: &TempDir, path: &Path) -> String {
    let error = resolve(Some(path), &Places::only(&folder.path().join("cache"))).unwrap_err();
    error.to_string().replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn the_embedded_model_has_its_checksum() {
    let (_folder, cache) = place();
    let bytes = fs::read(unpack(&cache).unwrap()).unwrap();
    let mut found = String::new();
    for byte in Sha256::digest(&bytes) {
        write!(found, "{byte:02x}").unwrap();
    }
    assert_eq!(found, SHA256);
}

#[test]
fn nothing_and_cria_mean_the_built_in_model() {
    let (_folder, cache) = place();
    for name in [None, Some(Path::new("cria"))] {
        let model = resolve(name, &Places::only(&cache)).unwrap();
        assert_eq!(model.name, "cria");
        assert!(model.is_builtin());
        assert_eq!(model.notice, None);
        assert_eq!(model.path().parent(), Some(cache.as_path()));
        assert_eq!(model.file.summary().context_train, Some(1024));
    }
}

#[cfg(unix)]
#[test]
fn the_cache_folder_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, cache) = place();
    unpack(&cache).unwrap();
    assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn an_unpacked_model_is_used_again() {
    let (_folder, cache) = place();
    let path = unpack_bytes(&cache, b"model").unwrap();
    let before = fs::metadata(&path).unwrap();
    assert_eq!(unpack_bytes(&cache, b"model").unwrap(), path);
    // Without the note the contents are compared, and the note is written anew.
    let stamp = path.with_extension("stamp");
    let noted = fs::read(&stamp).unwrap();
    fs::remove_file(&stamp).unwrap();
    unpack_bytes(&cache, b"model").unwrap();
    assert_eq!(fs::read(&stamp).unwrap(), noted);
    assert_eq!(
        fs::metadata(&path).unwrap().modified().unwrap(),
        before.modified().unwrap()
    );
    assert_eq!(names(&cache).len(), 2, "no temporary file is left behind");
}

#[test]
fn a_damaged_model_is_replaced() {
    let (_folder, cache) = place();
    let path = unpack_bytes(&cache, b"model").unwrap();
    for damaged in [&b"modem"[..], b"mod", b"", b"model and more"] {
        fs::write(&path, damaged).unwrap();
        // Writing within the clock's resolution may leave the time of change as it was; a real change does not.
        let earlier = fs::File::options().write(true).open(&path).unwrap();
        earlier.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(unpack_bytes(&cache, b"model").unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"model", "after {damaged:?}");
    }
}

#[test]
fn a_note_that_makes_no_sense_is_replaced() {
    let (_folder, cache) = place();
    let path = unpack_bytes(&cache, b"model").unwrap();
    let stamp = path.with_extension("stamp");
    let noted = fs::read(&stamp).unwrap();
    fs::write(&stamp, b"\xff\x00nonsense").unwrap();
    unpack_bytes(&cache, b"model").unwrap();
    assert_eq!(fs::read(&stamp).unwrap(), noted);
}

#[test]
fn many_at_once_all_end_well() {
    let (_folder, cache) = place();
    let model = vec![7; 1 << 20];
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let path = unpack_bytes(&cache, &model).unwrap();
                assert_eq!(fs::read(path).unwrap(), model);
            });
        }
    });
    assert_eq!(names(&cache).len(), 2, "no temporary file is left behind");
}

#[test]
fn an_unusable_cache_folder_is_named_and_got_around() {
    let folder = tempfile::tempdir().unwrap();
    // A file stands where the folder should be; permissions would not stop a test that runs as root.
    let cache = folder.path().join("cache");
    fs::write(&cache, "in the way").unwrap();
    let error = unpack(&cache).unwrap_err();
    assert!(matches!(&error, ModelError::Cache { folder, .. } if *folder == cache));
    let message = error.to_string();
    assert!(
        message.contains(&*cache.display().to_string()) && message.contains("make that folder writable"),
        "{message}"
    );

    let model = resolve(None, &Places::only(&cache)).unwrap();
    let notice = model.notice.clone().unwrap();
    assert!(notice.contains("a temporary copy is used"), "{notice}");
    let path = model.path().to_path_buf();
    assert!(path.exists());
    drop(model);
    assert!(!path.exists(), "the temporary copy goes with its model");
}

#[cfg(unix)]
#[test]
fn a_folder_in_the_place_of_the_file_is_named() {
    let (_folder, cache) = place();
    fs::create_dir_all(cache.join("cria-q8_0.gguf").join("full")).unwrap();
    assert!(matches!(unpack(&cache), Err(ModelError::Cache { .. })));
}

#[test]
fn a_path_means_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cria");
    sound().write(&path);
    let model = resolve(Some(&path), &Places::only(folder.path())).unwrap();
    assert_eq!((model.name.as_str(), model.is_builtin()), ("cria", false));
    assert_eq!(model.path(), path);
}

#[test]
fn missing_files_bring_names_alike() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["Qwen2.5-0.5B-Q8_0.gguf", "llama-3.2-1b-Q4_K_M.gguf", "notes.txt"] {
        fs::write(at(name), "x").unwrap();
    }
    insta::assert_snapshot!([
        words(&folder, &at("qwen2.5-0.5b-q8.gguf")),
        words(&folder, &at("llama-3.2-1b-Q4_K_M")),
        words(&folder, &at("zzz.gguf")),
        words(&folder, &at("crai")),
        words(&folder, &at("missing").join("model.gguf")),
    ]
    .join("\n"), @r#"
    no such model 'DIR/qwen2.5-0.5b-q8.gguf'; did you mean 'DIR/Qwen2.5-0.5B-Q8_0.gguf'
    no such model 'DIR/llama-3.2-1b-Q4_K_M'; did you mean 'DIR/llama-3.2-1b-Q4_K_M.gguf'
    no such model 'DIR/zzz.gguf'; give the path of a .gguf file, a name from 'quipu models', or 'cria' for the built-in model
    no such model 'DIR/crai'; did you mean 'cria'
    no such model 'DIR/missing/model.gguf'; give the path of a .gguf file, a name from 'quipu models', or 'cria' for the built-in model
    "#);
}

#[test]
fn a_folder_lists_its_models() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    fs::create_dir(&models).unwrap();
    let empty = words(&folder, &models);
    for name in [
        "b.gguf",
        "a.GGUF",
        "big-00001-of-00002.gguf",
        "big-00002-of-00002.gguf",
        "readme.md",
    ] {
        fs::write(models.join(name), "x").unwrap();
    }
    let some = words(&folder, &models);
    for number in 0..20 {
        fs::write(models.join(format!("many-{number:02}.gguf")), "x").unwrap();
    }
    let many = words(&folder, &models);
    insta::assert_snapshot!([empty, some, many].join("\n"), @r#"
    'DIR/models' is a folder; there is no .gguf file in it
    'DIR/models' is a folder; name one of the models in it: 'a.GGUF', 'b.gguf', 'big-00001-of-00002.gguf'
    'DIR/models' is a folder; name one of the models in it: 'a.GGUF', 'b.gguf', 'big-00001-of-00002.gguf', 'many-00.gguf', 'many-01.gguf', 'many-02.gguf', 'many-03.gguf', 'many-04.gguf', 'many-05.gguf', 'many-06.gguf' and 13 more
    "#);
}

#[test]
fn bad_files_are_told_with_their_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        words(&folder, &path)
    };
    let whole = sound().bytes();
    let changed = |key: &str, value: Meta| {
        let mut file = sound();
        file.set(key, value);
        file.bytes()
    };
    insta::assert_snapshot!([
        write("empty.gguf", b""),
        write("page.gguf", b"<!DOCTYPE html>"),
        write("half.gguf", &whole[..whole.len() / 2]),
        write("weightless.gguf", &whole[..whole.len() - 100]),
        write("arch.gguf", &changed("general.architecture", text("llama9"))),
        write("layers.gguf", &changed("llama.block_count", Meta::U32(0xff_ffff))),
        write("mmproj.gguf", &changed("general.architecture", text("clip"))),
    ]
    .join("\n"), @r#"
    model file 'DIR/empty.gguf' is empty; download it again
    model file 'DIR/page.gguf' is not a GGUF model: it is a web page; use the link that downloads the file itself
    model file 'DIR/half.gguf' is cut short: 1.0 KiB are there, which is less than its header; download it again
    model file 'DIR/weightless.gguf' is cut short: 1.9 KiB are there and 2.0 KiB should be; download it again
    model file 'DIR/arch.gguf' needs the architecture 'llama9', which this quipu does not know; a newer quipu may
    model file 'DIR/layers.gguf' cannot be used: 'llama.block_count' is 16777215, not in 1 to 512; get another conversion of the model
    model file 'DIR/mmproj.gguf' cannot chat: it is a projector (mmproj), the eyes or ears of another model; name that model itself
    "#);
}

#[test]
fn errors_can_be_told_apart() {
    let (folder, cache) = place();
    let path = folder.path().join("bert.gguf");
    let mut file = sound();
    file.set("general.architecture", text("bert")).write(&path);
    let error = resolve(Some(&path), &Places::only(&cache)).unwrap_err();
    assert!(matches!(
        error,
        ModelError::File(error) if matches!(error.fault, Fault::NotForChat(Purpose::Embedding)) && error.path == path
    ));
    assert!(matches!(
        resolve(Some(Path::new("")), &Places::only(&cache)),
        Err(ModelError::NotFound { .. })
    ));
    assert!(matches!(
        resolve(Some(folder.path()), &Places::only(&cache)),
        Err(ModelError::Folder { .. })
    ));
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"mod\xffel.gguf"));
    sound().write(&path);
    assert!(matches!(
        resolve(Some(&path), &Places::only(folder.path())),
        Err(ModelError::NotUtf8 { .. })
    ));
}
