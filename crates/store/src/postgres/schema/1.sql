-- Version 1. Times are nanoseconds since 1970 in UTC. `hash` is the SHA-256 of an id that is itself never written in
-- the clear; `body`, `outcome`, `bytes` and `notice` are sealed (seal.rs), so that compressing them is in vain. An
-- `owner` is text that may hold any character, which `text` may not.
--
-- What changes something is a function, so that it is one statement without a name: that is what a pooler that lends
-- connections for single transactions can carry. A function is never changed, but by another one of the next number:
-- older programs go on calling theirs. Each answers (code, n); codes are in answer.rs.
--
-- Order of locks, the same everywhere, so that nobody waits for each other: accounts by their hash (lock_1), then what
-- a write is about in the order of writer.rs, then totals.

CREATE TABLE forecourt.totals (
    name   text PRIMARY KEY,
    amount bigint NOT NULL
);
INSERT INTO forecourt.totals VALUES ('artifact_bytes', 0);

-- Whose bytes are kept. `hash` is a keyed one: an address is too easily guessed from a plain one.
CREATE TABLE forecourt.accounts (
    hash  bytea PRIMARY KEY,
    bytes bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE forecourt.tasks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash       bytea NOT NULL UNIQUE,
    agent      text NOT NULL,
    owner      bytea,
    thread     bytea,
    state      text NOT NULL,
    run        text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    body       bytea NOT NULL,
    outcome    bytea
);
ALTER TABLE forecourt.tasks ALTER body SET STORAGE EXTERNAL, ALTER outcome SET STORAGE EXTERNAL;
CREATE INDEX tasks_of_owner ON forecourt.tasks (owner, updated_at, id) WHERE owner IS NOT NULL;
CREATE INDEX tasks_of_thread ON forecourt.tasks (thread, updated_at) WHERE thread IS NOT NULL;
CREATE INDEX tasks_unsettled ON forecourt.tasks (run) WHERE state IN ('submitted', 'working');
CREATE INDEX tasks_by_expiry ON forecourt.tasks (expires_at);

-- What a task costs with all that hangs on it, where somebody pays for it.
CREATE TABLE forecourt.charges (
    task    bigint PRIMARY KEY,
    account bytea NOT NULL,
    bytes   bigint NOT NULL
);

-- What hangs on a task has no foreign key: it is written while the task is locked, and removed with it.
CREATE TABLE forecourt.events (
    task bigint NOT NULL,
    n    bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (task, n)
);
ALTER TABLE forecourt.events ALTER body SET STORAGE EXTERNAL;

CREATE TABLE forecourt.artifacts (
    task  bigint NOT NULL,
    hash  bytea NOT NULL,
    size  bigint NOT NULL,
    body  bytea NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (task, hash)
);
ALTER TABLE forecourt.artifacts ALTER body SET STORAGE EXTERNAL, ALTER bytes SET STORAGE EXTERNAL;

CREATE TABLE forecourt.webhooks (
    task bigint NOT NULL,
    n    bigint NOT NULL,
    hash bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (task, n),
    UNIQUE (task, hash)
);
ALTER TABLE forecourt.webhooks ALTER body SET STORAGE EXTERNAL;

-- A delivery tells either of a task as it was when it settled, or what its notice says. Whether the outcome stands
-- here (`own`) or, as long as the task has not moved on, with the task alone.
CREATE TABLE forecourt.deliveries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task        bigint,
    webhook     bigint,
    state       text,
    settled_at  bigint,
    outcome     bytea,
    own         boolean NOT NULL DEFAULT false,
    notice      bytea,
    expires_at  bigint,
    account     bytea,
    bytes       bigint NOT NULL DEFAULT 0,
    attempts    bigint NOT NULL DEFAULT 0,
    due_at      bigint NOT NULL,
    claimed     boolean NOT NULL DEFAULT false,
    -- When what was claimed may be taken by others: by the clock of the database.
    lease_until bigint,
    CHECK ((notice IS NULL) = (task IS NOT NULL) AND (notice IS NULL) = (expires_at IS NULL))
);
ALTER TABLE forecourt.deliveries ALTER outcome SET STORAGE EXTERNAL, ALTER notice SET STORAGE EXTERNAL;
CREATE INDEX deliveries_by_due ON forecourt.deliveries (due_at, id) WHERE NOT claimed;
CREATE INDEX deliveries_by_lease ON forecourt.deliveries (lease_until) WHERE claimed;
CREATE INDEX deliveries_of_task ON forecourt.deliveries (task, webhook) WHERE task IS NOT NULL;
CREATE INDEX deliveries_by_expiry ON forecourt.deliveries (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE forecourt.threads (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash       bytea NOT NULL,
    agent      text NOT NULL,
    owner      bytea,
    expires_at bigint NOT NULL,
    account    bytea,
    bytes      bigint NOT NULL,
    UNIQUE (hash, agent)
);
CREATE INDEX threads_by_expiry ON forecourt.threads (expires_at);

CREATE TABLE forecourt.turns (
    thread bigint NOT NULL,
    n      bigint NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (thread, n)
);
ALTER TABLE forecourt.turns ALTER body SET STORAGE EXTERNAL;

CREATE TABLE forecourt.routes (
    hash       bytea PRIMARY KEY,
    expires_at bigint NOT NULL,
    body       bytea NOT NULL,
    account    bytea,
    bytes      bigint NOT NULL
);
CREATE INDEX routes_by_expiry ON forecourt.routes (expires_at);

CREATE TABLE forecourt.claims (
    hash       bytea PRIMARY KEY,
    expires_at bigint NOT NULL
);
CREATE INDEX claims_by_expiry ON forecourt.claims (expires_at);

CREATE TABLE forecourt.streams (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    -- The number of the last entry, also when that one has expired.
    last bigint NOT NULL
);

CREATE TABLE forecourt.entries (
    stream     bigint NOT NULL,
    n          bigint NOT NULL,
    at         bigint NOT NULL,
    expires_at bigint,
    body       bytea NOT NULL,
    account    bytea,
    bytes      bigint NOT NULL,
    PRIMARY KEY (stream, n)
);
ALTER TABLE forecourt.entries ALTER body SET STORAGE EXTERNAL;
CREATE INDEX entries_by_expiry ON forecourt.entries (expires_at) WHERE expires_at IS NOT NULL;

-- Runs say that they are alive. A task belongs to a run; when that is not here, or was ended, its process died.
CREATE TABLE forecourt.runs (
    run   text PRIMARY KEY,
    beat  bigint NOT NULL,
    ended boolean NOT NULL DEFAULT false
);

-- Written and emptied again to see whether a write would work.
CREATE TABLE forecourt.probe (bytes bytea NOT NULL);

-- What was pushed to agents, as rows that every node's index follows.
CREATE TABLE forecourt.content_heads (
    agent    text PRIMARY KEY,
    epoch    bigint NOT NULL,
    revision bigint NOT NULL,
    ids      bigint NOT NULL,
    bytes    bigint NOT NULL
);
CREATE TABLE forecourt.content_rows (
    agent      text NOT NULL,
    key        bytea NOT NULL,
    revision   bigint NOT NULL,
    said       bytea NOT NULL,
    body       bytea NOT NULL,
    item_bytes bigint NOT NULL,
    removed    boolean NOT NULL,
    PRIMARY KEY (agent, key)
);
ALTER TABLE forecourt.content_rows ALTER body SET STORAGE EXTERNAL;
CREATE INDEX content_rows_by_revision ON forecourt.content_rows (agent, revision, key);

-- What keeping so many bytes costs: as forecourt_core::store::cost says it.
CREATE FUNCTION forecourt.cost_1(len bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT 384 + CASE WHEN len <= 512 THEN len WHEN len <= 1024 THEN 1365 ELSE (len + 4095) / 4096 * 4096 END
$$;

-- Locks accounts in their order, those that are named and those of what is named, and makes those that are new.
CREATE FUNCTION forecourt.lock_1(
    p_accounts bytea[], p_tasks bytea[], p_threads bytea[], p_agents text[], p_routes bytea[], p_deliveries bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_account bytea;
BEGIN
    FOR v_account IN
        SELECT DISTINCT a FROM (
            SELECT unnest(p_accounts) AS a
            UNION ALL SELECT c.account FROM forecourt.tasks t JOIN forecourt.charges c ON c.task = t.id
                      WHERE t.hash = ANY (p_tasks)
            UNION ALL SELECT t.account FROM unnest(p_threads, p_agents) AS p (hash, agent)
                      JOIN forecourt.threads t ON t.hash = p.hash AND t.agent = p.agent
            UNION ALL SELECT account FROM forecourt.routes WHERE hash = ANY (p_routes)
            UNION ALL SELECT account FROM forecourt.deliveries WHERE id = ANY (p_deliveries)
        ) AS named WHERE a IS NOT NULL ORDER BY a
    LOOP
        LOOP
            PERFORM 1 FROM forecourt.accounts WHERE hash = v_account FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO forecourt.accounts VALUES (v_account, 0) ON CONFLICT DO NOTHING;
        END LOOP;
    END LOOP;
END $$;

-- Whether an account has no room for so many bytes more. The host's own, NULL, always has.
CREATE FUNCTION forecourt.is_full_1(p_account bytea, p_bytes bigint, p_max bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_bytes bigint;
BEGIN
    IF p_account IS NULL THEN RETURN false; END IF;
    SELECT bytes INTO v_bytes FROM forecourt.accounts WHERE hash = p_account;
    RETURN coalesce(v_bytes, 0) + p_bytes > p_max;
END $$;

CREATE FUNCTION forecourt.charge_1(p_account bytea, p_bytes bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_account IS NOT NULL AND p_bytes <> 0 THEN
        INSERT INTO forecourt.accounts AS a VALUES (p_account, p_bytes)
            ON CONFLICT (hash) DO UPDATE SET bytes = a.bytes + p_bytes;
    END IF;
END $$;

CREATE FUNCTION forecourt.charge_task_1(p_task bigint, p_account bytea, p_bytes bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_account IS NOT NULL AND p_bytes <> 0 THEN
        UPDATE forecourt.charges SET bytes = bytes + p_bytes WHERE task = p_task;
        PERFORM forecourt.charge_1(p_account, p_bytes);
    END IF;
END $$;

-- Registers webhooks of a task that is locked. A code other than 0 before anything is changed.
CREATE FUNCTION forecourt.put_webhooks_1(
    p_task bigint, p_account bytea, p_hashes bytea[], p_bodies bytea[], p_limit bigint, p_pending_max bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_new bigint; v_there bigint; v_last bigint; v_before bigint; v_cost bigint := 0;
BEGIN
    SELECT count(*), coalesce(max(n), 0) INTO v_there, v_last FROM forecourt.webhooks WHERE task = p_task;
    SELECT count(DISTINCT h) INTO v_new FROM unnest(p_hashes) AS h
        WHERE NOT EXISTS (SELECT 1 FROM forecourt.webhooks WHERE task = p_task AND hash = h);
    IF v_new > 0 THEN
        IF v_there + v_new > p_limit THEN RETURN 3; END IF;
        IF (SELECT count(*) FROM (SELECT 1 FROM forecourt.deliveries LIMIT p_pending_max) AS d) >= p_pending_max THEN
            RETURN 4;
        END IF;
    END IF;
    FOR i IN 1 .. cardinality(p_hashes) LOOP
        SELECT length(body) INTO v_before FROM forecourt.webhooks WHERE task = p_task AND hash = p_hashes[i];
        IF FOUND THEN
            UPDATE forecourt.webhooks SET body = p_bodies[i] WHERE task = p_task AND hash = p_hashes[i];
            v_cost := v_cost - forecourt.cost_1(v_before);
        ELSE
            v_last := v_last + 1;
            INSERT INTO forecourt.webhooks VALUES (p_task, v_last, p_hashes[i], p_bodies[i]);
        END IF;
        v_cost := v_cost + forecourt.cost_1(length(p_bodies[i]));
    END LOOP;
    PERFORM forecourt.charge_task_1(p_task, p_account, v_cost);
    RETURN 0;
END $$;

-- Queues a delivery of the task as it is now for each of its webhooks, or for one.
CREATE FUNCTION forecourt.tell_1(p_task bigint, p_webhook bytea) RETURNS void LANGUAGE sql AS $$
    INSERT INTO forecourt.deliveries (task, webhook, state, settled_at, due_at)
    SELECT t.id, w.n, t.state, t.updated_at, t.updated_at
    FROM forecourt.tasks t JOIN forecourt.webhooks w ON w.task = t.id
    WHERE t.id = p_task AND (p_webhook IS NULL OR w.hash = p_webhook) ORDER BY w.n
$$;

CREATE FUNCTION forecourt.create_task_1(
    p_hash bytea, p_agent text, p_owner bytea, p_thread bytea, p_state text, p_run text,
    p_created_at bigint, p_updated_at bigint, p_expires_at bigint, p_body bytea, p_outcome bytea,
    p_account bytea, p_bytes bigint, p_room bigint, p_max bigint,
    p_hooks bytea[], p_hook_bodies bytea[], p_limit bigint, p_pending_max bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    n := 0;
    IF forecourt.is_full_1(p_account, p_room, p_max) THEN code := 1; RETURN; END IF;
    IF cardinality(p_hooks) > 0 THEN
        IF (SELECT count(DISTINCT h) FROM unnest(p_hooks) AS h) > p_limit THEN code := 3; RETURN; END IF;
        IF (SELECT count(*) FROM (SELECT 1 FROM forecourt.deliveries LIMIT p_pending_max) AS d) >= p_pending_max THEN
            code := 4; RETURN;
        END IF;
    END IF;
    INSERT INTO forecourt.tasks (hash, agent, owner, thread, state, run, created_at, updated_at, expires_at, body, outcome)
        VALUES (p_hash, p_agent, p_owner, p_thread, p_state, p_run, p_created_at, p_updated_at, p_expires_at, p_body,
                p_outcome)
        ON CONFLICT (hash) DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN code := 2; RETURN; END IF;
    IF p_account IS NOT NULL THEN
        INSERT INTO forecourt.charges VALUES (v_id, p_account, p_bytes);
        PERFORM forecourt.charge_1(p_account, p_bytes);
    END IF;
    code := 0;
    IF cardinality(p_hooks) > 0 THEN
        code := forecourt.put_webhooks_1(v_id, p_account, p_hooks, p_hook_bodies, p_limit, p_pending_max);
    END IF;
END $$;

-- `n` is the number of the last event then.
CREATE FUNCTION forecourt.append_events_1(
    p_hash bytea, p_run text, p_first bigint, p_bodies bytea[], p_room bigint, p_max bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_run text; v_state text; v_account bytea; v_cost bigint;
BEGIN
    n := 0;
    SELECT t.id, t.run, t.state INTO v_id, v_run, v_state FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    IF NOT FOUND THEN code := 7; RETURN; END IF;
    IF v_run <> p_run OR v_state NOT IN ('submitted', 'working') THEN code := 5; RETURN; END IF;
    SELECT c.account INTO v_account FROM forecourt.charges c WHERE c.task = v_id;
    IF forecourt.is_full_1(v_account, p_room, p_max) THEN code := 1; RETURN; END IF;
    SELECT coalesce(max(e.n), 0) INTO n FROM forecourt.events e WHERE e.task = v_id;
    IF p_first < 1 OR p_first > n + 1 THEN code := 6; RETURN; END IF;
    v_cost := 0;
    FOR i IN 1 .. cardinality(p_bodies) LOOP
        IF p_first + i - 1 > n THEN
            INSERT INTO forecourt.events VALUES (v_id, p_first + i - 1, p_bodies[i]);
            n := p_first + i - 1;
            IF v_account IS NOT NULL THEN v_cost := v_cost + forecourt.cost_1(length(p_bodies[i])); END IF;
        END IF;
    END LOOP;
    PERFORM forecourt.charge_task_1(v_id, v_account, v_cost);
    code := 0;
END $$;

-- Code 10: the ending was sealed as another number than it gets, or the body is another one by now than what goes on
-- was added to; `n` is the number of the last event. Nothing is changed.
CREATE FUNCTION forecourt.advance_task_1(
    p_hash bytea, p_from text, p_run text, p_to text, p_at bigint, p_outcome bytea,
    p_is_bounded boolean, p_room bigint, p_max bigint,
    p_ending bytea, p_last bigint,
    p_new_run text, p_new_expires_at bigint, p_before bytea, p_body bytea,
    p_hooks bytea[], p_hook_bodies bytea[], p_limit bigint, p_pending_max bigint,
    p_was_settled boolean, p_is_settled boolean,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_state text; v_run text; v_outcome bigint; v_body bytea; v_account bytea; v_cost bigint; v_told boolean;
BEGIN
    n := 0;
    SELECT t.id, t.state, t.run, length(t.outcome), CASE WHEN p_before IS NOT NULL THEN t.body END
        INTO v_id, v_state, v_run, v_outcome, v_body FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    IF NOT FOUND THEN code := 7; RETURN; END IF;
    SELECT c.account INTO v_account FROM forecourt.charges c WHERE c.task = v_id;
    IF p_is_bounded AND forecourt.is_full_1(v_account, p_room, p_max) THEN code := 1; RETURN; END IF;
    IF v_state <> p_from OR v_run <> p_run THEN code := 9; RETURN; END IF;
    IF p_ending IS NOT NULL THEN
        SELECT coalesce(max(e.n), 0) INTO n FROM forecourt.events e WHERE e.task = v_id;
        IF n <> p_last THEN code := 10; RETURN; END IF;
    END IF;
    IF p_before IS NOT NULL AND v_body <> p_before THEN code := 10; RETURN; END IF;
    v_told := EXISTS (SELECT 1 FROM forecourt.webhooks w WHERE w.task = v_id);
    IF v_told AND p_was_settled THEN
        UPDATE forecourt.deliveries d SET outcome = t.outcome, own = true
            FROM forecourt.tasks t WHERE t.id = v_id AND d.task = v_id AND NOT d.own;
    END IF;
    IF cardinality(p_hooks) > 0 THEN
        code := forecourt.put_webhooks_1(v_id, v_account, p_hooks, p_hook_bodies, p_limit, p_pending_max);
        -- What was changed until here changes nothing that anybody reads.
        IF code <> 0 THEN RETURN; END IF;
        v_told := true;
    END IF;
    UPDATE forecourt.tasks t SET state = p_to, updated_at = p_at, outcome = p_outcome,
        run = coalesce(p_new_run, t.run), expires_at = coalesce(p_new_expires_at, t.expires_at),
        body = coalesce(p_body, t.body)
        WHERE t.id = v_id;
    IF p_ending IS NOT NULL THEN
        n := n + 1;
        INSERT INTO forecourt.events VALUES (v_id, n, p_ending);
    END IF;
    IF p_is_settled AND v_told THEN PERFORM forecourt.tell_1(v_id, NULL); END IF;
    IF v_account IS NOT NULL THEN
        v_cost := coalesce(forecourt.cost_1(length(p_outcome)), 0) - coalesce(forecourt.cost_1(v_outcome), 0)
            + coalesce(forecourt.cost_1(length(p_ending)), 0)
            + coalesce(forecourt.cost_1(length(p_body)), 0) - coalesce(forecourt.cost_1(length(p_before)), 0);
        PERFORM forecourt.charge_task_1(v_id, v_account, v_cost);
    END IF;
    code := 0;
END $$;

CREATE FUNCTION forecourt.put_artifact_1(
    p_hash bytea, p_run text, p_artifact bytea, p_size bigint, p_body bytea, p_bytes bytea, p_room bigint, p_max bigint,
    p_all_max bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_run text; v_state text; v_account bytea;
BEGIN
    n := 0;
    SELECT t.id, t.run, t.state INTO v_id, v_run, v_state FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    IF NOT FOUND THEN code := 7; RETURN; END IF;
    IF v_run <> p_run OR v_state NOT IN ('submitted', 'working') THEN code := 5; RETURN; END IF;
    SELECT c.account INTO v_account FROM forecourt.charges c WHERE c.task = v_id;
    IF forecourt.is_full_1(v_account, p_room, p_max) THEN code := 1; RETURN; END IF;
    code := 0;
    IF EXISTS (SELECT 1 FROM forecourt.artifacts a WHERE a.task = v_id AND a.hash = p_artifact) THEN RETURN; END IF;
    UPDATE forecourt.totals SET amount = amount + p_size
        WHERE name = 'artifact_bytes' AND amount + p_size <= p_all_max;
    IF NOT FOUND THEN code := 8; RETURN; END IF;
    INSERT INTO forecourt.artifacts VALUES (v_id, p_artifact, p_size, p_body, p_bytes);
    PERFORM forecourt.charge_task_1(v_id, v_account, p_room);
END $$;

CREATE FUNCTION forecourt.add_webhook_1(
    p_hash bytea, p_hook bytea, p_body bytea, p_room bigint, p_max bigint, p_limit bigint, p_pending_max bigint,
    p_final text[], p_tell boolean, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_state text; v_account bytea;
BEGIN
    n := 0;
    SELECT t.id, t.state INTO v_id, v_state FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    IF NOT FOUND THEN code := 7; RETURN; END IF;
    SELECT c.account INTO v_account FROM forecourt.charges c WHERE c.task = v_id;
    IF forecourt.is_full_1(v_account, p_room, p_max) THEN code := 1; RETURN; END IF;
    IF v_state = ANY (p_final) AND NOT p_tell THEN code := 12; RETURN; END IF;
    code := forecourt.put_webhooks_1(v_id, v_account, ARRAY[p_hook], ARRAY[p_body], p_limit, p_pending_max);
    IF code = 0 AND v_state = ANY (p_final) THEN PERFORM forecourt.tell_1(v_id, p_hook); END IF;
END $$;

-- `n` is how many there were of that name.
CREATE FUNCTION forecourt.remove_webhook_1(p_hash bytea, p_hook bytea, OUT code bigint, OUT n bigint)
LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_n bigint; v_len bigint;
BEGIN
    n := 0; code := 0;
    SELECT t.id INTO v_id FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    DELETE FROM forecourt.webhooks w WHERE w.task = v_id AND w.hash = p_hook RETURNING w.n, length(w.body) INTO v_n, v_len;
    IF NOT FOUND THEN RETURN; END IF;
    DELETE FROM forecourt.deliveries WHERE task = v_id AND webhook = v_n;
    PERFORM forecourt.charge_task_1(v_id, (SELECT c.account FROM forecourt.charges c WHERE c.task = v_id),
                                    -forecourt.cost_1(v_len));
    n := 1;
END $$;

CREATE FUNCTION forecourt.enqueue_1(
    p_notice bytea, p_due_at bigint, p_expires_at bigint, p_account bytea, p_bytes bigint, p_max bigint,
    p_pending_max bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
BEGIN
    n := 0;
    IF forecourt.is_full_1(p_account, p_bytes, p_max) THEN code := 1; RETURN; END IF;
    IF (SELECT count(*) FROM (SELECT 1 FROM forecourt.deliveries LIMIT p_pending_max) AS d) >= p_pending_max THEN
        code := 4; RETURN;
    END IF;
    INSERT INTO forecourt.deliveries (notice, due_at, expires_at, account, bytes)
        VALUES (p_notice, p_due_at, p_expires_at, p_account, p_bytes);
    PERFORM forecourt.charge_1(p_account, p_bytes);
    code := 0;
END $$;

CREATE FUNCTION forecourt.settle_delivery_1(p_id bigint, p_retry_at bigint, OUT code bigint, OUT n bigint)
LANGUAGE plpgsql AS $$
DECLARE v_account bytea; v_bytes bigint;
BEGIN
    n := 0; code := 0;
    IF p_retry_at IS NOT NULL THEN
        UPDATE forecourt.deliveries SET due_at = p_retry_at, claimed = false, lease_until = NULL WHERE id = p_id;
    ELSE
        DELETE FROM forecourt.deliveries WHERE id = p_id RETURNING account, bytes INTO v_account, v_bytes;
        PERFORM forecourt.charge_1(v_account, -v_bytes);
    END IF;
END $$;

CREATE FUNCTION forecourt.release_deliveries_1(p_now bigint, OUT code bigint, OUT n bigint) LANGUAGE plpgsql AS $$
BEGIN
    code := 0;
    UPDATE forecourt.deliveries SET due_at = p_now, claimed = false, lease_until = NULL WHERE claimed;
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

-- Code 9: it is somebody else's. `n` is the number of its last turn.
CREATE FUNCTION forecourt.append_turns_1(
    p_hash bytea, p_agent text, p_owner bytea, p_expires_at bigint, p_bodies bytea[], p_keep bigint,
    p_overhead bigint, p_bytes_max bigint, p_account bytea, p_max bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_thread forecourt.threads; v_id bigint; v_len bigint; v_last bigint;
    v_kept bigint; v_plain bigint; v_cost bigint; v_more bigint;
BEGIN
    LOOP
        n := 0; v_kept := 0; v_plain := 0; v_last := 0; v_id := NULL;
        SELECT * INTO v_thread FROM forecourt.threads t WHERE t.hash = p_hash AND t.agent = p_agent FOR UPDATE;
        IF FOUND THEN
            v_id := v_thread.id;
            IF v_thread.owner IS NOT NULL AND v_thread.owner IS DISTINCT FROM p_owner THEN code := 9; RETURN; END IF;
            SELECT coalesce(max(t.n), 0) INTO v_last FROM forecourt.turns t WHERE t.thread = v_id;
        END IF;
        -- Which of all turns stay, the newest first, and what they cost: as turns.rs says it.
        v_cost := forecourt.cost_1(0);
        FOR v_len IN
            SELECT l FROM (
                SELECT length(b)::bigint AS l, v_last + i AS place FROM unnest(p_bodies) WITH ORDINALITY AS p (b, i)
                UNION ALL SELECT length(t.body), t.n FROM forecourt.turns t WHERE t.thread = v_id
            ) AS every ORDER BY place DESC
        LOOP
            EXIT WHEN v_kept >= p_keep OR (v_plain > 0 AND v_plain + v_len - p_overhead > p_bytes_max);
            v_plain := v_plain + v_len - p_overhead;
            v_kept := v_kept + 1;
            v_cost := v_cost + forecourt.cost_1(v_len);
        END LOOP;
        v_more := v_cost;
        IF v_id IS NOT NULL AND v_thread.account IS NOT DISTINCT FROM p_account THEN
            v_more := greatest(v_cost - v_thread.bytes, 0);
        END IF;
        IF forecourt.is_full_1(p_account, v_more, p_max) THEN code := 1; RETURN; END IF;
        IF v_id IS NULL THEN
            INSERT INTO forecourt.threads AS t (hash, agent, owner, expires_at, account, bytes)
                VALUES (p_hash, p_agent, p_owner, p_expires_at, p_account, v_cost)
                ON CONFLICT DO NOTHING RETURNING t.id INTO v_id;
            -- Somebody else began it just now: look at that one.
            CONTINUE WHEN v_id IS NULL;
            PERFORM forecourt.charge_1(p_account, v_cost);
        ELSE
            UPDATE forecourt.threads t SET expires_at = p_expires_at, owner = p_owner, account = p_account,
                bytes = v_cost WHERE t.id = v_id;
            PERFORM forecourt.charge_1(v_thread.account, -v_thread.bytes);
            PERFORM forecourt.charge_1(p_account, v_cost);
        END IF;
        EXIT;
    END LOOP;
    INSERT INTO forecourt.turns SELECT v_id, v_last + i, b FROM unnest(p_bodies) WITH ORDINALITY AS p (b, i);
    v_last := v_last + cardinality(p_bodies);
    DELETE FROM forecourt.turns t WHERE t.thread = v_id AND t.n <=
        (SELECT k.n FROM forecourt.turns k WHERE k.thread = v_id ORDER BY k.n DESC LIMIT 1 OFFSET v_kept);
    code := 0;
    n := CASE WHEN p_keep = 0 THEN 0 ELSE v_last END;
END $$;

CREATE FUNCTION forecourt.set_route_1(
    p_hash bytea, p_expires_at bigint, p_body bytea, p_account bytea, p_bytes bigint, p_max bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_route forecourt.routes; v_is_there boolean; v_added boolean;
BEGIN
    n := 0;
    LOOP
        SELECT * INTO v_route FROM forecourt.routes r WHERE r.hash = p_hash FOR UPDATE;
        v_is_there := FOUND;
        IF (NOT v_is_there OR v_route.account IS DISTINCT FROM p_account)
            AND forecourt.is_full_1(p_account, p_bytes, p_max) THEN code := 1; RETURN; END IF;
        IF v_is_there THEN
            UPDATE forecourt.routes r SET expires_at = p_expires_at, body = p_body, account = p_account, bytes = p_bytes
                WHERE r.hash = p_hash;
            PERFORM forecourt.charge_1(v_route.account, -v_route.bytes);
            EXIT;
        END IF;
        INSERT INTO forecourt.routes VALUES (p_hash, p_expires_at, p_body, p_account, p_bytes) ON CONFLICT DO NOTHING;
        v_added := FOUND;
        EXIT WHEN v_added;
    END LOOP;
    PERFORM forecourt.charge_1(p_account, p_bytes);
    code := 0;
END $$;

-- `n` is 1 for the first claim. An expired claim counts as none, and what expires at once can't be claimed.
CREATE FUNCTION forecourt.claim_once_1(p_hash bytea, p_now bigint, p_expires_at bigint, OUT code bigint, OUT n bigint)
LANGUAGE plpgsql AS $$
BEGIN
    code := 0;
    INSERT INTO forecourt.claims AS c SELECT p_hash, p_expires_at WHERE p_expires_at > p_now
        ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at WHERE c.expires_at <= p_now;
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

CREATE FUNCTION forecourt.beat_1(p_run text, OUT code bigint, OUT n bigint) LANGUAGE plpgsql AS $$
BEGIN
    code := 0;
    INSERT INTO forecourt.runs AS r VALUES (p_run, 1)
        ON CONFLICT (run) DO UPDATE SET beat = r.beat + 1 WHERE NOT r.ended;
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

CREATE FUNCTION forecourt.end_run_1(p_run text, p_beat bigint, OUT code bigint, OUT n bigint) LANGUAGE plpgsql AS $$
BEGIN
    code := 0;
    INSERT INTO forecourt.runs AS r VALUES (p_run, p_beat, true)
        ON CONFLICT (run) DO UPDATE SET ended = true WHERE NOT r.ended AND r.beat = p_beat;
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

-- `n` is its number. Code 9: the last entry is another one. The row of the stream is what everybody waits for, so that
-- numbers have no gaps and no two writers see the same last one.
CREATE FUNCTION forecourt.append_entry_1(
    p_hash bytea, p_expected bigint, p_at bigint, p_expires_at bigint, p_body bytea, p_account bytea, p_bytes bigint,
    p_max bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_last bigint; v_readable bigint;
BEGIN
    n := 0;
    LOOP
        SELECT s.id, s.last INTO v_id, v_last FROM forecourt.streams s WHERE s.hash = p_hash FOR UPDATE;
        IF FOUND THEN
            SELECT max(e.n) INTO v_readable FROM forecourt.entries e
                WHERE e.stream = v_id AND (e.expires_at IS NULL OR e.expires_at > p_at);
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

-- Rows of the logs of expired tasks: a log can be long. `n` is how many were removed.
CREATE FUNCTION forecourt.trim_logs_1(p_now bigint, p_limit bigint, OUT code bigint, OUT n bigint)
LANGUAGE plpgsql AS $$
BEGIN
    code := 0;
    DELETE FROM forecourt.events e USING (
        SELECT l.task, l.n FROM forecourt.tasks t JOIN forecourt.events l ON l.task = t.id
        WHERE t.expires_at <= p_now LIMIT p_limit) AS old
        WHERE e.task = old.task AND e.n = old.n;
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

-- Removes at most so many expired things; what others hold at the moment is left for the next time.
CREATE FUNCTION forecourt.expire_1(p_now bigint, p_limit bigint, OUT code bigint, OUT n bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_tasks bigint[]; v_threads bigint[]; v_notices bigint[]; v_routes bytea[]; v_streams bigint[];
    v_left bigint := p_limit; v_removed bigint; v_account bytea; v_sum bigint;
    v_sum_bytes bigint;
BEGIN
    code := 0; n := 0;
    v_tasks := ARRAY(SELECT id FROM forecourt.tasks WHERE expires_at <= p_now LIMIT v_left);
    v_threads := ARRAY(SELECT id FROM forecourt.threads WHERE expires_at <= p_now LIMIT v_left);
    v_notices := ARRAY(SELECT id FROM forecourt.deliveries WHERE expires_at <= p_now LIMIT v_left);
    v_routes := ARRAY(SELECT hash FROM forecourt.routes WHERE expires_at <= p_now LIMIT v_left);
    FOR v_account IN
        SELECT DISTINCT a FROM (
            SELECT account AS a FROM forecourt.charges WHERE task = ANY (v_tasks)
            UNION ALL SELECT account FROM forecourt.threads WHERE id = ANY (v_threads)
            UNION ALL SELECT account FROM forecourt.deliveries WHERE id = ANY (v_notices)
            UNION ALL SELECT account FROM forecourt.routes WHERE hash = ANY (v_routes)
            UNION ALL SELECT account FROM (
                SELECT account FROM forecourt.entries WHERE expires_at <= p_now LIMIT v_left) AS e
        ) AS named WHERE a IS NOT NULL ORDER BY a
    LOOP
        PERFORM 1 FROM forecourt.accounts WHERE hash = v_account FOR UPDATE;
    END LOOP;

    v_tasks := ARRAY(SELECT id FROM forecourt.tasks WHERE id = ANY (v_tasks) AND expires_at <= p_now
                     FOR UPDATE SKIP LOCKED);
    PERFORM forecourt.charge_1(g.account, -g.sum) FROM (
        SELECT account, sum(bytes)::bigint AS sum FROM forecourt.charges WHERE task = ANY (v_tasks) GROUP BY account) AS g;
    DELETE FROM forecourt.charges WHERE task = ANY (v_tasks);
    DELETE FROM forecourt.events WHERE task = ANY (v_tasks);
    DELETE FROM forecourt.deliveries WHERE task = ANY (v_tasks);
    DELETE FROM forecourt.webhooks WHERE task = ANY (v_tasks);
    WITH gone AS (DELETE FROM forecourt.artifacts WHERE task = ANY (v_tasks) RETURNING size)
        SELECT coalesce(sum(size), 0) INTO v_sum FROM gone;
    DELETE FROM forecourt.tasks WHERE id = ANY (v_tasks);
    v_left := v_left - cardinality(v_tasks);

    v_threads := ARRAY(SELECT id FROM forecourt.threads WHERE id = ANY (v_threads) AND expires_at <= p_now
                       LIMIT v_left FOR UPDATE SKIP LOCKED);
    PERFORM forecourt.charge_1(g.account, -g.sum) FROM (
        SELECT account, sum(bytes)::bigint AS sum FROM forecourt.threads
        WHERE id = ANY (v_threads) AND account IS NOT NULL GROUP BY account) AS g;
    DELETE FROM forecourt.turns WHERE thread = ANY (v_threads);
    DELETE FROM forecourt.threads WHERE id = ANY (v_threads);
    v_left := v_left - cardinality(v_threads);

    DELETE FROM forecourt.claims WHERE hash IN (
        SELECT hash FROM forecourt.claims WHERE expires_at <= p_now LIMIT v_left FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_removed = ROW_COUNT;
    v_left := v_left - v_removed;

    v_notices := ARRAY(SELECT id FROM forecourt.deliveries WHERE id = ANY (v_notices) AND expires_at <= p_now
                       LIMIT v_left FOR UPDATE SKIP LOCKED);
    PERFORM forecourt.charge_1(g.account, -g.sum) FROM (
        SELECT account, sum(bytes)::bigint AS sum FROM forecourt.deliveries
        WHERE id = ANY (v_notices) AND account IS NOT NULL GROUP BY account) AS g;
    DELETE FROM forecourt.deliveries WHERE id = ANY (v_notices);
    v_left := v_left - cardinality(v_notices);

    v_routes := ARRAY(SELECT hash FROM forecourt.routes WHERE hash = ANY (v_routes) AND expires_at <= p_now
                      LIMIT v_left FOR UPDATE SKIP LOCKED);
    PERFORM forecourt.charge_1(g.account, -g.sum) FROM (
        SELECT account, sum(bytes)::bigint AS sum FROM forecourt.routes
        WHERE hash = ANY (v_routes) AND account IS NOT NULL GROUP BY account) AS g;
    DELETE FROM forecourt.routes WHERE hash = ANY (v_routes);
    v_left := v_left - cardinality(v_routes);

    -- Entries go under the lock of their stream: whoever adds to it has looked at them.
    v_streams := ARRAY(SELECT id FROM forecourt.streams WHERE id IN (
        SELECT stream FROM forecourt.entries WHERE expires_at <= p_now LIMIT v_left) FOR UPDATE SKIP LOCKED);
    FOR v_account, v_sum_bytes, v_removed IN
        WITH gone AS (
            DELETE FROM forecourt.entries d WHERE (d.stream, d.n) IN (
                SELECT e.stream, e.n FROM forecourt.entries e
                WHERE e.stream = ANY (v_streams) AND e.expires_at <= p_now LIMIT v_left)
            RETURNING d.account, d.bytes)
        SELECT account, sum(bytes)::bigint, count(*) FROM gone GROUP BY account ORDER BY account
    LOOP
        v_left := v_left - v_removed;
        PERFORM forecourt.charge_1(v_account, -v_sum_bytes);
    END LOOP;
    DELETE FROM forecourt.streams s WHERE s.id = ANY (v_streams)
        AND NOT EXISTS (SELECT 1 FROM forecourt.entries e WHERE e.stream = s.id);

    DELETE FROM forecourt.accounts WHERE hash IN (
        SELECT hash FROM forecourt.accounts WHERE bytes <= 0 ORDER BY hash LIMIT p_limit FOR UPDATE SKIP LOCKED);
    IF v_sum > 0 THEN
        UPDATE forecourt.totals SET amount = amount - v_sum WHERE name = 'artifact_bytes';
    END IF;
    n := p_limit - v_left;
END $$;

CREATE FUNCTION forecourt.probe_1(p_bytes bytea, OUT code bigint, OUT n bigint) LANGUAGE plpgsql AS $$
BEGIN
    code := 0; n := 0;
    INSERT INTO forecourt.probe VALUES (p_bytes);
    DELETE FROM forecourt.probe;
END $$;
