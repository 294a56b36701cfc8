//! Sessions to rows and back. Each function is one transaction, or reads; who may call it when is `worker.rs`'s business.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::domain::inference::{Report, Token};
use crate::domain::session::{Details, SessionId, Summary, Titled, Which, Whole};
use crate::domain::{Answer, Changes, Conversation, Head, Message, MessageId, Role};

use super::error::StoreError;
use super::trace;

/// Days after which what was deleted is gone.
pub(super) const TRASH_DAYS: i64 = 30;

/// Characters of a preview.
const PREVIEW: usize = 160;

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// What one write takes.
pub(super) struct Write<'a> {
    /// The session; none begins one.
    pub(super) id: Option<SessionId>,
    /// What changed of the conversation.
    pub(super) changes: &'a Changes,
    /// What people decided, where that changed.
    pub(super) details: Option<&'a Details>,
    /// The time, in milliseconds since 1970.
    pub(super) now: i64,
}

/// Begins to write. A transaction that broke off in its very beginning is still open: it goes first.
fn begin_write(connection: &mut Connection) -> Result<Transaction<'_>, StoreError> {
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
}

/// Writes what changed of a session, all of it or nothing.
pub(super) fn write(connection: &mut Connection, write: &Write<'_>) -> Result<SessionId, StoreError> {
    let transaction = begin_write(connection)?;
    let id = write_in(&transaction, write)?;
    transaction.commit()?;
    Ok(id)
}

/// Writes sessions that came from elsewhere, all of them or none.
pub(super) fn write_whole(
    connection: &mut Connection,
    sessions: Vec<Whole>,
    now: i64,
) -> Result<Vec<SessionId>, StoreError> {
    let transaction = begin_write(connection)?;
    let mut ids = Vec::with_capacity(sessions.len());
    for mut session in sessions {
        session.conversation.keep_all();
        let write = Write {
            id: None,
            changes: &session.conversation.changes(None),
            details: Some(&session.details),
            // What nobody knows the time of came now.
            now: Some(session.created).filter(|at| *at > 0).map_or(now, |at| at.min(now)),
        };
        ids.push(write_in(&transaction, &write)?);
    }
    transaction.commit()?;
    Ok(ids)
}

fn write_in(transaction: &Transaction<'_>, write: &Write<'_>) -> Result<SessionId, StoreError> {
    let id = match write.id {
        Some(id) if is_there(transaction, id)? => id,
        Some(id) => return Err(StoreError::Gone(id.0)),
        None => begin(transaction, write.now)?,
    };
    if let Some(details) = write.details {
        describe_in(transaction, id, details)?;
    }
    for message in &write.changes.messages {
        put_message(transaction, id, message, write.now)?;
    }
    for removed in &write.changes.removed {
        transaction
            .prepare_cached("DELETE FROM message WHERE session = ?1 AND id = ?2")?
            .execute(params![id.0, removed.0])?;
    }
    if let Some(head) = &write.changes.head {
        transaction
            .prepare_cached("UPDATE session SET tip = ?2, shown = ?3, next = ?4, system = ?5 WHERE id = ?1")?
            .execute(params![
                id.0,
                head.tip.map(|tip| tip.0),
                head.shown.map(|shown| shown.0),
                head.next,
                head.system
            ])?;
    }
    if write.changes.messages.iter().any(|message| message.hidden) || is_buried(transaction, id)? {
        bury(transaction, id)?;
    }
    count(transaction, id, write.now)?;
    Ok(id)
}

/// Whether the session is there. One that was deleted is, as soon as it is written to again.
fn is_there(transaction: &Transaction<'_>, id: SessionId) -> Result<bool, StoreError> {
    let sql = "UPDATE session SET deleted = NULL WHERE id = ?1";
    Ok(transaction.prepare_cached(sql)?.execute([id.0])? > 0)
}

fn begin(transaction: &Transaction<'_>, now: i64) -> Result<SessionId, StoreError> {
    transaction
        .prepare_cached("INSERT INTO session (created, used) VALUES (?1, ?1)")?
        .execute([now])?;
    Ok(SessionId(transaction.last_insert_rowid()))
}

fn put_message(
    transaction: &Transaction<'_>,
    session: SessionId,
    message: &Message,
    now: i64,
) -> Result<(), StoreError> {
    let row: i64 = transaction
        .prepare_cached(
            "INSERT INTO message (session, id, parent, role, at, text, shown, hidden) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (session, id) DO UPDATE SET text = excluded.text, shown = excluded.shown,
                 hidden = CASE WHEN excluded.hidden IS NULL THEN NULL ELSE coalesce(hidden, excluded.hidden) END
             RETURNING row",
        )?
        .query_row(
            params![
                session.0,
                message.id.0,
                message.parent.map(|parent| parent.0),
                message.role.as_str(),
                message.at,
                message.text,
                message.shown.map(|shown| shown.0),
                message.hidden.then_some(now),
            ],
            |row| row.get(0),
        )?;
    match &message.answer {
        Some(answer) => put_answer(transaction, session, row, answer),
        None => Ok(()),
    }
}

fn put_answer(transaction: &Transaction<'_>, session: SessionId, row: i64, answer: &Answer) -> Result<(), StoreError> {
    let tokens: Vec<u8> = answer.tokens.iter().flat_map(|token| token.0.to_le_bytes()).collect();
    let bytes = (!answer.bytes.is_empty()).then_some(&answer.bytes);
    let unwritten = |error: &dyn std::fmt::Display| StoreError::Record(session.0, error.to_string());
    let trace = trace::pack(&answer.trace).map_err(|error| unwritten(&error))?;
    // What has a column of its own stands there alone.
    let rest = Answer {
        tokens: Vec::new(),
        bytes: Vec::new(),
        trace: Vec::new(),
        model: String::new(),
        model_name: String::new(),
        ..answer.clone()
    };
    let record = serde_json::to_string(&rest).map_err(|error| unwritten(&error))?;
    let finish = answer.finish.map(|finish| finish.to_string());
    transaction
        .prepare_cached(
            "INSERT INTO answer (row, model, name, finish, tokens, bytes, record, trace) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (row) DO UPDATE SET model = excluded.model, name = excluded.name, finish = excluded.finish,
                 tokens = excluded.tokens, bytes = excluded.bytes, record = excluded.record, trace = coalesce(excluded.trace, trace)",
        )?
        .execute(params![row, answer.model, answer.model_name, finish, tokens, bytes, record, trace])?;
    Ok(())
}

fn is_buried(transaction: &Transaction<'_>, id: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM message WHERE session = ?1 AND buried)";
    Ok(transaction.prepare_cached(sql)?.query_row([id.0], |row| row.get(0))?)
}

/// Marks what is hidden and all that stands on it.
fn bury(transaction: &Transaction<'_>, id: SessionId) -> Result<(), StoreError> {
    let sql = "WITH RECURSIVE under (id) AS (
            SELECT id FROM message WHERE session = ?1 AND hidden IS NOT NULL
            UNION SELECT message.id FROM message JOIN under ON message.session = ?1 AND message.parent = under.id
        )
        UPDATE message SET buried = id IN (SELECT id FROM under) WHERE session = ?1";
    transaction.prepare_cached(sql)?.execute([id.0])?;
    Ok(())
}

/// Counts what lists show.
fn count(transaction: &Transaction<'_>, id: SessionId, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE session SET used = ?2, (messages, bytes) = (
            SELECT count(*), coalesce(sum(octet_length(text)), 0) FROM message WHERE session = ?1 AND NOT buried
        ), model = coalesce((
            SELECT name FROM answer JOIN message USING (row) WHERE session = ?1 AND NOT buried ORDER BY id DESC LIMIT 1
        ), ''), preview = coalesce((
            SELECT substr(text, 1, ?3) FROM message WHERE session = ?1 AND NOT buried AND text != '' ORDER BY id DESC LIMIT 1
        ), '') WHERE id = ?1";
    transaction
        .prepare_cached(sql)?
        .execute(params![id.0, now, PREVIEW as i64])?;
    Ok(())
}

fn describe_in(connection: &Connection, id: SessionId, details: &Details) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE session SET title = ?2, titled = ?3, pinned = ?4, archived = ?5 WHERE id = ?1")?
        .execute(params![
            id.0,
            details.title,
            titled(details.titled),
            details.pinned,
            details.archived
        ])?;
    connection
        .prepare_cached("DELETE FROM tag WHERE session = ?1")?
        .execute([id.0])?;
    for tag in &details.tags {
        connection
            .prepare_cached("INSERT OR IGNORE INTO tag (session, name) VALUES (?1, ?2)")?
            .execute(params![id.0, tag])?;
    }
    Ok(())
}

fn titled(titled: Titled) -> &'static str {
    match titled {
        Titled::First => "first",
        Titled::Model => "model",
        Titled::Person => "person",
    }
}

/// Writes what people decided about a session.
pub(super) fn describe(connection: &mut Connection, id: SessionId, details: &Details) -> Result<(), StoreError> {
    let transaction = begin_write(connection)?;
    describe_in(&transaction, id, details)?;
    Ok(transaction.commit()?)
}

/// Marks a session as deleted, or as not deleted.
pub(super) fn delete(connection: &Connection, id: SessionId, at: Option<i64>) -> Result<(), StoreError> {
    let sql = "UPDATE session SET deleted = ?2 WHERE id = ?1";
    let changed = connection.prepare_cached(sql)?.execute(params![id.0, at])?;
    if changed == 0 {
        return Err(StoreError::Unknown(id.0.to_string()));
    }
    Ok(())
}

/// Removes a session for good.
pub(super) fn remove(connection: &Connection, id: SessionId) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM session WHERE id = ?1")?
        .execute([id.0])?;
    Ok(())
}

/// Removes a session of which everything was taken back: it is none.
pub(super) fn remove_if_empty(connection: &Connection, id: SessionId) -> Result<(), StoreError> {
    let sql =
        "DELETE FROM session WHERE id = ?1 AND NOT pinned AND NOT EXISTS (SELECT 1 FROM message WHERE session = ?1)";
    connection.prepare_cached(sql)?.execute([id.0])?;
    Ok(())
}

/// Removes what was deleted long ago, sessions that came to nothing, and traces that are older than is wanted, in days.
pub(super) fn tidy(connection: &mut Connection, now: i64, trace_days: u32) -> Result<(), StoreError> {
    let trash = now - TRASH_DAYS * DAY;
    let traces = now - i64::from(trace_days) * DAY;
    let transaction = begin_write(connection)?;
    transaction.execute("DELETE FROM session WHERE deleted < ?1", [trash])?;
    transaction.execute("DELETE FROM message WHERE hidden < ?1", [trash])?;
    transaction.execute(
        "DELETE FROM draft WHERE session <> 0 AND session NOT IN (SELECT id FROM session)",
        [],
    )?;
    transaction.execute(
        "UPDATE answer SET trace = NULL WHERE trace IS NOT NULL
             AND row IN (SELECT message.row FROM message WHERE at < ?1 AND at > 0)",
        [traces],
    )?;
    Ok(transaction.commit()?)
}

/// The number of the session that is meant.
pub(super) fn find(connection: &Connection, which: &Which) -> Result<SessionId, StoreError> {
    let by = |sql: &str, value: &dyn rusqlite::ToSql| -> Result<Option<i64>, rusqlite::Error> {
        connection
            .prepare_cached(sql)?
            .query_row([value], |row| row.get(0))
            .optional()
    };
    let number = |id: i64| by("SELECT id FROM session WHERE id = ?1", &id);
    let found = match which {
        Which::Id(id) => number(id.0)?,
        Which::Latest => by(
            "SELECT id FROM session WHERE deleted IS NULL AND messages >= ?1 ORDER BY used DESC, id DESC LIMIT 1",
            &1,
        )?,
        Which::Named(name) => match by(
            "SELECT id FROM session WHERE deleted IS NULL AND title = ?1 COLLATE NOCASE ORDER BY used DESC LIMIT 1",
            name,
        )? {
            Some(id) => Some(id),
            None => match name.trim_start_matches('#').parse() {
                Ok(id) => number(id)?,
                Err(_) => None,
            },
        },
    };
    found.map(SessionId).ok_or_else(|| match which {
        Which::Id(id) => StoreError::Unknown(id.0.to_string()),
        Which::Named(name) => StoreError::Unknown(name.clone()),
        Which::Latest => StoreError::None,
    })
}

/// Whether what there was to draw from is read, too: it is many times what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traces {
    Left,
    Read,
}

/// All of a session.
pub(super) fn read(
    connection: &Connection,
    id: SessionId,
    traces: Traces,
) -> Result<(Summary, Conversation), StoreError> {
    let summary = connection
        .prepare_cached(&format!("{SUMMARY} WHERE id = ?1"))?
        .query_row([id.0], summary)
        .optional()?
        .ok_or_else(|| StoreError::Unknown(id.0.to_string()))?;
    let head = connection
        .prepare_cached("SELECT tip, shown, next, system FROM session WHERE id = ?1")?
        .query_row([id.0], |row| {
            Ok(Head {
                tip: row.get::<_, Option<u32>>(0)?.map(MessageId),
                shown: row.get::<_, Option<u32>>(1)?.map(MessageId),
                next: row.get(2)?,
                system: row.get(3)?,
            })
        })?;
    let mut tags = tags(connection, Some(id))?;
    let summary = Summary {
        details: Details {
            tags: tags.remove(&id).unwrap_or_default(),
            ..summary.details
        },
        ..summary
    };
    let messages = messages(connection, id, traces)?;
    let conversation = Conversation::restore(messages, head).map_err(|bad| StoreError::NoTree(id.0, bad.0.0))?;
    Ok((summary, conversation))
}

fn messages(connection: &Connection, id: SessionId, traces: Traces) -> Result<Vec<Message>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, parent, role, at, text, shown, hidden IS NOT NULL, model, name, tokens, bytes, record, CASE WHEN ?2 THEN trace END
         FROM message LEFT JOIN answer USING (row) WHERE session = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query(params![id.0, traces == Traces::Read])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        messages.push(message(id, row)?);
    }
    Ok(messages)
}

/// What an answer was drawn from; nothing where that is not kept, or cannot be read any more.
pub(super) fn trace_of(connection: &Connection, id: SessionId, message: MessageId) -> Result<Vec<Report>, StoreError> {
    let packed = connection
        .prepare_cached("SELECT trace FROM message JOIN answer USING (row) WHERE session = ?1 AND id = ?2")?
        .query_row(params![id.0, message.0], |row| row.get::<_, Option<Vec<u8>>>(0))
        .optional()?
        .flatten();
    Ok(packed
        .and_then(|packed| trace::unpack(&packed).ok())
        .unwrap_or_default())
}

fn message(session: SessionId, row: &Row<'_>) -> Result<Message, StoreError> {
    let role: String = row.get(2)?;
    Ok(Message {
        id: MessageId(row.get(0)?),
        parent: row.get::<_, Option<u32>>(1)?.map(MessageId),
        role: role_of(&role),
        at: row.get(3)?,
        text: row.get(4)?,
        shown: row.get::<_, Option<u32>>(5)?.map(MessageId),
        hidden: row.get(6)?,
        answer: answer(session, row)?,
    })
}

/// The role of this name; what is unknown is a person's.
pub(super) fn role_of(name: &str) -> Role {
    match name {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::User,
    }
}

fn answer(session: SessionId, row: &Row<'_>) -> Result<Option<Answer>, StoreError> {
    let Some(record) = row.get::<_, Option<String>>(11)? else {
        return Ok(None);
    };
    let rest: Answer =
        serde_json::from_str(&record).map_err(|error| StoreError::Record(session.0, error.to_string()))?;
    let tokens: Vec<u8> = row.get(9)?;
    let token = |bytes: &[u8]| {
        bytes
            .try_into()
            .map(i32::from_le_bytes)
            .map_or_else(|_| Token::default(), Token)
    };
    // What there was to draw from is good to have: an answer is not lost over it.
    let trace = row.get::<_, Option<Vec<u8>>>(12)?.map(|packed| trace::unpack(&packed));
    let trace = trace.and_then(Result::ok).unwrap_or_default();
    Ok(Some(Answer {
        model: row.get(7)?,
        model_name: row.get(8)?,
        tokens: tokens.chunks_exact(4).map(token).collect(),
        bytes: row.get::<_, Option<Vec<u8>>>(10)?.unwrap_or_default(),
        trace,
        ..rest
    }))
}

const SUMMARY: &str = "SELECT id, title, titled, pinned, archived, created, used, messages, bytes, model, preview,
    deleted IS NOT NULL FROM session";

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let by: String = row.get(2)?;
    Ok(Summary {
        id: SessionId(row.get(0)?),
        details: Details {
            title: row.get(1)?,
            titled: match by.as_str() {
                "person" => Titled::Person,
                "model" => Titled::Model,
                _ => Titled::First,
            },
            pinned: row.get(3)?,
            archived: row.get(4)?,
            tags: Vec::new(),
        },
        created: row.get(5)?,
        used: row.get(6)?,
        messages: row.get(7)?,
        bytes: row.get::<_, i64>(8)?.unsigned_abs(),
        model: row.get(9)?,
        preview: row.get(10)?,
        deleted: row.get(11)?,
    })
}

/// All sessions, pinned ones first, then those written to last; with `archived`, those out of sight, too.
pub(super) fn list(connection: &Connection, archived: bool) -> Result<Vec<Summary>, StoreError> {
    let seen = if archived {
        "WHERE messages > 0"
    } else {
        "WHERE messages > 0 AND deleted IS NULL AND NOT archived"
    };
    let mut statement = connection.prepare_cached(&format!(
        "{SUMMARY} {seen} ORDER BY deleted IS NOT NULL, pinned DESC, used DESC, id DESC"
    ))?;
    let sessions: rusqlite::Result<Vec<_>> = statement.query_map([], summary)?.collect();
    let mut tags = tags(connection, None)?;
    let mut sessions = sessions?;
    for session in &mut sessions {
        session.details.tags = tags.remove(&session.id).unwrap_or_default();
    }
    Ok(sessions)
}

fn tags(connection: &Connection, of: Option<SessionId>) -> Result<HashMap<SessionId, Vec<String>>, StoreError> {
    let sql = "SELECT session, name FROM tag WHERE ?1 IS NULL OR session = ?1 ORDER BY session, name";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([of.map(|id| id.0)])?;
    let mut tags: HashMap<SessionId, Vec<String>> = HashMap::new();
    while let Some(row) = rows.next()? {
        tags.entry(SessionId(row.get(0)?)).or_default().push(row.get(1)?);
    }
    Ok(tags)
}
