-- Version 8: room for an answer is reserved before its task is acknowledged. What is left of it counts for the account
-- of the task, until the task settles.

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
