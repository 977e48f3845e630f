-- Version 3: streams of entries that are only ever added to.

CREATE TABLE streams (
    id   INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    -- The number of the last entry, also when that one has expired.
    last INTEGER NOT NULL
) STRICT;

CREATE TABLE entries (
    stream     INTEGER NOT NULL REFERENCES streams ON DELETE CASCADE,
    n          INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    expires_at INTEGER,
    body       BLOB NOT NULL,
    PRIMARY KEY (stream, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
-- Whoever removes the last one removes the stream.
CREATE TRIGGER entry_removed AFTER DELETE ON entries
WHEN NOT EXISTS (SELECT 1 FROM entries WHERE stream = OLD.stream) BEGIN
    DELETE FROM streams WHERE id = OLD.stream;
END;
