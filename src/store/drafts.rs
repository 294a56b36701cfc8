//! Drafts and what was sent before, to rows and back.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::session::SessionId;

use super::error::StoreError;

/// Texts kept of those that were sent: what the history in memory takes.
const SENT: u32 = 1000;

/// The row of a draft.
fn row(session: Option<SessionId>) -> i64 {
    session.map_or(0, |id| id.0)
}

/// Keeps what is being written; nothing is no draft.
pub(super) fn keep(
    connection: &Connection,
    session: Option<SessionId>,
    text: &str,
    now: i64,
) -> Result<(), StoreError> {
    if text.is_empty() {
        connection
            .prepare_cached("DELETE FROM draft WHERE session = ?1")?
            .execute([row(session)])?;
        return Ok(());
    }
    let sql = "INSERT OR REPLACE INTO draft (session, text, at) VALUES (?1, ?2, ?3)";
    connection
        .prepare_cached(sql)?
        .execute(params![row(session), text, now])?;
    Ok(())
}

/// What was being written.
pub(super) fn read(connection: &Connection, session: Option<SessionId>) -> Result<String, StoreError> {
    let mut statement = connection.prepare_cached("SELECT text FROM draft WHERE session = ?1")?;
    let text = statement.query_row([row(session)], |row| row.get(0)).optional()?;
    Ok(text.unwrap_or_default())
}

/// Keeps a text that was sent. One that was sent before is the newest now.
pub(super) fn sent(connection: &Connection, text: &str) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO sent (text) VALUES (?1)";
    connection.prepare_cached(sql)?.execute([text])?;
    let sql = "DELETE FROM sent WHERE row <= (SELECT max(row) FROM sent) - ?1";
    connection.prepare_cached(sql)?.execute([SENT])?;
    Ok(())
}

/// What was sent, oldest first.
pub(super) fn history(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT text FROM sent ORDER BY row")?;
    let texts = statement.query_map([], |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}
