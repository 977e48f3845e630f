-- Version 7: runs say that they are alive. A task belongs to a run; when that is not here, or was ended, its process
-- died.
CREATE TABLE runs (
    run   TEXT PRIMARY KEY,
    -- How often it said so.
    beat  INTEGER NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
