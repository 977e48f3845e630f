-- Version 4: conversations have owners, and some deliveries belong to no task.

-- Who alone may go on with it, once somebody who proved who it is has.
ALTER TABLE threads ADD COLUMN owner TEXT;

-- A delivery tells either of a task as it was when it settled (it may move on before the delivery is
-- made), or what its notice says. AUTOINCREMENT, so that a late settlement never meets a newer delivery
-- of the same number.
CREATE TABLE posts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    task       INTEGER,
    webhook    INTEGER,
    state      TEXT,
    settled_at INTEGER,
    outcome    BLOB,
    notice     BLOB,
    expires_at INTEGER,
    attempts   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL,
    claimed    INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (task, webhook) REFERENCES webhooks (task, n) ON DELETE CASCADE,
    CHECK ((notice IS NULL) = (task IS NOT NULL) AND (notice IS NULL) = (expires_at IS NULL))
) STRICT;
INSERT INTO posts (id, task, webhook, state, settled_at, outcome, attempts, due_at, claimed)
    SELECT id, task, webhook, state, settled_at, outcome, attempts, due_at, claimed FROM deliveries;
DROP TRIGGER delivery_removed;
DROP TABLE deliveries;
ALTER TABLE posts RENAME TO deliveries;
CREATE INDEX deliveries_by_due ON deliveries (due_at, id);
CREATE INDEX deliveries_of_webhook ON deliveries (task, webhook);
CREATE INDEX deliveries_claimed ON deliveries (id) WHERE claimed = 1;
CREATE INDEX deliveries_by_expiry ON deliveries (expires_at) WHERE expires_at IS NOT NULL;
CREATE TRIGGER delivery_queued AFTER INSERT ON deliveries BEGIN
    UPDATE totals SET amount = amount + 1 WHERE name = 'deliveries';
END;
CREATE TRIGGER delivery_removed AFTER DELETE ON deliveries BEGIN
    UPDATE totals SET amount = amount - 1 WHERE name = 'deliveries';
END;
