-- Version 1. Times are nanoseconds since 1970 in UTC. `hash` is the SHA-256 of an id that is itself
-- never written in the clear; `body`, `outcome` and `bytes` are sealed (seal.rs).

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Running sums, kept by the triggers below so that a bound costs one lookup.
CREATE TABLE totals (
    name   TEXT PRIMARY KEY,
    amount INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO totals VALUES ('artifact_bytes', 0), ('deliveries', 0);

CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    agent      TEXT NOT NULL,
    owner      TEXT,
    thread     BLOB,
    state      TEXT NOT NULL,
    run        TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    body       BLOB NOT NULL,
    outcome    BLOB
) STRICT;
CREATE INDEX tasks_of_owner ON tasks (owner, updated_at) WHERE owner IS NOT NULL;
CREATE INDEX tasks_of_thread ON tasks (thread) WHERE thread IS NOT NULL;
CREATE INDEX tasks_unsettled ON tasks (run) WHERE state IN ('submitted', 'working');
CREATE INDEX tasks_by_expiry ON tasks (expires_at);

CREATE TABLE events (
    task INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
    n    INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (task, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
    task  INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
    hash  BLOB NOT NULL,
    size  INTEGER NOT NULL,
    body  BLOB NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (task, hash)
) STRICT;
CREATE TRIGGER artifact_kept AFTER INSERT ON artifacts BEGIN
    UPDATE totals SET amount = amount + NEW.size WHERE name = 'artifact_bytes';
END;
CREATE TRIGGER artifact_removed AFTER DELETE ON artifacts BEGIN
    UPDATE totals SET amount = amount - OLD.size WHERE name = 'artifact_bytes';
END;

CREATE TABLE webhooks (
    task INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
    n    INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (task, n)
) STRICT, WITHOUT ROWID;

-- The task as it was when it settled: it may move on before the delivery is made.
-- AUTOINCREMENT, so that a late settlement never meets a newer delivery of the same number.
CREATE TABLE deliveries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    task       INTEGER NOT NULL,
    webhook    INTEGER NOT NULL,
    state      TEXT NOT NULL,
    settled_at INTEGER NOT NULL,
    outcome    BLOB,
    attempts   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL,
    FOREIGN KEY (task, webhook) REFERENCES webhooks (task, n) ON DELETE CASCADE
) STRICT;
CREATE INDEX deliveries_by_due ON deliveries (due_at, id);
CREATE INDEX deliveries_of_webhook ON deliveries (task, webhook);
CREATE TRIGGER delivery_queued AFTER INSERT ON deliveries BEGIN
    UPDATE totals SET amount = amount + 1 WHERE name = 'deliveries';
END;
CREATE TRIGGER delivery_removed AFTER DELETE ON deliveries BEGIN
    UPDATE totals SET amount = amount - 1 WHERE name = 'deliveries';
END;

CREATE TABLE threads (
    id         INTEGER PRIMARY KEY,
    hash       BLOB NOT NULL,
    agent      TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (hash, agent)
) STRICT;
CREATE INDEX threads_by_expiry ON threads (expires_at);

CREATE TABLE turns (
    thread INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
    n      INTEGER NOT NULL,
    body   BLOB NOT NULL,
    PRIMARY KEY (thread, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    hash       BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_expiry ON claims (expires_at);

-- Written and emptied again to see whether a write would work.
CREATE TABLE probe (bytes BLOB NOT NULL) STRICT;
