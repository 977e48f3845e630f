-- Version 5: whose bytes are kept, so that each caller can be held to a bound. What was written before
-- belongs to nobody.

CREATE TABLE accounts (
    id    INTEGER PRIMARY KEY,
    -- A keyed hash of the caller's name: an address is too easily guessed from a plain one.
    hash  BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX accounts_empty ON accounts (id) WHERE bytes <= 0;

-- What a task costs with all that hangs on it. Beside the task, so that charging for an event does not
-- write a long request anew.
CREATE TABLE charges (
    task    INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT;
CREATE TRIGGER charge_begun AFTER INSERT ON charges BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER charge_changed AFTER UPDATE OF bytes ON charges BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes - OLD.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER charge_ended AFTER DELETE ON charges BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
END;
CREATE TRIGGER task_removed AFTER DELETE ON tasks BEGIN
    DELETE FROM charges WHERE task = OLD.id;
END;

ALTER TABLE threads ADD COLUMN account INTEGER;
ALTER TABLE threads ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER thread_changed AFTER UPDATE OF account, bytes ON threads BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
    UPDATE accounts SET bytes = bytes + NEW.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER thread_removed AFTER DELETE ON threads BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
END;

ALTER TABLE routes ADD COLUMN account INTEGER;
ALTER TABLE routes ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER route_begun AFTER INSERT ON routes BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER route_changed AFTER UPDATE OF account, bytes ON routes BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
    UPDATE accounts SET bytes = bytes + NEW.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER route_removed AFTER DELETE ON routes BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
END;

ALTER TABLE entries ADD COLUMN account INTEGER;
ALTER TABLE entries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER entry_begun AFTER INSERT ON entries BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER entry_ended AFTER DELETE ON entries BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
END;

-- Whether the outcome that is to be told stands here. As long as the task has not moved on, it stands
-- with the task alone.
ALTER TABLE deliveries ADD COLUMN own INTEGER NOT NULL DEFAULT 1;

-- Whose bytes a notice has. What tells of a task belongs to that.
ALTER TABLE deliveries ADD COLUMN account INTEGER;
ALTER TABLE deliveries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER notice_begun AFTER INSERT ON deliveries WHEN NEW.account IS NOT NULL BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes WHERE id = NEW.account;
END;
CREATE TRIGGER notice_ended AFTER DELETE ON deliveries WHEN OLD.account IS NOT NULL BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes WHERE id = OLD.account;
END;
