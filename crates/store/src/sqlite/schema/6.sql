-- Version 6: tasks are clustered by time alone. A task is found by a number that its hash begins with, and those
-- numbers, which are random, are written many at a time: an index that each task touches somewhere else cost as
-- many pages of the log as all else together.

-- The same table without the index of its hashes. Its rows are copied, and what refers to them stays as it is.
CREATE TABLE tasks_6 (
    id         INTEGER PRIMARY KEY,
    -- The first eight bytes of the hash, as a number with a sign. Looked up in `task_names`.
    name       INTEGER NOT NULL,
    hash       BLOB NOT NULL,
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
INSERT INTO tasks_6 (id, name, hash, agent, owner, thread, state, run, created_at, updated_at, expires_at, body, outcome)
    SELECT id,
           -- Digit by digit: SQLite reads no number out of a blob.
           ((instr('0123456789ABCDEF', substr(hex(hash), 1, 1)) - 1) << 60) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 2, 1)) - 1) << 56) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 3, 1)) - 1) << 52) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 4, 1)) - 1) << 48) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 5, 1)) - 1) << 44) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 6, 1)) - 1) << 40) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 7, 1)) - 1) << 36) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 8, 1)) - 1) << 32) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 9, 1)) - 1) << 28) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 10, 1)) - 1) << 24) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 11, 1)) - 1) << 20) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 12, 1)) - 1) << 16) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 13, 1)) - 1) << 12) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 14, 1)) - 1) << 8) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 15, 1)) - 1) << 4) |
           ((instr('0123456789ABCDEF', substr(hex(hash), 16, 1)) - 1) << 0),
           hash, agent, owner, thread, state, run, created_at, updated_at, expires_at, body, outcome
    FROM tasks ORDER BY id;
DROP TABLE tasks;
ALTER TABLE tasks_6 RENAME TO tasks;

-- Nobody lists the tasks of nobody but by their conversation.
CREATE INDEX tasks_of_owner ON tasks (owner, updated_at) WHERE owner IS NOT NULL;
CREATE INDEX tasks_of_thread ON tasks (thread, updated_at) WHERE thread IS NOT NULL;
CREATE INDEX tasks_unsettled ON tasks (run) WHERE state IN ('submitted', 'working');
CREATE INDEX tasks_by_expiry ON tasks (expires_at);

-- Where the tasks are whose id is at most the total `tasks_named`. Those after it are looked for one by one.
CREATE TABLE task_names (
    name INTEGER PRIMARY KEY,
    task INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO task_names SELECT name, id FROM tasks ORDER BY name;
INSERT INTO totals SELECT 'tasks_named', ifnull(max(id), 0) FROM tasks;

CREATE TRIGGER task_removed AFTER DELETE ON tasks BEGIN
    DELETE FROM charges WHERE task = OLD.id;
    DELETE FROM task_names WHERE name = OLD.name AND task = OLD.id;
END;
