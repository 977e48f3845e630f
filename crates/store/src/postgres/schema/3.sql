-- Version 3. What has expired is what has expired by the clock of the database. A node whose clock was an hour ahead
-- deleted what all others had acknowledged, so this holds for the programs of earlier versions too.

-- The clock of the database, in nanoseconds since 1970.
CREATE FUNCTION forecourt.now_3() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint';

-- The functions that remove things do it under other names, and those that programs call hold them back.
ALTER FUNCTION forecourt.trim_logs_1(bigint, bigint) RENAME TO trim_logs_until_3;
CREATE FUNCTION forecourt.trim_logs_1(p_now bigint, p_limit bigint, OUT code bigint, OUT n bigint)
LANGUAGE sql AS 'SELECT * FROM forecourt.trim_logs_until_3(least(p_now, forecourt.now_3()), p_limit)';

ALTER FUNCTION forecourt.expire_1(bigint, bigint) RENAME TO expire_until_3;
CREATE FUNCTION forecourt.expire_1(p_now bigint, p_limit bigint, OUT code bigint, OUT n bigint)
LANGUAGE sql AS 'SELECT * FROM forecourt.expire_until_3(least(p_now, forecourt.now_3()), p_limit)';

ALTER FUNCTION forecourt.forget_runs_2(bigint, bigint, bigint) RENAME TO forget_runs_until_3;
CREATE FUNCTION forecourt.forget_runs_2(p_now bigint, p_kept bigint, p_limit bigint, OUT code bigint, OUT n bigint)
LANGUAGE sql AS 'SELECT * FROM forecourt.forget_runs_until_3(least(p_now, forecourt.now_3()), p_kept, p_limit)';

-- As version 1 does it, by the clock of the database, since a stream in which everything has expired is emptied. `p_at`
-- stays what it was: when whoever wrote the entry says that it was.
CREATE OR REPLACE FUNCTION forecourt.append_entry_1(
    p_hash bytea, p_expected bigint, p_at bigint, p_expires_at bigint, p_body bytea, p_account bytea, p_bytes bigint,
    p_max bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_last bigint; v_readable bigint; v_now bigint := least(p_at, forecourt.now_3());
BEGIN
    n := 0;
    LOOP
        SELECT s.id, s.last INTO v_id, v_last FROM forecourt.streams s WHERE s.hash = p_hash FOR UPDATE;
        IF FOUND THEN
            SELECT max(e.n) INTO v_readable FROM forecourt.entries e
                WHERE e.stream = v_id AND (e.expires_at IS NULL OR e.expires_at > v_now);
        END IF;
        IF p_expected IS NOT NULL AND p_expected <> coalesce(v_readable, 0) THEN code := 9; RETURN; END IF;
        IF forecourt.is_full_1(p_account, p_bytes, p_max) THEN code := 1; RETURN; END IF;
        EXIT WHEN v_id IS NOT NULL;
        INSERT INTO forecourt.streams AS s (hash, last) VALUES (p_hash, 0) ON CONFLICT DO NOTHING
            RETURNING s.id, s.last INTO v_id, v_last;
        EXIT WHEN v_id IS NOT NULL;
    END LOOP;
    IF v_readable IS NULL AND v_last > 0 THEN
        -- Everything in it has expired: it begins anew.
        PERFORM forecourt.charge_1(gone.account, -gone.sum) FROM (
            SELECT e.account, sum(e.bytes)::bigint AS sum FROM forecourt.entries e
            WHERE e.stream = v_id AND e.account IS NOT NULL GROUP BY e.account) AS gone;
        DELETE FROM forecourt.entries WHERE stream = v_id;
        v_last := 0;
    END IF;
    n := v_last + 1;
    UPDATE forecourt.streams SET last = n WHERE id = v_id;
    INSERT INTO forecourt.entries VALUES (v_id, n, p_at, p_expires_at, p_body, p_account, p_bytes);
    PERFORM forecourt.charge_1(p_account, p_bytes);
    code := 0;
END $$;

-- As version 1 does it, by the clock of the database where `p_now` is NULL: a node that stood still for an hour does
-- not know yet that a proof has expired, and the claim of it is gone.
CREATE FUNCTION forecourt.claim_once_3(p_hash bytea, p_now bigint, p_expires_at bigint, OUT code bigint, OUT n bigint)
LANGUAGE plpgsql AS $$
DECLARE
    v_now bigint := coalesce(p_now, forecourt.now_3());
BEGIN
    code := 0;
    INSERT INTO forecourt.claims AS c SELECT p_hash, p_expires_at WHERE p_expires_at > v_now
        ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at WHERE c.expires_at <= v_now;
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

CREATE OR REPLACE FUNCTION forecourt.claim_once_1(
    p_hash bytea, p_now bigint, p_expires_at bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT claimed.code, claimed.n INTO code, n
        FROM forecourt.claim_once_3(p_hash, least(p_now, forecourt.now_3()), p_expires_at) AS claimed;
END $$;
