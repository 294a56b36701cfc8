//! What models there are on this machine, and what each would take. Only headers are read; nothing is loaded, and nothing is written
//! but quipu's own notes.

use crate::domain::inference::LoadOptions;
use crate::domain::shelf::{Facts, Memory, Origin, Room, Shelf, Shelved};
use crate::gguf::Footprint;

use super::builtin::{BUILT_IN, unpack};
use super::found::{Found, found};
use super::notes::{self, Known, Notes};
use super::places::Places;
use super::resolve::Located;

/// The context that a model gets where it was trained with more, in tokens.
const USUAL_CONTEXT: u64 = 8192;

/// The models in these places, each once, by name, the built-in one first. A folder that cannot be read has none.
pub fn shelf(places: &Places, memory: Memory) -> Shelf {
    let mut notes = Notes::open(&places.cache);
    let files = found(places);
    notes.read_all(files.iter().map(|file| file.path.as_path()));
    let mut models: Vec<_> = files
        .into_iter()
        .map(|file| {
            let known = notes.of(&file.path);
            shelved(file, known, memory)
        })
        .collect();
    models.sort_by_cached_key(|model| model.label.to_lowercase());
    let known = match unpack(&places.cache) {
        Ok(path) => notes.of(&path),
        Err(error) => Known::Refused(error.to_string()),
    };
    notes.keep();
    models.insert(0, builtin(known, memory));
    Shelf { models, memory }
}

/// The model of a file that was located, whether or not it lies in one of the places. No other header is read.
pub fn shelved_at(located: &Located, places: &Places, memory: Memory) -> Shelved {
    let known = notes::look(located.path());
    if located.is_builtin() {
        return builtin(known, memory);
    }
    let real = located.path().canonicalize().ok();
    let mut all = found(places).into_iter();
    let file = all.find(|file| file.path.canonicalize().ok() == real);
    shelved(file.unwrap_or_else(|| Found::at(located.path())), known, memory)
}

fn builtin(known: Known, memory: Memory) -> Shelved {
    let (facts, room) = told(known, memory);
    Shelved {
        name: BUILT_IN.to_owned(),
        label: BUILT_IN.to_owned(),
        repo: None,
        origin: Origin::BuiltIn,
        facts,
        room,
    }
}

fn shelved(file: Found, known: Known, memory: Memory) -> Shelved {
    let (facts, room) = told(known, memory);
    Shelved {
        name: file.path.to_string_lossy().into_owned(),
        label: file.label,
        repo: file.repo,
        origin: file.origin,
        facts,
        room,
    }
}

fn told(known: Known, memory: Memory) -> (Result<Facts, String>, Room) {
    match known {
        Known::Model { facts, footprint } => {
            let room = room(&footprint, &facts, memory);
            (Ok(facts), room)
        }
        Known::Refused(why) => (Err(why), Room::default()),
    }
}

/// What a model takes with the context that it gets unless told otherwise, and what would fit.
fn room(footprint: &Footprint, facts: &Facts, memory: Memory) -> Room {
    let usual = LoadOptions::default();
    let types = (usual.cache_type_k, usual.cache_type_v);
    let context = footprint.context_train.clamp(1, USUAL_CONTEXT) as u32;
    let layers = u32::try_from(facts.layers).unwrap_or(u32::MAX).saturating_add(1);
    Room {
        context,
        weights: footprint.weights,
        conversation: footprint.kv_bytes_full(context, types),
        computing: footprint.compute_bytes(context, crate::gguf::UBATCH, 1),
        largest_context: memory
            .free
            .map(|free| footprint.max_context(free.saturating_add(memory.on_cards))),
        layers,
        layers_on_cards: footprint.layers_on_cards(layers, context, types, memory.on_cards),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use pretty_assertions::assert_eq;

    use super::*;

    const ROOMY: Memory = Memory {
        free: Some(1 << 40),
        on_cards: 0,
    };

    /// A folder with a copy of the built-in model at each of these paths.
    fn with(paths: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let good = unpack(&folder.path().join("cache")).unwrap();
        for path in paths {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(&good, path).unwrap();
        }
        (folder, good)
    }

    fn places(folder: &Path) -> Places {
        Places {
            own: Some(folder.join("own")),
            folders: vec![folder.join("mine"), folder.join("nowhere"), folder.join("mine/deep")],
            ..Places::only(&folder.join("cache"))
        }
    }

    #[test]
    fn every_model_is_found_once_and_what_is_none_is_told() {
        let none = [
            "mine/mmproj-f16.gguf",
            "mine/x-00002-of-00003.gguf",
            "mine/.hidden.gguf",
            "mine/a.txt",
        ];
        let (folder, _) = with(&[&none[..], &["mine/deep/er/Zebra-Q8_0.gguf"]].concat());
        let at = |name: &str| folder.path().join(name);
        fs::write(at("mine/broken.GGUF"), b"GGUF and nothing more").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("mine/deep/er/Zebra-Q8_0.gguf"), at("mine/zlink.gguf")).unwrap();
        let found = shelf(&places(folder.path()), ROOMY).models;
        let labels: Vec<_> = found.iter().map(|model| model.label.as_str()).collect();
        assert_eq!(labels[..2], ["cria", "broken"]);
        assert_eq!(labels.len(), 3, "the link and the file are one: {labels:?}");
        assert!(found[1].facts.as_ref().is_err_and(|why| !why.is_empty()));
        let (builtin, copy) = (found[0].facts.as_ref().unwrap(), found[2].facts.as_ref().unwrap());
        assert_eq!((builtin, found[0].room), (copy, found[2].room));
        assert_eq!(
            (
                builtin.architecture.as_str(),
                builtin.quantization.as_str(),
                builtin.layers
            ),
            ("llama", "Q8_0", 8)
        );
        let room = found[0].room;
        assert!(room.needs() > builtin.bytes && builtin.has_template);
        assert_eq!((room.context, room.largest_context, room.layers), (1024, Some(1024), 9));
        assert_eq!(room.layers_on_cards, 0);
    }

    #[test]
    fn memory_decides_what_fits() {
        let (folder, _) = with(&[]);
        let of = |memory| shelf(&places(folder.path()), memory).models[0].room;
        let all = of(ROOMY);
        let tight = Memory {
            free: Some(all.needs() - all.conversation / 2),
            on_cards: 0,
        };
        let context = of(tight).largest_context.unwrap();
        assert!((1..1024).contains(&context), "{context}");
        let none = Memory {
            free: Some(1 << 20),
            on_cards: 0,
        };
        assert_eq!(of(none).largest_context, Some(0));
        assert_eq!(of(Memory::default()).largest_context, None);
        let card = Memory {
            free: None,
            on_cards: 1 << 34,
        };
        assert_eq!(of(card).layers_on_cards, 9);
        let half = Memory {
            free: None,
            on_cards: crate::gguf::CARD_MARGIN + u64::midpoint(all.weights, all.conversation),
        };
        assert_eq!(of(half).layers_on_cards, 4);
    }

    #[cfg(unix)]
    #[test]
    fn caches_of_other_programs_are_read_as_they_lie() {
        let blob = "b".repeat(64);
        let (folder, good) = with(&[
            "own/ada/tiny-GGUF/tiny-Q8_0.gguf",
            "studio/bob/owl-GGUF/owl-Q4_K_M.gguf",
            "llama.cpp/org_repo_eagle-Q8_0.gguf",
            "hub/models--Qwen--Qwen2.5-GGUF/blobs/1",
            "hub/models--Qwen--Qwen2.5-GGUF/blobs/2",
            &format!("ollama/blobs/sha256-{blob}"),
        ]);
        let at = |name: &str| folder.path().join(name);
        let repo = at("hub/models--Qwen--Qwen2.5-GGUF");
        for (revision, blob) in [("aaa", "1"), ("zzz", "2")] {
            let snapshot = repo.join("snapshots").join(revision);
            fs::create_dir_all(&snapshot).unwrap();
            let target = format!("../../blobs/{blob}");
            std::os::unix::fs::symlink(target, snapshot.join("qwen-Q8_0.gguf")).unwrap();
        }
        fs::create_dir_all(repo.join("refs")).unwrap();
        fs::write(repo.join("refs/main"), "zzz\n").unwrap();
        let manifest = |path: &str, media: &str, digest: &str| {
            let path = at("ollama/manifests").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let layers = serde_json::json!([
                {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:00", "size": 1},
                {"mediaType": media, "digest": digest, "size": 2},
            ]);
            fs::write(
                path,
                serde_json::json!({ "schemaVersion": 2, "layers": layers }).to_string(),
            )
            .unwrap();
        };
        let model = "application/vnd.ollama.image.model";
        manifest("registry.ollama.ai/library/llama3/8b", model, &format!("sha256:{blob}"));
        manifest("hf.co/ada/gone/Q8_0", model, &format!("sha256:{}", "c".repeat(64)));
        manifest(
            "registry.ollama.ai/library/evil/latest",
            model,
            "sha256:../../../own/ada/tiny-GGUF/tiny-Q8_0.gguf",
        );
        manifest(
            "registry.ollama.ai/library/adapter/latest",
            "application/vnd.ollama.image.adapter",
            &blob,
        );
        fs::write(at("ollama/manifests/broken"), "{").unwrap();

        let mut places = places(folder.path());
        places.caches = vec![
            (Origin::HuggingFace, at("hub")),
            (Origin::LlamaCpp, at("llama.cpp")),
            (Origin::LmStudio, at("studio")),
            (Origin::Ollama, at("ollama")),
            (Origin::Ollama, at("not-there")),
        ];
        let shelf = shelf(&places, ROOMY);
        let told: Vec<_> = shelf
            .models
            .iter()
            .map(|model| {
                (
                    model.label.as_str(),
                    model.repo.as_deref().unwrap_or("-"),
                    model.origin.name(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("cria", "-", "built in"),
                ("llama3:8b", "-", "Ollama"),
                ("org_repo_eagle-Q8_0", "-", "llama.cpp"),
                ("owl-Q4_K_M", "bob/owl-GGUF", "LM Studio"),
                ("qwen-Q8_0", "Qwen/Qwen2.5-GGUF", "Hugging Face"),
                ("tiny-Q8_0", "ada/tiny-GGUF", "quipu"),
            ]
        );
        assert!(shelf.models.iter().all(|model| model.facts.is_ok()));
        assert!(
            shelf.models[4].name.contains("/zzz/"),
            "what the repository has now: {}",
            shelf.models[4].name
        );

        // Each can be asked for by name.
        for (name, path) in [
            ("llama3:8b", at(&format!("ollama/blobs/sha256-{blob}"))),
            ("qwen/qwen2.5-gguf:Q8_0", PathBuf::from(&shelf.models[4].name)),
            ("eagle", at("llama.cpp/org_repo_eagle-Q8_0.gguf")),
        ] {
            let found = super::super::resolve(Some(Path::new(name)), &places).unwrap();
            assert_eq!(found.path(), path);
        }
        drop(good);
    }

    #[test]
    fn headers_are_read_once_until_their_files_change() {
        let (folder, good) = with(&["mine/a.gguf", "mine/b.gguf"]);
        let places = places(folder.path());
        let read = || {
            let mut notes = Notes::open(&places.cache);
            let files = found(&places);
            notes.read_all(files.iter().map(|file| file.path.as_path()));
            for file in files {
                notes.of(&file.path);
            }
            notes.keep()
        };
        assert_eq!([read(), read()], [2, 0]);
        fs::copy(&good, folder.path().join("mine/c.gguf")).unwrap();
        fs::write(folder.path().join("mine/a.gguf"), b"GGUF and nothing more").unwrap();
        assert_eq!([read(), read()], [2, 0]);
        fs::remove_file(folder.path().join("mine/b.gguf")).unwrap();
        assert_eq!(read(), 0);
        // What is noted is only as good as the one who wrote it.
        fs::write(places.cache.join("models.json"), b"[]").unwrap();
        assert_eq!([read(), read()], [2, 0]);
    }
}
