//! The person's own editor on what is being written. Runs where waiting is allowed; lending the terminal is the loop's business.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::Builder;

/// Has a person edit a text; gives it back, or why it could not be edited. Takes as long as the person does.
pub type Editor = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// The editor that the environment names; `vi` is there where any is.
pub fn editor() -> Editor {
    let named = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let program = named("VISUAL")
        .or_else(|| named("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    Arc::new(move |text| edit(&program, text))
}

fn edit(program: &str, text: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("the message cannot be edited outside: {error}");
    let mut file = Builder::new()
        .prefix("quipu-")
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.flush())
        .map_err(failed)?;
    // By a shell, as others do it, because people write arguments there.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{program} \"$1\""))
        .arg("quipu")
        .arg(file.path())
        .stdin(Stdio::inherit())
        .status()
        .map_err(failed)?;
    if !status.success() {
        return Err(format!(
            "'{program}' ended with an error, so the message is as it was; VISUAL names another editor"
        ));
    }
    let bytes = fs::read(file.path()).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    // Editors end a file with a line feed that nobody typed.
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_editor_makes_of_it_comes_back() {
        assert_eq!(edit("printf '%s\\n' two >>", "one\n"), Ok("one\ntwo".to_owned()));
        assert_eq!(edit("true", "as it was"), Ok("as it was".to_owned()));
        assert!(edit("false", "x").unwrap_err().contains("'false' ended with an error"));
    }
}
