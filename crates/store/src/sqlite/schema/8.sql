-- Version 8: room for an answer is reserved before its task is acknowledged. What is left of it counts for the account
-- of the task, until the task settles. And the accounts of callers who proved nothing say which networks are around
-- theirs, so that what they have together can be summed up.

ALTER TABLE charges ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER charge_begun;
DROP TRIGGER charge_changed;
DROP TRIGGER charge_ended;
CREATE TRIGGER charge_begun AFTER INSERT ON charges BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes + NEW.reserved WHERE id = NEW.account;
END;
CREATE TRIGGER charge_changed AFTER UPDATE OF bytes, reserved ON charges
WHEN NEW.bytes + NEW.reserved <> OLD.bytes + OLD.reserved BEGIN
    UPDATE accounts SET bytes = bytes + NEW.bytes + NEW.reserved - OLD.bytes - OLD.reserved WHERE id = NEW.account;
END;
CREATE TRIGGER charge_ended AFTER DELETE ON charges BEGIN
    UPDATE accounts SET bytes = bytes - OLD.bytes - OLD.reserved WHERE id = OLD.account;
END;

-- Keyed hashes, as that of the account; NULL for a proven subject, and until somebody writes for an account of before.
ALTER TABLE accounts ADD COLUMN narrow BLOB;
ALTER TABLE accounts ADD COLUMN wide BLOB;
