//! A session as a file for people and other programs. Markdown and HTML show the path that is on the screen; JSON has all there
//! is, and reading it back gives the same tree.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use crate::domain::session::{Details, Format, Whole};
use crate::domain::{Head, Message, Role};

/// What tells our JSON from others'.
pub(super) const FORMAT: &str = "quipu-sessions";
/// The newest shape of it.
pub(super) const VERSION: u32 = 1;

/// Our JSON.
#[derive(Serialize)]
struct File<'a> {
    format: &'static str,
    version: u32,
    sessions: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    details: &'a Details,
    created: i64,
    head: Head,
    messages: &'a [Message],
}

/// Sessions as text.
///
/// # Errors
/// In words; what JSON cannot say is not in a session.
pub fn write(sessions: &[Whole], format: Format) -> Result<String, String> {
    match format {
        Format::Json => json(sessions),
        Format::Markdown => Ok(sessions.iter().map(markdown).collect::<Vec<_>>().join("\n")),
        Format::Html => Ok(html(sessions)),
    }
}

/// Writes a session to a file, which must not be there yet.
///
/// # Errors
/// In words.
pub fn write_file(session: &Whole, path: &Path, format: Format) -> Result<(), String> {
    write_new(path, write(std::slice::from_ref(session), format)?.as_bytes())
}

/// Writes a file that must not be there yet, for the person alone to read.
///
/// # Errors
/// In words.
pub fn write_new(path: &Path, content: &[u8]) -> Result<(), String> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!(
                "'{}' is there already: name a file that is not there yet, or remove it",
                path.display()
            )
        }
        _ => format!("cannot write '{}' ({error}): name another file", path.display()),
    };
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = made.map_err(failed)?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(failed)
}

fn json(sessions: &[Whole]) -> Result<String, String> {
    let entry = |session: &'_ Whole| {
        let talk = &session.conversation;
        (talk.head(), session.created)
    };
    let heads: Vec<_> = sessions.iter().map(entry).collect();
    let entries = sessions.iter().zip(heads).map(|(session, (head, created))| Entry {
        details: &session.details,
        created,
        head,
        messages: session.conversation.messages(),
    });
    let file = File {
        format: FORMAT,
        version: VERSION,
        sessions: entries.collect(),
    };
    serde_json::to_string_pretty(&file)
        .map(|text| text + "\n")
        .map_err(|error| format!("the session cannot be written as JSON ({error})"))
}

/// Who spoke.
fn speaker(message: &Message) -> String {
    match (message.role, &message.answer) {
        (Role::User, _) => "You".to_owned(),
        (Role::System, Some(_)) => "Summary".to_owned(),
        (Role::System, None) => "System".to_owned(),
        (Role::Assistant, Some(answer)) if !answer.model_name.is_empty() => plain(&answer.model_name),
        (Role::Assistant, _) => "Model".to_owned(),
    }
}

/// Text without what a terminal or a browser would obey: control characters but line feed and tab.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

fn title(session: &Whole) -> String {
    match session.details.title.as_str() {
        "" => "A conversation".to_owned(),
        title => plain(&title.replace('\n', " ")),
    }
}

fn thinking(message: &Message) -> Option<&str> {
    let thinking = message.answer.as_ref().map(|answer| answer.thinking.text.trim())?;
    (!thinking.is_empty()).then_some(thinking)
}

fn markdown(session: &Whole) -> String {
    let mut text = format!("# {}\n", title(session));
    if let Some(system) = session.conversation.system() {
        let quoted: Vec<_> = plain(system).lines().map(|line| format!("> {line}")).collect();
        let _ = write!(text, "\n{}\n", quoted.join("\n"));
    }
    for message in session.conversation.path() {
        let _ = write!(text, "\n## {}\n\n", speaker(message));
        if let Some(thinking) = thinking(message) {
            let _ = write!(
                text,
                "<details><summary>Thinking</summary>\n\n{}\n\n</details>\n\n",
                plain(thinking)
            );
        }
        let _ = writeln!(text, "{}", plain(message.text.trim_end()));
    }
    text
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;\
color-scheme:light dark}h2{font-size:1rem;margin:2rem 0 .25rem;opacity:.7}.text{white-space:pre-wrap;overflow-wrap:anywhere}\
.system,details{opacity:.7;border-left:3px solid;padding-left:.75rem}hr{margin:3rem 0}";

fn html(sessions: &[Whole]) -> String {
    let name = sessions.first().map(title).unwrap_or_default();
    let mut page = format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        escaped(&name)
    );
    let parts: Vec<_> = sessions.iter().map(section).collect();
    page.push_str(&parts.join("<hr>\n"));
    page.push_str("</body>\n</html>\n");
    page
}

fn section(session: &Whole) -> String {
    let mut text = format!("<h1>{}</h1>\n", escaped(&title(session)));
    if let Some(system) = session.conversation.system() {
        let _ = writeln!(text, "<div class=\"text system\">{}</div>", escaped(&plain(system)));
    }
    for message in session.conversation.path() {
        let _ = writeln!(text, "<h2>{}</h2>", escaped(&speaker(message)));
        if let Some(thinking) = thinking(message) {
            let thinking = escaped(&plain(thinking));
            let _ = writeln!(
                text,
                "<details><summary>Thinking</summary><div class=\"text\">{thinking}</div></details>"
            );
        }
        let _ = writeln!(
            text,
            "<div class=\"text\">{}</div>",
            escaped(&plain(message.text.trim_end()))
        );
    }
    text
}

/// Text as a browser shows it and nothing else.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
