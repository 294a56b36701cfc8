-- Sessions and their messages. Times are milliseconds since 1970; what is null is not so.

CREATE TABLE session (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    title    TEXT    NOT NULL DEFAULT '',
    titled   TEXT    NOT NULL DEFAULT 'first',
    pinned   INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    created  INTEGER NOT NULL,
    used     INTEGER NOT NULL,
    deleted  INTEGER,
    -- The tree's head: see domain::Head.
    tip      INTEGER,
    shown    INTEGER,
    next     INTEGER NOT NULL DEFAULT 0,
    system   TEXT,
    -- What lists show, counted whenever the session is written.
    messages INTEGER NOT NULL DEFAULT 0,
    bytes    INTEGER NOT NULL DEFAULT 0,
    model    TEXT    NOT NULL DEFAULT '',
    preview  TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX session_by_use ON session (pinned, used);

CREATE TABLE tag (
    session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    name    TEXT    NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    row     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    id      INTEGER NOT NULL,
    parent  INTEGER,
    role    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    text    TEXT    NOT NULL,
    shown   INTEGER,
    -- When it was hidden, and whether it or anything that it stands on is.
    hidden  INTEGER,
    buried  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, id),
    FOREIGN KEY (session, parent) REFERENCES message (session, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE INDEX message_by_parent ON message (session, parent);

-- How a model's message came to be.
CREATE TABLE answer (
    row    INTEGER PRIMARY KEY REFERENCES message (row) ON DELETE CASCADE,
    model  TEXT NOT NULL,
    name   TEXT NOT NULL,
    -- Null while it streams, and where the process died over it.
    finish TEXT,
    -- Token ids, four bytes each, the lowest first.
    tokens BLOB NOT NULL,
    -- What they spell, where it is not the text.
    bytes  BLOB,
    -- The rest of it: JSON.
    record TEXT NOT NULL,
    -- What there was to draw from: postcard.
    trace  BLOB
) STRICT;

CREATE VIRTUAL TABLE said USING fts5 (
    text,
    content = 'message',
    content_rowid = 'row',
    tokenize = 'unicode61 remove_diacritics 2',
    prefix = '1 2 3'
);

CREATE TRIGGER message_said AFTER INSERT ON message BEGIN
    INSERT INTO said (rowid, text) VALUES (new.row, new.text);
END;

CREATE TRIGGER message_unsaid AFTER DELETE ON message BEGIN
    INSERT INTO said (said, rowid, text) VALUES ('delete', old.row, old.text);
END;

CREATE TRIGGER message_resaid AFTER UPDATE OF text ON message WHEN old.text IS NOT new.text BEGIN
    INSERT INTO said (said, rowid, text) VALUES ('delete', old.row, old.text);
    INSERT INTO said (rowid, text) VALUES (new.row, new.text);
END;
