//! What the store promises, with faults put in where they hurt: statements that fail, disks that are full, files that are
//! damaged, cut off, or of another time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pretty_assertions::assert_eq;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::domain::inference::{Finish, Token};
use crate::domain::session::{
    Details, Format, NotOpened, Opened, SessionId, SessionKey, StoreCommand, StoreEvent, Which,
};
use crate::domain::{Answer, Conversation, MessageId, Role};

use super::database::{FILE, FUSE, MIGRATIONS};
use super::worker::Worker;
use super::{Archive, StoreOptions, database};

fn options(folder: &Path) -> StoreOptions {
    StoreOptions {
        folder: folder.to_owned(),
        trace_days: 30,
        states: None,
    }
}

/// A worker that is driven by hand, and what it tells.
struct Bench {
    worker: Worker,
    told: UnboundedReceiver<StoreEvent>,
    ticket: u64,
}

impl Bench {
    fn new(folder: &Path) -> Self {
        let (to, told) = unbounded_channel();
        Self {
            worker: Worker::new(options(folder), to),
            told,
            ticket: 0,
        }
    }

    fn events(&mut self) -> Vec<StoreEvent> {
        std::iter::from_fn(|| self.told.try_recv().ok()).collect()
    }

    /// Saves what changed; says whether that was acknowledged.
    fn save(&mut self, key: u32, talk: &mut Conversation) -> bool {
        self.ticket += 1;
        let ticket = self.ticket;
        self.worker.take(StoreCommand::Save {
            ticket,
            key: SessionKey(key),
            changes: talk.changes(None),
            details: None,
        });
        let saved = |event: &StoreEvent| matches!(event, StoreEvent::Saved { ticket: of, .. } if *of == ticket);
        self.events().iter().any(saved)
    }

    fn open(&mut self, key: u32, which: Which) -> Result<Box<Opened>, NotOpened> {
        self.worker.take(StoreCommand::Open {
            key: SessionKey(key),
            which,
        });
        let opened = self.events().into_iter().find_map(|event| match event {
            StoreEvent::Opened { opened, .. } => Some(opened),
            _ => None,
        });
        opened.unwrap()
    }
}

/// A worker that has kept one word.
fn greeted(folder: &Path) -> (Bench, Conversation) {
    let mut bench = Bench::new(folder);
    let mut talk = Conversation::default();
    talk.push(Role::User, "hello", 1);
    assert!(bench.save(0, &mut talk));
    (bench, talk)
}

/// Has processes share no memory over the file, which a log needs; so it is on many file systems of a network. `SQLite` follows no link
/// there.
fn refuse_logs(folder: &Path) {
    std::os::unix::fs::symlink("nowhere", folder.join(format!("{FILE}-shm"))).unwrap();
}

/// The file and what belongs to it, as they lie there when the plug is pulled.
fn pulled(folder: &Path, ends: [&str; 2]) -> TempDir {
    let copy = TempDir::new().unwrap();
    for name in ends.map(|end| format!("{FILE}{end}")) {
        fs::copy(folder.join(&name), copy.path().join(&name)).unwrap();
    }
    copy
}

/// What was said in the sessions, oldest first, by the file alone.
fn on_disk(folder: &Path) -> Vec<Vec<String>> {
    let archive = Archive::open(&options(folder)).unwrap();
    assert_eq!(archive.notice, None);
    let mut sessions = archive.list(true).unwrap();
    sessions.sort_by_key(|session| session.id);
    let words = |id| {
        let (_, talk) = archive.read(&Which::Id(id)).unwrap();
        talk.messages().iter().map(|message| message.text.clone()).collect()
    };
    sessions.iter().map(|session| words(session.id)).collect()
}

fn is_sound(folder: &Path) {
    let connection = Connection::open(folder.join(FILE)).unwrap();
    let found: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(found, "ok");
    let orphans: i64 = connection
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(orphans, 0);
    let index = connection.execute("INSERT INTO said (said, rank) VALUES ('integrity-check', 1)", []);
    assert_eq!(index, Ok(1), "the index of words is that of the messages");
}

/// A talk of a question, an answer that grows, another version and its removal; every step is saved. What was acknowledged is
/// told.
fn talk(bench: &mut Bench, mut acknowledged: impl FnMut(&Conversation)) -> Conversation {
    let mut talk = Conversation::under(Some("Be kind.".to_owned()));
    let mut save = |bench: &mut Bench, talk: &mut Conversation| {
        if bench.save(0, talk) {
            acknowledged(talk);
        }
    };
    talk.push(Role::User, "What is a quipu?", 1);
    let answer = talk.push(Role::Assistant, "", 2);
    save(bench, &mut talk);
    for word in ["A knotted", " cord."] {
        let message = talk.get_mut(answer).unwrap();
        message.text.push_str(word);
        message.answer.get_or_insert_default().tokens.push(Token(7));
        save(bench, &mut talk);
    }
    talk.get_mut(answer).unwrap().answer.as_mut().unwrap().finish = Some(Finish::EndOfTurn);
    save(bench, &mut talk);
    let second = talk.push_version(answer, "A cord of knots.", 3).unwrap();
    save(bench, &mut talk);
    talk.hide(second);
    save(bench, &mut talk);
    let empty = talk.push(Role::User, "taken back", 4);
    save(bench, &mut talk);
    talk.take_back(empty);
    save(bench, &mut talk);
    talk
}

#[test]
fn what_is_saved_comes_back_as_it_was() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let said = talk(&mut bench, |_| {});
    let opened = bench.open(1, Which::Latest).unwrap();
    assert_eq!(opened.conversation.messages(), said.messages());
    assert_eq!(opened.conversation.head(), said.head());
    assert!(!opened.held, "it is open here, and nowhere else");
    drop(bench);
    let mut bench = Bench::new(folder.path());
    let opened = bench.open(0, Which::Id(SessionId(1))).unwrap();
    assert!(!opened.held);
    assert_eq!(opened.conversation.messages(), said.messages());
    is_sound(folder.path());
    for (name, mode) in [(".", 0o700), (FILE, 0o600), ("sessions.db-wal", 0o600)] {
        let found = fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{name}");
    }
}

/// A fuse that burns at the N-th operation of `SQLite`, and once only.
fn fuse(n: i64) -> Arc<AtomicI64> {
    Arc::new(AtomicI64::new(n))
}

/// Whether it has burnt; it never will from now on.
fn put_out(fuse: &AtomicI64) -> bool {
    fuse.swap(i64::MAX, Ordering::Relaxed) < 0
}

/// All that was said is there, whenever it could be written.
fn is_made_up_for(bench: &mut Bench, said: &Conversation, n: i64) {
    let opened = bench
        .open(1, Which::Latest)
        .unwrap_or_else(|error| panic!("at operation {n}: {error:?}"));
    assert_eq!(opened.conversation.messages(), said.messages(), "at operation {n}");
}

#[test]
fn a_write_that_fails_at_any_operation_is_made_up_for() {
    for n in 0.. {
        let folder = TempDir::new().unwrap();
        let mut bench = Bench::new(folder.path());
        let fuse = fuse(n);
        let counted = Arc::clone(&fuse);
        let burn = move || counted.fetch_sub(1, Ordering::Relaxed) == 0;
        let connection = bench.worker.database().unwrap();
        connection.progress_handler(1, Some(burn)).unwrap();
        let said = talk(&mut bench, |talk| {
            // What was acknowledged is there for everyone.
            if n % 10 == 0 {
                let archive = Archive::open(&options(folder.path())).unwrap();
                let (_, there) = archive.read(&Which::Latest).unwrap();
                assert_eq!(there.messages(), talk.messages());
            }
        });
        let failed = put_out(&fuse);
        is_made_up_for(&mut bench, &said, n);
        drop(bench);
        if n % 50 == 0 {
            is_sound(folder.path());
        }
        if !failed {
            assert!(n > 1000, "only {n} operations");
            break;
        }
    }
}

#[test]
fn a_file_that_cannot_be_begun_at_any_operation_is_begun_later() {
    for n in 0.. {
        let folder = TempDir::new().unwrap();
        let mut bench = Bench::new(folder.path());
        let fuse = fuse(n);
        FUSE.set(Some(Arc::clone(&fuse)));
        let opened = bench.worker.database().is_ok();
        let failed = put_out(&fuse);
        FUSE.set(None);
        let said = talk(&mut bench, |_| {});
        is_made_up_for(&mut bench, &said, n);
        if !failed {
            assert!(opened && n > 50, "only {n} operations");
            break;
        }
    }
}

#[test]
fn a_full_disk_costs_nothing_that_was_acknowledged() {
    let folder = TempDir::new().unwrap();
    drop(Bench::new(folder.path()).worker.database());
    for room in 0.. {
        let folder = TempDir::new().unwrap();
        let mut bench = Bench::new(folder.path());
        let connection = bench.worker.database().unwrap();
        let pages: i64 = connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        connection.pragma_update(None, "max_page_count", pages + room).unwrap();
        let mut talk = Conversation::default();
        talk.push(Role::User, "hello", 1);
        let first = bench.save(0, &mut talk);
        talk.push(Role::Assistant, "knots ".repeat(4000), 2);
        let second = bench.save(0, &mut talk);
        is_sound(folder.path());
        let kept = on_disk(folder.path()).first().map_or(0, Vec::len);
        assert!(
            kept >= usize::from(first) + usize::from(second),
            "with room for {room} pages"
        );
        if second {
            assert!(room > 3, "nothing was full");
            break;
        }
        let full = StoreEvent::Unsaved {
            ticket: 3,
            words: "the disk is full: make room".to_owned(),
        };
        bench.ticket = 2;
        talk.push(Role::User, "and now?", 3);
        bench.worker.take(StoreCommand::Save {
            ticket: 3,
            key: SessionKey(0),
            changes: talk.changes(None),
            details: None,
        });
        assert!(bench.events().contains(&full));
        // As soon as there is room, all of it is written.
        let connection = bench.worker.database().unwrap();
        connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
        bench.ticket = 3;
        assert!(bench.save(0, &mut Conversation::default()) || on_disk(folder.path())[0].len() == 3);
        assert_eq!(on_disk(folder.path())[0].len(), 3, "with room for {room} pages");
    }
}

#[test]
fn a_log_that_was_cut_off_opens_to_a_prefix() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let mut talk = Conversation::default();
    for n in 0..12 {
        talk.push(Role::User, format!("message {n}"), 1);
        assert!(bench.save(0, &mut talk));
    }
    // As they lie there when the plug is pulled.
    let file = |end: &str| folder.path().join(format!("{FILE}{end}"));
    let (database, log) = (fs::read(file("")).unwrap(), fs::read(file("-wal")).unwrap());
    let frames = log.len() / 4120;
    assert!(frames > 12, "only {frames} frames");
    let mut before = 0;
    for cut in (0..=log.len()).step_by(1373).chain([log.len()]) {
        let copy = TempDir::new().unwrap();
        fs::write(copy.path().join(FILE), &database).unwrap();
        fs::write(copy.path().join(format!("{FILE}-wal")), &log[..cut]).unwrap();
        let sessions = on_disk(copy.path());
        let words = sessions.first().cloned().unwrap_or_default();
        let wanted: Vec<_> = (0..words.len()).map(|n| format!("message {n}")).collect();
        assert_eq!(words, wanted);
        assert!(words.len() >= before, "less with more of the log");
        before = words.len();
        is_sound(copy.path());
    }
    assert_eq!(before, 12);
}

#[test]
fn a_file_system_that_refuses_a_log_keeps_every_word_too() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    refuse_logs(folder.path());
    let connection = bench.worker.database().unwrap();
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "delete");
    // So little that what is not yet committed goes to the file before its time.
    connection.pragma_update(None, "cache_size", 10).unwrap();
    let said: Vec<String> = (0..12)
        .map(|n| format!("message {n} ") + &"knots ".repeat(4000))
        .collect();
    let mut talk = Conversation::default();
    for text in &said {
        talk.push(Role::User, text.clone(), 1);
        assert!(bench.save(0, &mut talk));
    }
    assert!(!folder.path().join(format!("{FILE}-wal")).exists());
    let before = fs::read(folder.path().join(FILE)).unwrap();
    let connection = bench.worker.database().unwrap();
    connection
        .execute_batch("BEGIN IMMEDIATE; UPDATE message SET text = upper(text)")
        .unwrap();
    let copy = pulled(folder.path(), ["", "-journal"]);
    connection.execute_batch("ROLLBACK").unwrap();
    assert!(
        fs::read(copy.path().join(FILE)).unwrap() != before,
        "the file was not changed"
    );
    assert_eq!(on_disk(copy.path()), std::slice::from_ref(&said));
    is_sound(copy.path());
    drop(bench);
    assert_eq!(on_disk(folder.path()), [said]);
    is_sound(folder.path());
}

#[test]
fn a_log_from_elsewhere_is_read_where_none_can_be_used() {
    let from = TempDir::new().unwrap();
    // While it is open, its log is not in the file.
    let _open = greeted(from.path());
    let here = pulled(from.path(), ["", "-wal"]);
    let mut bench = Bench::new(here.path());
    refuse_logs(here.path());
    assert!(bench.worker.database().is_ok());
    assert!(
        Bench::new(here.path()).worker.database().is_ok(),
        "another could not open it"
    );
    let mut later = Conversation::default();
    later.push(Role::User, "good day", 2);
    assert!(bench.save(0, &mut later));
    drop(bench);
    assert!(!here.path().join(format!("{FILE}-wal")).exists());
    assert_eq!(on_disk(here.path()), [["hello"], ["good day"]]);
    is_sound(here.path());
}

#[test]
fn a_damaged_file_is_set_aside_and_named() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join(FILE),
        "no database at all, but long enough to look like one".repeat(99),
    )
    .unwrap();
    greeted(folder.path());
    let aside: Vec<PathBuf> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".damaged-"))
        .collect();
    assert_eq!(aside.len(), 1);
    assert!(
        fs::read(&aside[0]).unwrap().starts_with(b"no database"),
        "it is kept as it was"
    );
}

#[test]
fn damage_that_shows_later_has_all_kept_anew() {
    let folder = TempDir::new().unwrap();
    let mut talk = Conversation::default();
    let mut bench = Bench::new(folder.path());
    for n in 0..40 {
        talk.push(Role::User, "many words ".repeat(100) + &n.to_string(), 1);
    }
    assert!(bench.save(0, &mut talk));
    let connection = bench.worker.database().unwrap();
    connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").ok();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    // Nothing of it stays in memory.
    connection.pragma_update(None, "cache_size", 0).unwrap();
    let file = folder.path().join(FILE);
    let mut bytes = fs::read(&file).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        page[..64].fill(0xaa);
    }
    fs::write(&file, bytes).unwrap();
    talk.push(Role::User, "and now?", 2);
    assert!(!bench.save(0, &mut talk));
    let mut again = talk.clone();
    again.keep_all();
    assert!(bench.save(0, &mut again), "a new file takes all of it");
    assert_eq!(on_disk(folder.path())[0].len(), 41);
}

#[test]
fn a_file_of_a_newer_quipu_is_left_alone() {
    let folder = TempDir::new().unwrap();
    drop(database::open(folder.path(), 1).unwrap());
    let connection = Connection::open(folder.path().join(FILE)).unwrap();
    connection
        .pragma_update(None, "user_version", MIGRATIONS.len() as i64 + 1)
        .unwrap();
    drop(connection);
    let before = fs::read(folder.path().join(FILE)).unwrap();
    let mut bench = Bench::new(folder.path());
    let mut talk = Conversation::default();
    talk.push(Role::User, "hello", 1);
    assert!(!bench.save(0, &mut talk));
    let mut again = Bench::new(folder.path());
    talk.keep_all();
    again.worker.take(StoreCommand::Save {
        ticket: 1,
        key: SessionKey(0),
        changes: talk.changes(None),
        details: None,
    });
    let told = again.events();
    assert!(
        matches!(&told[..], [StoreEvent::Unsaved { words, .. }] if words.contains("newer quipu") && words.contains("update")),
        "{told:?}"
    );
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), before);
}

#[test]
fn a_file_of_another_program_is_set_aside() {
    let folder = TempDir::new().unwrap();
    let connection = Connection::open(folder.path().join(FILE)).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(connection);
    let archive = Archive::open(&options(folder.path())).unwrap();
    assert!(archive.notice.is_some());
}

#[test]
fn before_a_new_schema_the_old_file_is_copied() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join(FILE);
    let mut bench = Bench::new(folder.path());
    talk(&mut bench, |_| {});
    drop(bench);
    let mut connection = Connection::open(&file).unwrap();
    let next = [MIGRATIONS, &["ALTER TABLE session ADD COLUMN mood TEXT"]].concat();
    database::migrate(&mut connection, &file, &next).unwrap();
    let known = MIGRATIONS.len();
    let copy = folder.path().join(format!("{FILE}.schema-{known}"));
    let version = |connection: &Connection| -> i64 {
        connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap()
    };
    assert_eq!(version(&connection), known as i64 + 1);
    let old = Connection::open(&copy).unwrap();
    assert_eq!(version(&old), known as i64);
    let messages: i64 = old
        .query_row("SELECT count(*) FROM message", [], |row| row.get(0))
        .unwrap();
    assert_eq!(messages, 3);
    // One that fails changes nothing, and a second one keeps one copy.
    let bad = [&next[..], &["ALTER TABLE nowhere ADD COLUMN x; SELECT 1"]].concat();
    assert!(database::migrate(&mut connection, &file, &bad).is_err());
    assert_eq!(version(&connection), known as i64 + 1);
    assert!(!copy.exists() && folder.path().join(format!("{FILE}.schema-{}", known + 1)).exists());
}

/// A file of every schema there was, made by the quipu of its time, with what is in it beside it.
#[test]
fn files_of_every_schema_open() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/store");
    if std::env::var_os("UPDATE_STORE_FIXTURE").is_some() {
        write_fixture(&fixtures);
    }
    for version in 1..=MIGRATIONS.len() {
        let folder = TempDir::new().unwrap();
        fs::copy(fixtures.join(format!("schema-{version}.db")), folder.path().join(FILE)).unwrap();
        let archive = Archive::open(&options(folder.path())).unwrap();
        assert_eq!(archive.notice, None);
        let (summary, conversation) = archive.read(&Which::Latest).unwrap();
        let session = crate::domain::session::Whole {
            details: summary.details,
            created: summary.created,
            conversation,
        };
        let json = super::export::write(&[session], Format::Json).unwrap();
        let wanted = fs::read_to_string(fixtures.join(format!("schema-{version}.json"))).unwrap();
        assert_eq!(json, wanted);
        assert_eq!(archive.search("knotted").unwrap().len(), 1);
    }
}

/// Writes the file of the newest schema: to be done once for each, and never again.
fn write_fixture(fixtures: &Path) {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let said = talk(&mut bench, |_| {});
    let details = Details {
        title: "What is a quipu?".to_owned(),
        tags: vec!["andes".to_owned()],
        ..Details::default()
    };
    let id = SessionId(1);
    bench.worker.take(StoreCommand::Describe {
        id,
        details: details.clone(),
    });
    drop(bench);
    let connection = Connection::open(folder.path().join(FILE)).unwrap();
    connection
        .execute_batch("UPDATE session SET created = 1, used = 1; PRAGMA journal_mode = DELETE; VACUUM")
        .unwrap();
    drop(connection);
    let version = MIGRATIONS.len();
    fs::create_dir_all(fixtures).unwrap();
    fs::copy(folder.path().join(FILE), fixtures.join(format!("schema-{version}.db"))).unwrap();
    let session = crate::domain::session::Whole {
        details,
        created: 1,
        conversation: said,
    };
    let json = super::export::write(&[session], Format::Json).unwrap();
    fs::write(fixtures.join(format!("schema-{version}.json")), json).unwrap();
}

#[test]
fn two_quipus_write_to_one_file() {
    let folder = TempDir::new().unwrap();
    let (mut one, mut two) = (Bench::new(folder.path()), Bench::new(folder.path()));
    let (mut a, mut b) = (Conversation::default(), Conversation::default());
    for n in 0..10 {
        a.push(Role::User, format!("a{n}"), 1);
        assert!(one.save(0, &mut a));
        b.push(Role::User, format!("b{n}"), 1);
        assert!(two.save(0, &mut b));
    }
    let words = on_disk(folder.path());
    assert_eq!(words.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10]);
    assert!(
        two.open(1, Which::Id(SessionId(1))).unwrap().held,
        "the first has it open"
    );
    one.worker.take(StoreCommand::Release { key: SessionKey(0) });
    assert!(!two.open(2, Which::Id(SessionId(1))).unwrap().held);
}

#[test]
fn a_session_of_which_everything_was_taken_back_is_none() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let mut talk = Conversation::default();
    let id = talk.push(Role::User, "hello", 1);
    assert!(bench.save(0, &mut talk));
    talk.take_back(id);
    assert!(bench.save(0, &mut talk));
    bench.worker.take(StoreCommand::Release { key: SessionKey(0) });
    assert!(matches!(bench.open(1, Which::Latest), Err(NotOpened::Unknown(words)) if words.contains("no session")));
}

#[test]
fn words_are_found_where_they_can_be_seen() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let mut said = Conversation::default();
    said.push(Role::User, "Crème brûlée or knots?", 1);
    let answer = said.push(Role::Assistant, "Knots in a cord. 結縄文字", 2);
    said.push(Role::User, "below it", 3);
    bench.save(0, &mut said);
    let archive = Archive::open(&options(folder.path())).unwrap();
    let found = |text: &str| -> Vec<u32> { archive.search(text).unwrap().iter().map(|hit| hit.message.0).collect() };
    assert_eq!(found("knot"), [1, 0], "newest first, by the beginning of a word");
    assert_eq!(found("creme brul"), [0], "marks above letters do not matter");
    assert_eq!(found("縄文"), [1]);
    assert_eq!(found("cord knots"), [1], "in any order");
    assert_eq!(found("cord sugar"), Vec::<u32>::new(), "all of them");
    assert_eq!(found("below"), [2]);
    assert_eq!(found("\"; DROP TABLE message; --"), Vec::<u32>::new());
    let hit = &archive.search("cord").unwrap()[0];
    assert!(hit.snippet.contains(&(true, "cord".to_owned())), "{:?}", hit.snippet);
    said.hide(answer);
    bench.save(0, &mut said);
    assert_eq!(found("knot"), [0]);
    assert_eq!(found("below"), Vec::<u32>::new(), "it stands on what is hidden");
    bench.worker.take(StoreCommand::Delete { id: SessionId(1) });
    assert_eq!(found("knot"), Vec::<u32>::new());
    assert_eq!(archive.list(false).unwrap().len(), 0);
    assert_eq!(archive.list(true).unwrap()[0].messages, 1);
}

#[test]
fn old_traces_and_old_trash_go() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let mut talk = Conversation::default();
    let day = 24 * 60 * 60 * 1000;
    let now = super::worker::now();
    for age in [40, 10] {
        let id = talk.push(Role::Assistant, "x", now - age * day);
        talk.get_mut(id).unwrap().answer = Some(Answer {
            trace: vec![crate::domain::inference::Report::default()],
            ..Answer::default()
        });
    }
    bench.save(0, &mut talk);
    let mut other = Conversation::default();
    other.push(Role::User, "gone", 1);
    bench.save(1, &mut other);
    let connection = bench.worker.database().unwrap();
    connection
        .execute("UPDATE session SET deleted = ?1 WHERE id = 2", [now - 31 * day])
        .unwrap();
    super::tables::tidy(connection, now, 30).unwrap();
    let archive = Archive::open(&options(folder.path())).unwrap();
    assert_eq!(archive.list(true).unwrap().len(), 1);
    let (_, back) = archive.read(&Which::Latest).unwrap();
    let traces: Vec<_> = back
        .messages()
        .iter()
        .map(|m| m.answer.as_ref().unwrap().trace.len())
        .collect();
    assert_eq!(traces, [0, 1]);
    assert_eq!(back.get(MessageId(0)).unwrap().text, "x", "the answer itself stays");
}

#[test]
fn a_session_that_was_removed_under_our_hands_is_kept_anew() {
    let folder = TempDir::new().unwrap();
    let (mut bench, mut talk) = greeted(folder.path());
    let mut other = Archive::open(&options(folder.path())).unwrap();
    other.remove(SessionId(1)).unwrap();
    talk.push(Role::User, "and now?", 2);
    bench.ticket += 1;
    bench.worker.take(StoreCommand::Save {
        ticket: bench.ticket,
        key: SessionKey(0),
        changes: talk.changes(None),
        details: None,
    });
    assert!(
        bench
            .events()
            .iter()
            .any(|event| matches!(event, StoreEvent::Emptied { words } if words.contains("removed")))
    );
    talk.keep_all();
    assert!(bench.save(0, &mut talk));
    assert_eq!(on_disk(folder.path()), [["hello", "and now?"]]);
}

#[test]
fn what_there_was_to_draw_from_stays_on_the_disk() {
    let folder = TempDir::new().unwrap();
    let mut bench = Bench::new(folder.path());
    let mut talk = Conversation::default();
    let id = talk.push(Role::Assistant, "x", super::worker::now());
    let trace = vec![crate::domain::inference::Report::default(); 3];
    talk.get_mut(id).unwrap().answer = Some(Answer {
        trace: trace.clone(),
        ..Answer::default()
    });
    bench.save(0, &mut talk);
    let mut opened = bench.open(1, Which::Latest).unwrap().conversation;
    assert!(
        opened.get(id).unwrap().answer.as_ref().unwrap().trace.is_empty(),
        "a chat does without"
    );
    opened.get_mut(id).unwrap().text.push('y');
    assert!(bench.save(1, &mut opened));
    let session = bench.open(2, Which::Latest).unwrap().id;
    let mut asked = |message| {
        let key = SessionKey(2);
        bench.worker.take(StoreCommand::Trace { key, session, message });
        bench.events().into_iter().find_map(|event| match event {
            StoreEvent::Traced { message: of, trace, .. } if of == message => Some(trace),
            _ => None,
        })
    };
    assert_eq!(asked(id), Some(trace.clone()), "and whoever wants it asks");
    assert_eq!(asked(MessageId(77)), Some(Vec::new()));
    let (_, whole) = Archive::open(&options(folder.path()))
        .unwrap()
        .read(&Which::Latest)
        .unwrap();
    let message = whole.get(id).unwrap();
    assert_eq!(
        (message.text.as_str(), &message.answer.as_ref().unwrap().trace),
        ("xy", &trace)
    );
}
