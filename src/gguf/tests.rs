//! The reader against sound, broken, cut and mutated files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[path = "../../tests/support/gguf.rs"]
pub(crate) mod file;

use file::{Gguf, Meta, sound, text, texts};

/// The built-in model, a real file.
const CRIA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/cria/cria-q8_0.gguf");

fn parse(bytes: &[u8]) -> Result<Header, Fault> {
    Header::parse(bytes, bytes.len() as u64, Path::new("test.gguf"))
}

fn fault(bytes: &[u8]) -> Fault {
    parse(bytes).unwrap_err()
}

/// The words for the file that `change` makes of a sound one.
fn words(change: impl FnOnce(&mut Gguf)) -> String {
    let mut file = sound();
    change(&mut file);
    fault(&file.bytes()).to_string()
}

/// Writes `bytes` into a folder that lives as long as the guard.
fn stored(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    (folder, path)
}

#[test]
fn a_sound_file_is_read_completely() {
    let header = parse(&sound().bytes()).unwrap();
    assert_eq!(header.version, 3);
    assert_eq!(header.alignment, 32);
    assert_eq!(header.metadata.architecture(), Some("llama"));
    assert_eq!(header.metadata.own_u64("block_count"), Some(1));
    assert_eq!(header.metadata.f64("llama.rope.freq_base"), Some(10_000.0));
    assert_eq!(header.metadata.tokens().collect::<Vec<_>>()[5], b"ab");
    assert_eq!(header.metadata.array_len("tokenizer.ggml.token_type"), Some(8));
    assert_eq!(header.tensors.len(), 3);
    let table = &header.tensors[0];
    assert_eq!(
        (table.name.as_str(), table.dims, table.bytes),
        ("token_embd.weight", [32, 8, 1, 1], 512)
    );
    assert_eq!(header.tensors[1].offset, 512);
}

#[test]
fn a_file_reads_the_same_however_little_of_it_is_at_hand() {
    let sound = sound().bytes();
    let mut damaged = sound.clone();
    // The last byte of the length of the token 'ab'.
    let at = damaged.windows(3).position(|bytes| bytes == b"\0ab").unwrap();
    damaged[at] = 0xff;
    for bytes in [&sound, &damaged, &sound[..at + 2].to_vec()] {
        let whole = parse(bytes).map_err(|fault| fault.to_string());
        for at_hand in 1..64 {
            let input = std::io::BufReader::with_capacity(at_hand, bytes.as_slice());
            let header = Header::parse(input, bytes.len() as u64, Path::new("test.gguf"));
            assert_eq!(header.map_err(|fault| fault.to_string()), whole, "{at_hand} bytes");
        }
    }
}

#[test]
fn version_2_is_read_too() {
    let mut file = sound();
    file.version = 2;
    assert_eq!(parse(&file.bytes()).unwrap().version, 2);
}

#[test]
fn every_value_type_keeps_its_type_and_value() {
    let raw: [(u32, Vec<u8>, Value); 6] = [
        (1, vec![0xff], Value::I8(-1)),
        (3, vec![0xfe, 0xff], Value::I16(-2)),
        (7, vec![2], Value::Bool(true)),
        (11, (-3_i64).to_le_bytes().to_vec(), Value::I64(-3)),
        (12, 0.5_f64.to_le_bytes().to_vec(), Value::F64(0.5)),
        (10, u64::MAX.to_le_bytes().to_vec(), Value::U64(u64::MAX)),
    ];
    let mut file = sound();
    for (kind, bytes, _) in &raw {
        file.set(&format!("x.{kind}"), Meta::Raw(*kind, bytes.clone()));
    }
    let header = parse(&file.bytes()).unwrap();
    for (kind, _, value) in raw {
        assert_eq!(header.metadata.get(&format!("x.{kind}")), Some(&value));
        assert_eq!(ValueType::from_id(kind), Some(value.value_type()));
    }
    assert_eq!(header.metadata.u64("x.1"), None, "a negative number is no u64");
}

#[test]
fn a_file_cut_anywhere_is_called_cut() {
    let bytes = sound().bytes();
    for length in 1..bytes.len() {
        let fault = fault(&bytes[..length]);
        assert!(
            matches!(fault, Fault::Truncated { present, .. } if present == length as u64),
            "{length}: {fault}"
        );
    }
    assert!(matches!(fault(&[]), Fault::Empty));
    let message = |length: usize| fault(&bytes[..length]).to_string();
    let whole = bytes.len();
    assert_eq!(
        message(whole - 1),
        "is cut short: 1 B of its 2.0 KiB are missing; download it again"
    );
    assert_eq!(
        message(whole - 300),
        "is cut short: 1.7 KiB are there and 2.0 KiB should be; download it again"
    );
}

#[test]
fn other_kinds_of_files_are_recognised() {
    let mut safetensors = 1000_u64.to_le_bytes().to_vec();
    safetensors.extend(b"{\"weight\":{}}");
    let cases: [(&[u8], Foreign); 9] = [
        (b"\n <!DOCTYPE html><html>", Foreign::WebPage),
        (b"version https://git-lfs.github.com/spec/v1\n", Foreign::LfsPointer),
        (b"PK\x03\x04zip", Foreign::Zip),
        (b"\x80\x02}q\x00", Foreign::Pickle),
        (&safetensors, Foreign::Safetensors),
        (b"\x1f\x8b\x08", Foreign::Compressed),
        (b"{\"error\":\"not found\"}", Foreign::Json),
        (b"tjgg\x03\x00", Foreign::OldGgml),
        (&[0; 100], Foreign::Zeros),
    ];
    for (bytes, foreign) in cases {
        assert!(
            matches!(fault(bytes), Fault::Foreign(found) if found == foreign),
            "{foreign:?}"
        );
    }
    assert!(matches!(fault(b"hello"), Fault::Foreign(Foreign::Unknown)));
}

#[test]
fn versions_of_the_past_and_future_are_told_apart() {
    let with = |version: u32| {
        let mut file = sound();
        file.version = version;
        fault(&file.bytes())
    };
    assert!(matches!(with(1), Fault::OldVersion(1)));
    assert!(matches!(with(4), Fault::NewVersion(4)));
    assert!(matches!(with(3_u32.swap_bytes()), Fault::BigEndian));
}

#[test]
fn contradictions_in_the_header_are_named() {
    insta::assert_snapshot!([
        words(|file| file.tensor_count = Some(1 << 40)),
        words(|file| file.pair_count = Some(u64::MAX)),
        words(|file| file.pairs.push(("general.name".into(), text("again")))),
        words(|file| file.pairs.push((String::new(), text("nameless")))),
        words(|file| { file.set("x", Meta::Raw(99, Vec::new())); }),
        words(|file| { file.set("x", Meta::Raw(9, [9_u32.to_le_bytes(), [0; 4], [0; 4]].concat())); }),
        words(|file| { file.set("x", Meta::Raw(8, u64::MAX.to_le_bytes().to_vec())); }),
        words(|file| { file.set("x", Meta::Raw(9, [&8_u32.to_le_bytes()[..], &u64::MAX.to_le_bytes()].concat())); }),
        words(|file| { file.set("general.alignment", Meta::U32(48)); }),
        words(|file| { file.set("general.alignment", Meta::U32(1 << 21)); }),
        words(|file| { file.set("general.alignment", Meta::U64(32)); }),
    ]
    .join("\n"), @r#"
    has a damaged header: it would have 1099511627776 tensors; download it again, or get another copy
    has a damaged header: it would have 18446744073709551615 key-value pairs; download it again, or get another copy
    has a damaged header: key 'general.name' is there twice; download it again, or get another copy
    has a damaged header: a key is empty; download it again, or get another copy
    has a damaged header: key 'x' has a value of unknown type 99; download it again, or get another copy
    has a damaged header: the array 'x' holds arrays; download it again, or get another copy
    has a damaged header: a text would be 18446744073709551615 bytes long; download it again, or get another copy
    has a damaged header: an array would take 18446744073709551615 items; download it again, or get another copy
    has a damaged header: 'general.alignment' is not a power of two of at most 1 MiB; download it again, or get another copy
    has a damaged header: 'general.alignment' is not a power of two of at most 1 MiB; download it again, or get another copy
    has a damaged header: 'general.alignment' is not a power of two of at most 1 MiB; download it again, or get another copy
    "#);
}

#[test]
fn contradictions_in_tensors_are_named() {
    insta::assert_snapshot!([
        words(|file| { file.ones("output_norm.weight", &[32]); }),
        words(|file| file.tensor("output_norm.weight").name = "x".repeat(64)),
        words(|file| file.tensor("output_norm.weight").dims = vec![1; 5]),
        words(|file| file.tensor("output_norm.weight").dims = vec![32, 0]),
        words(|file| file.tensor("output_norm.weight").dims = vec![1 << 40, 1 << 40]),
        words(|file| file.tensor("output_norm.weight").dims = vec![u64::MAX]),
        words(|file| {
            let norm = file.tensor("output_norm.weight");
            (norm.kind, norm.dims) = (8, vec![31]);
        }),
        words(|file| file.tensor("output_norm.weight").kind = 4),
        words(|file| file.tensor("output_norm.weight").kind = 77),
        words(|file| file.tensor("output_norm.weight").offset = Some(1 << 40)),
        words(|file| file.tensor("output_norm.weight").offset = Some(513)),
        words(|file| file.tensor("token_embd.weight").dims = vec![32, 1 << 50]),
    ]
    .join("\n"), @r#"
    has a damaged header: tensor 'output_norm.weight' is there twice; download it again, or get another copy
    has a damaged header: a tensor's name would be 64 bytes long; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' would have 5 dimensions; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' has no elements; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' has more elements than can be counted; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' has more elements than can be counted; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' has rows that are no whole blocks of Q8_0; download it again, or get another copy
    cannot be used: tensor 'output_norm.weight' has number format 4, which llama.cpp gave up; get another conversion of the model
    needs number format 77 for tensor 'output_norm.weight', which this quipu does not know; a newer quipu may
    has a damaged header: tensor 'output_norm.weight' does not begin where the one before it ends; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' does not begin where the one before it ends; download it again, or get another copy
    has a damaged header: tensor 'output_norm.weight' does not begin where the one before it ends; download it again, or get another copy
    "#);
}

#[test]
fn names_in_messages_cannot_speak_to_the_terminal() {
    let message = words(|file| {
        file.set("evil\u{1b}[2J\u{202e}key", Meta::Raw(99, Vec::new()));
    });
    assert!(message.contains(r"'evil\u{1b}[2J\u{202e}key'"), "{message}");
}

#[test]
fn paths_that_are_no_model_files_have_words_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| Header::read(&folder.path().join(name)).unwrap_err().fault;
    assert!(matches!(read("missing.gguf"), Fault::Missing));
    assert!(matches!(read("."), Fault::Folder));
    std::fs::write(folder.path().join("empty.gguf"), []).unwrap();
    assert!(matches!(read("empty.gguf"), Fault::Empty));
    assert!(matches!(read("empty.gguf/inside"), Fault::Unreadable(_)));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_its_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    assert!(matches!(
        Header::read(&path).unwrap_err().fault,
        Fault::Special("a pipe")
    ));
}

#[test]
fn the_built_in_model_is_read_and_passes() {
    let model = ModelFile::open(Path::new(CRIA)).unwrap();
    model.check().unwrap();
    assert!(!model.is_vocab_only());
    assert_eq!(
        model.header().data_offset + model.tensors().map(|tensor| tensor.bytes).sum::<u64>(),
        model.file_bytes()
    );
    insta::assert_debug_snapshot!(model.summary(), @r#"
    Summary {
        name: "cria",
        architecture: "llama",
        parameters: 7344384,
        quantization: "Q8_0",
        file_bytes: 7942976,
        context_train: Some(
            1024,
        ),
        layers: Some(
            8,
        ),
        embedding: Some(
            256,
        ),
        heads: Some(
            8,
        ),
        kv_heads: Some(
            4,
        ),
        experts: None,
        vocabulary: 4096,
        has_template: true,
        licence: Some(
            "MIT OR Apache-2.0",
        ),
        sampling: RecommendedSampling {
            sequence: None,
            temperature: None,
            top_k: None,
            top_p: None,
            min_p: None,
            xtc_probability: None,
            xtc_threshold: None,
            penalty_last_n: None,
            penalty_repeat: None,
            mirostat: None,
            mirostat_tau: None,
            mirostat_eta: None,
        },
    }
    "#);
}

#[test]
fn a_working_model_made_for_tests_passes() {
    let (_folder, path) = stored("tiny.gguf", &file::tiny_qwen2(Path::new(CRIA), 64, 1).bytes());
    let model = ModelFile::open(&path).unwrap();
    model.check().unwrap();
    assert_eq!(model.summary().vocabulary, 4096 + 64);
    assert_eq!(model.metadata().tokens().last(), Some(&b"[PAD4159]"[..]));
    assert_eq!(model.summary().quantization, "F16");
}

#[test]
fn a_fingerprint_follows_the_header_the_length_and_the_weights() {
    let print = |bytes: &[u8]| {
        let (_folder, path) = stored("model.gguf", bytes);
        ModelFile::open(&path).unwrap().fingerprint().unwrap()
    };
    let bytes = sound().bytes();
    let same = print(&bytes);
    assert_eq!(same, print(&bytes));
    assert_eq!(same.len(), 64);
    let mut renamed = sound();
    renamed.set("general.name", text("Tinz"));
    assert_ne!(same, print(&renamed.bytes()));
    let mut retrained = bytes.clone();
    *retrained.last_mut().unwrap() ^= 1;
    assert_ne!(same, print(&retrained));
    assert_ne!(same, print(&[&bytes[..], &[0; 32]].concat()));
}

/// A model in `total` parts, one tensor in each.
fn parts(total: u16) -> Vec<Gguf> {
    let whole = sound();
    (0..total)
        .map(|number| {
            let mut part = if number == 0 { whole.clone() } else { Gguf::new() };
            part.tensors = vec![whole.tensors[usize::from(number)].clone()];
            part.set("split.no", Meta::U16(number))
                .set("split.count", Meta::U16(total))
                .set("split.tensors.count", Meta::I32(i32::from(total)));
            part
        })
        .collect()
}

fn store_parts(parts: &[Gguf]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (1..=parts.len())
        .map(|number| folder.path().join(format!("m-{number:05}-of-{:05}.gguf", parts.len())))
        .collect();
    for (part, path) in parts.iter().zip(&paths) {
        part.write(path);
    }
    (folder, paths)
}

#[test]
fn a_model_in_parts_opens_by_any_of_them() {
    let (_folder, paths) = store_parts(&parts(3));
    for named in &paths {
        let model = ModelFile::open(named).unwrap();
        model.check().unwrap();
        assert_eq!(model.path(), paths[0]);
        assert_eq!(model.tensors().count(), 3);
        assert_eq!(
            model.headers().map(|header| header.file_bytes).sum::<u64>(),
            model.file_bytes()
        );
    }
}

#[test]
fn faults_of_parts_say_which() {
    let opened = |named: &Path| ModelFile::open(named).unwrap_err().to_string();
    let place =
        |message: String, folder: &tempfile::TempDir| message.replace(&folder.path().display().to_string(), "DIR");

    let (folder, paths) = store_parts(&parts(3));
    std::fs::remove_file(&paths[1]).unwrap();
    let missing = place(opened(&paths[0]), &folder);
    std::fs::write(&paths[1], []).unwrap();
    let empty = place(opened(&paths[0]), &folder);
    let renamed = folder.path().join("model.gguf");
    std::fs::rename(&paths[0], &renamed).unwrap();
    let misnamed = place(opened(&renamed), &folder);

    let mut shuffled = parts(3);
    shuffled.swap(1, 2);
    let (folder, paths) = store_parts(&shuffled);
    let swapped = place(opened(&paths[0]), &folder);

    let mut wide = parts(3);
    wide[1].set("split.no", Meta::U32(1));
    let (folder, paths) = store_parts(&wide);
    let typed = place(opened(&paths[0]), &folder);

    let mut twice = parts(3);
    twice[2].tensors = twice[1].tensors.clone();
    let (folder, paths) = store_parts(&twice);
    let doubled = place(opened(&paths[0]), &folder);

    insta::assert_snapshot!([missing, empty, misnamed, swapped, typed, doubled].join("\n"), @r#"
    model file 'DIR/m-00001-of-00003.gguf' is one of 3 parts, and 'm-00002-of-00003.gguf' is not beside it; put all 3 into one folder
    model file 'DIR/m-00002-of-00003.gguf' is empty; download it again
    model file 'DIR/model.gguf' is one of 3 parts of a model; give every part its name of the form 'NAME-00001-of-00003.gguf'
    model file 'DIR/m-00002-of-00003.gguf' cannot be used: its name says that it is part 2 of 3 and its header says otherwise; get another conversion of the model
    model file 'DIR/m-00002-of-00003.gguf' cannot be used: its name says that it is part 2 of 3 and its header says otherwise; get another conversion of the model
    model file 'DIR/m-00001-of-00003.gguf' cannot be used: two of its parts hold the same tensor; get another conversion of the model
    "#);
}

/// How a mutated file may end: read, or refused. Anything read is judged, summed up and measured too.
fn survive(bytes: &[u8]) {
    let Ok(header) = parse(bytes) else { return };
    let model = ModelFile::of_header(header);
    let _ = model.check();
    let _ = model.summary();
    let footprint = model.footprint();
    let _ = footprint.max_context(1 << 34);
    let _ = footprint.kv_bytes(u32::MAX);
}

#[test]
fn no_byte_of_a_header_can_be_changed_into_a_crash() {
    let bytes = sound().bytes();
    let header = sound().header_bytes().len();
    for place in 0..header {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[place] ^ 1, bytes[place].wrapping_add(1)] {
            let mut mutated = bytes.clone();
            mutated[place] = value;
            survive(&mutated);
        }
    }
}

proptest! {
    #[test]
    fn no_run_of_bytes_can_be_changed_into_a_crash(
        place in 0_usize..2000,
        patch in proptest::collection::vec(any::<u8>(), 1..16),
    ) {
        let mut bytes = sound().bytes();
        let place = place % bytes.len();
        let end = (place + patch.len()).min(bytes.len());
        bytes[place..end].copy_from_slice(&patch[..end - place]);
        survive(&bytes);
    }

    #[test]
    fn any_bytes_after_the_magic_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        survive(&[&b"GGUF\x03\x00\x00\x00"[..], &bytes].concat());
    }

    #[test]
    fn any_number_for_any_key_is_survived(key in 0_usize..20, number: u32, kind in 0_u32..14) {
        let mut file = sound();
        let key = file.pairs[key % file.pairs.len()].0.clone();
        file.set(&key, Meta::U32(number));
        survive(&file.bytes());
        let raw = [&number.to_le_bytes()[..], &[0; 16]].concat();
        file.set(&key, Meta::Raw(kind, raw));
        survive(&file.bytes());
    }
}

#[test]
fn a_vocabulary_alone_is_told_from_a_model() {
    let mut file = sound();
    file.tensors.clear();
    let model = ModelFile::of_header(parse(&file.bytes()).unwrap());
    assert!(model.is_vocab_only());
    assert!(matches!(
        model.check().unwrap_err().fault,
        Fault::NotForChat(Purpose::Vocabulary)
    ));
}

#[test]
fn a_summary_falls_back_where_the_file_is_silent() {
    let mut file = sound();
    file.remove("general.name")
        .set("tokenizer.chat_template", Meta::U32(1))
        .set("general.sampling.temp", Meta::F32(f32::NAN))
        .set("general.sampling.top_k", Meta::I32(40));
    let summary = ModelFile::of_header(parse(&file.bytes()).unwrap()).summary();
    assert_eq!(summary.name, "test");
    assert_eq!(summary.quantization, "F16");
    assert!(!summary.has_template);
    assert_eq!(summary.sampling.temperature, None);
    assert_eq!(summary.sampling.top_k, Some(40));
}

#[test]
fn many_tokens_are_read() {
    let tokens: Vec<Vec<u8>> = (0..152_000).map(|index| format!("token{index}").into_bytes()).collect();
    let mut file = sound();
    file.set("tokenizer.ggml.tokens", Meta::Texts(tokens.clone()))
        .set("tokenizer.ggml.merges", texts(&["a b"; 1000]));
    let header = parse(&file.bytes()).unwrap();
    assert!(header.metadata.tokens().eq(tokens.iter().map(Vec::as_slice)));
}
