-- What is being written, by session; session 0 is the conversation that is none yet. And what was sent before, oldest first.

CREATE TABLE draft (
    session INTEGER PRIMARY KEY,
    text    TEXT    NOT NULL,
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE sent (
    row  INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL UNIQUE
) STRICT;
