-- Version 2: webhooks have names, conversations have routes, tasks are listed in the order in which
-- they changed.

-- The SHA-256 of a webhook's id; none on those of version 1, which had no id.
ALTER TABLE webhooks ADD COLUMN hash BLOB;

-- Whether somebody has taken it and not settled it yet.
ALTER TABLE deliveries ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX deliveries_claimed ON deliveries (id) WHERE claimed = 1;

-- Those without an owner are listed too, and so is what happened in a conversation.
DROP INDEX tasks_of_owner;
CREATE INDEX tasks_of_owner ON tasks (owner, updated_at);
DROP INDEX tasks_of_thread;
CREATE INDEX tasks_of_thread ON tasks (thread, updated_at) WHERE thread IS NOT NULL;

-- Which agent a conversation is with.
CREATE TABLE routes (
    hash       BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    body       BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX routes_by_expiry ON routes (expires_at);
