//! The models that stood their trial: a small file in the cache folder. Without it, or where it cannot be written, a model is
//! tried again, which costs a moment.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The file's name.
const NAME: &str = "known-models";
/// How many models are remembered: more than anyone keeps.
const KEPT: usize = 512;
/// What is longer than this was not written by us.
const LARGEST: u64 = 256 * 1024;

/// Fingerprints of models that were sound with one build of llama.cpp.
#[derive(Clone, Debug)]
pub(super) struct Known {
    folder: PathBuf,
    build: String,
}

impl Known {
    /// Those in `folder` that were sound with `build`.
    pub(super) fn new(folder: &Path, build: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            build: build.replace(char::is_whitespace, "-"),
        }
    }

    /// Whether this model is one of them.
    pub(super) fn has(&self, fingerprint: &str) -> bool {
        let line = self.line(fingerprint);
        self.lines().contains(&line)
    }

    /// Remembers a model. Those of other builds are forgotten, and the oldest of too many.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn remember(&self, fingerprint: &str) -> io::Result<()> {
        let line = self.line(fingerprint);
        let mut lines = self.lines();
        lines.retain(|known| *known != line);
        lines.push(line);
        let first = lines.len().saturating_sub(KEPT);
        fs::create_dir_all(&self.folder)?;
        // Another quipu may write at the same time: one of the two is forgotten then, and neither is torn.
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(lines[first..].join("\n").as_bytes())?;
        file.write_all(b"\n")?;
        file.persist(self.folder.join(NAME)).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// The lines of this build.
    fn lines(&self) -> Vec<String> {
        let mut text = String::new();
        let read = File::open(self.folder.join(NAME)).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
        if read.is_err() {
            return Vec::new();
        }
        let own = |line: &&str| line.split_once(' ').is_some_and(|(build, _)| build == self.build);
        text.lines().filter(own).map(str::to_owned).collect()
    }

    fn line(&self, fingerprint: &str) -> String {
        format!("{} {fingerprint}", self.build)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_remembered_for_one_build() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("not/yet/there");
        let known = Known::new(&folder, "build 1");
        assert!(!known.has("aa"));
        known.remember("aa").unwrap();
        known.remember("bb").unwrap();
        known.remember("aa").unwrap();
        assert!(known.has("aa") && known.has("bb") && !known.has("a") && !known.has(""));
        assert_eq!(
            fs::read_to_string(folder.join(NAME)).unwrap(),
            "build-1 bb\nbuild-1 aa\n"
        );
        let newer = Known::new(&folder, "build 2");
        assert!(!newer.has("aa"));
        newer.remember("aa").unwrap();
        assert!(
            newer.has("aa") && !known.has("aa"),
            "what an old build thought is forgotten"
        );
    }

    #[test]
    fn a_spoiled_file_is_as_good_as_none() {
        let home = tempfile::tempdir().unwrap();
        let known = Known::new(home.path(), "1");
        fs::write(home.path().join(NAME), b"\xff\xfe1 aa\n").unwrap();
        assert!(!known.has("aa"));
        known.remember("aa").unwrap();
        assert!(known.has("aa"));
        for number in 0..2 * KEPT {
            if number % KEPT == 0 {
                let many: Vec<String> = (0..KEPT + 9).map(|n| format!("1 {number}-{n}")).collect();
                fs::write(home.path().join(NAME), many.join("\n")).unwrap();
            }
        }
        known.remember("cc").unwrap();
        assert_eq!(known.lines().len(), KEPT);
        assert!(known.has("cc"));
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_known() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let known = Known::new(&file, "1");
        assert!(known.remember("aa").is_err());
        assert!(!known.has("aa"));
    }
}
