-- Version 4. Room for an answer is reserved before its task is acknowledged: it counts for the account of the task until
-- that settles. Programs of earlier versions neither take of it nor give it back; what one of them leaves goes with the
-- task. And the accounts of callers who proved nothing say which networks are around theirs, so that what they have
-- together can be summed up.

-- Keyed hashes, as that of the account; NULL for a proven subject, and until somebody writes for an account of before.
ALTER TABLE forecourt.accounts ADD COLUMN narrow bytea, ADD COLUMN wide bytea;

-- Locks accounts as version 1 does, once those that are named say which networks are around them.
CREATE FUNCTION forecourt.lock_4(
    p_accounts bytea[], p_narrows bytea[], p_wides bytea[], p_tasks bytea[], p_threads bytea[], p_agents text[],
    p_routes bytea[], p_deliveries bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_n bigint;
BEGIN
    PERFORM forecourt.lock_1(p_accounts, p_tasks, p_threads, p_agents, p_routes, p_deliveries);
    FOR v_n IN 1 .. cardinality(p_accounts) LOOP
        IF p_narrows[v_n] IS NOT NULL THEN
            UPDATE forecourt.accounts SET narrow = p_narrows[v_n], wide = p_wides[v_n]
                WHERE hash = p_accounts[v_n] AND narrow IS NULL;
        END IF;
    END LOOP;
END $$;

-- Has the oldest tasks expire that callers who proved nothing have kept, have ended, and of which nobody waits to be
-- told. `n` is the bytes that are charged for them. They are removed as whatever has expired.
CREATE FUNCTION forecourt.end_oldest_4(p_limit bigint, OUT code bigint, OUT n bigint) LANGUAGE plpgsql AS $$
DECLARE v_tasks bigint[];
BEGIN
    code := 0;
    v_tasks := ARRAY(
        SELECT c.task FROM forecourt.charges c JOIN forecourt.accounts a ON a.hash = c.account
        JOIN forecourt.tasks t ON t.id = c.task
        WHERE a.narrow IS NOT NULL AND t.state IN ('completed', 'failed', 'canceled', 'rejected')
            AND NOT EXISTS (SELECT 1 FROM forecourt.deliveries d WHERE d.task = t.id)
        ORDER BY c.task LIMIT p_limit);
    v_tasks := ARRAY(SELECT id FROM forecourt.tasks WHERE id = ANY (v_tasks) FOR UPDATE SKIP LOCKED);
    UPDATE forecourt.tasks SET expires_at = 0 WHERE id = ANY (v_tasks);
    n := coalesce((SELECT sum(bytes) FROM forecourt.charges WHERE task = ANY (v_tasks)), 0);
END $$;

-- What of the bytes of its account is left for the answer of a task.
ALTER TABLE forecourt.charges ADD COLUMN reserved bigint NOT NULL DEFAULT 0;

CREATE FUNCTION forecourt.end_charge_4() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM forecourt.charge_1(OLD.account, -OLD.reserved);
    RETURN NULL;
END $$;
CREATE TRIGGER charge_ended AFTER DELETE ON forecourt.charges FOR EACH ROW WHEN (OLD.reserved > 0)
    EXECUTE FUNCTION forecourt.end_charge_4();

-- Has a task that is locked reserve so much; a task of the host's own reserves nothing. What it reserved before.
CREATE FUNCTION forecourt.reserve_4(p_task bigint, p_bytes bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_account bytea; v_reserved bigint;
BEGIN
    SELECT c.account, c.reserved INTO v_account, v_reserved FROM forecourt.charges c WHERE c.task = p_task;
    IF FOUND AND v_reserved <> p_bytes THEN
        UPDATE forecourt.charges SET reserved = p_bytes WHERE task = p_task;
        PERFORM forecourt.charge_1(v_account, p_bytes - v_reserved);
    END IF;
    RETURN coalesce(v_reserved, 0);
END $$;

-- What a task costs without what it reserves.
CREATE FUNCTION forecourt.task_cost_4(p_task bigint) RETURNS bigint LANGUAGE sql STABLE AS
    'SELECT coalesce((SELECT bytes FROM forecourt.charges WHERE task = p_task), 0)';

-- The functions of earlier versions that write of an answer know of no reserves. Here one is taken off while they do
-- it, so that they find its room, and what is left of it is put back.

CREATE FUNCTION forecourt.create_task_4(
    p_hash bytea, p_agent text, p_owner bytea, p_thread bytea, p_state text, p_run text,
    p_created_at bigint, p_updated_at bigint, p_expires_at bigint, p_body bytea, p_outcome bytea,
    p_account bytea, p_bytes bigint, p_room bigint, p_max bigint,
    p_hooks bytea[], p_hook_bodies bytea[], p_limit bigint, p_pending_max bigint, p_reserve bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_is_new boolean;
BEGIN
    v_is_new := NOT EXISTS (SELECT 1 FROM forecourt.tasks t WHERE t.hash = p_hash);
    SELECT made.code, made.n INTO code, n FROM forecourt.create_task_2(
        p_hash, p_agent, p_owner, p_thread, p_state, p_run, p_created_at, p_updated_at, p_expires_at, p_body, p_outcome,
        p_account, p_bytes, p_room + p_reserve, p_max, p_hooks, p_hook_bodies, p_limit, p_pending_max) AS made;
    IF code = 0 AND v_is_new AND p_reserve > 0 THEN
        SELECT t.id INTO v_id FROM forecourt.tasks t WHERE t.hash = p_hash;
        PERFORM forecourt.reserve_4(v_id, p_reserve);
    END IF;
END $$;

CREATE FUNCTION forecourt.append_events_4(
    p_hash bytea, p_run text, p_first bigint, p_bodies bytea[], p_room bigint, p_max bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_reserved bigint; v_cost bigint;
BEGIN
    SELECT t.id INTO v_id FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    v_reserved := forecourt.reserve_4(v_id, 0);
    v_cost := forecourt.task_cost_4(v_id);
    SELECT logged.code, logged.n INTO code, n FROM forecourt.append_events_1(
        p_hash, p_run, p_first, p_bodies, p_room,
        CASE WHEN p_room <= v_reserved THEN 9223372036854775807 ELSE p_max END) AS logged;
    PERFORM forecourt.reserve_4(v_id, greatest(v_reserved + v_cost - forecourt.task_cost_4(v_id), 0));
END $$;

CREATE FUNCTION forecourt.put_artifact_4(
    p_hash bytea, p_run text, p_artifact bytea, p_size bigint, p_body bytea, p_bytes bytea, p_room bigint, p_max bigint,
    p_all_max bigint, OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_reserved bigint; v_cost bigint;
BEGIN
    SELECT t.id INTO v_id FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    v_reserved := forecourt.reserve_4(v_id, 0);
    v_cost := forecourt.task_cost_4(v_id);
    SELECT put.code, put.n INTO code, n FROM forecourt.put_artifact_1(
        p_hash, p_run, p_artifact, p_size, p_body, p_bytes, p_room,
        CASE WHEN p_room <= v_reserved THEN 9223372036854775807 ELSE p_max END, p_all_max) AS put;
    PERFORM forecourt.reserve_4(v_id, greatest(v_reserved + v_cost - forecourt.task_cost_4(v_id), 0));
END $$;

-- `p_reserve` is what a task that goes on reserves anew.
CREATE FUNCTION forecourt.advance_task_4(
    p_hash bytea, p_from text, p_run text, p_to text, p_at bigint, p_outcome bytea,
    p_is_bounded boolean, p_room bigint, p_max bigint,
    p_ending bytea, p_last bigint,
    p_new_run text, p_new_expires_at bigint, p_before bytea, p_body bytea,
    p_hooks bytea[], p_hook_bodies bytea[], p_limit bigint, p_pending_max bigint,
    p_was_settled boolean, p_is_settled boolean, p_reserve bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
DECLARE v_id bigint; v_reserved bigint; v_state text;
BEGIN
    SELECT t.id, t.state INTO v_id, v_state FROM forecourt.tasks t WHERE t.hash = p_hash FOR UPDATE;
    v_reserved := forecourt.reserve_4(v_id, 0);
    SELECT moved.code, moved.n INTO code, n FROM forecourt.advance_task_2(
        p_hash, p_from, p_run, p_to, p_at, p_outcome, p_is_bounded AND p_room + p_reserve > v_reserved,
        p_room + p_reserve, p_max, p_ending, p_last, p_new_run, p_new_expires_at, p_before, p_body, p_hooks,
        p_hook_bodies, p_limit, p_pending_max, p_was_settled, p_is_settled) AS moved;
    -- A move that was made before is done as well, and the reserve of what goes on since must stand.
    IF code <> 0 OR v_state <> p_from THEN
        PERFORM forecourt.reserve_4(v_id, v_reserved);
    ELSIF NOT p_is_settled THEN
        PERFORM forecourt.reserve_4(v_id, greatest(v_reserved, p_reserve));
    END IF;
END $$;

-- As version 2 does it, with reserves: what is new reserves `p_reserve` while it is worked on, events and endings take
-- of it first, and a task that settles gives back what is left.
CREATE FUNCTION forecourt.write_4(
    p_kinds bigint[], p_hashes bytea[], p_runs text[], p_states text[], p_ats bigint[], p_numbers bigint[],
    p_rooms bigint[], p_bodies bytea[], p_outcomes bytea[], p_places bigint[],
    p_tos text[], p_counts bigint[], p_events bytea[],
    p_agents text[], p_owners bytea[], p_threads bytea[], p_created bigint[], p_expires bigint[],
    p_accounts bytea[], p_max bigint, p_lock_timeout text, p_reserve bigint, p_narrows bytea[], p_wides bytea[]
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_answers bigint[] := '{}'; v_code bigint; v_n bigint; v_id bigint; v_run text; v_state text; v_at bigint;
    v_len bigint; v_told boolean; v_cost bigint; v_place bigint; v_event bigint := 0;
    v_was bigint[] := '{}'; v_bytes bigint[]; v_reserved bigint; v_left bigint;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN NULL; END IF;
    -- A plan that was made while a table was empty would read all of it when it is not any more.
    PERFORM set_config('lock_timeout', p_lock_timeout, true), set_config('enable_seqscan', 'off', true),
            CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END;
    FOR i IN 1 .. cardinality(p_accounts) LOOP
        LOOP
            SELECT bytes INTO v_n FROM forecourt.accounts WHERE hash = p_accounts[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO forecourt.accounts VALUES (p_accounts[i], 0, p_narrows[i], p_wides[i]) ON CONFLICT DO NOTHING;
        END LOOP;
        v_was := v_was || v_n;
    END LOOP;
    v_bytes := v_was;
    FOR i IN 1 .. cardinality(p_kinds) LOOP
        -- What it costs, and what it changes of what is reserved.
        v_place := p_places[i]; v_cost := 0; v_n := 0; v_reserved := 0; v_left := 0;
        IF p_kinds[i] = 1 THEN
            IF v_place IS NOT NULL AND p_states[i] IN ('submitted', 'working') THEN v_left := p_reserve; END IF;
            v_id := NULL; v_code := 1;
            IF v_place IS NULL OR v_bytes[v_place] + p_rooms[i] + v_left <= p_max THEN
                INSERT INTO forecourt.tasks AS t
                    (hash, agent, owner, thread, state, run, created_at, updated_at, expires_at, body, outcome)
                    VALUES (p_hashes[i], p_agents[i], p_owners[i], p_threads[i], p_states[i], p_runs[i], p_created[i],
                            p_ats[i], p_expires[i], p_bodies[i], p_outcomes[i])
                    ON CONFLICT (hash) DO NOTHING RETURNING t.id INTO v_id;
                v_code := 2;
            END IF;
            IF v_id IS NOT NULL THEN
                v_code := 0;
                IF v_place IS NOT NULL THEN
                    v_cost := p_rooms[i];
                    INSERT INTO forecourt.charges (task, account, bytes, reserved)
                        VALUES (v_id, p_accounts[v_place], v_cost, v_left);
                END IF;
            ELSE
                v_left := 0;
                IF EXISTS (SELECT 1 FROM forecourt.tasks t WHERE t.hash = p_hashes[i] AND t.run = p_runs[i]
                           AND t.created_at = p_created[i]) THEN
                    v_code := 0;
                END IF;
            END IF;
        ELSE
            SELECT t.id, t.run, t.state, t.updated_at, length(t.outcome) INTO v_id, v_run, v_state, v_at, v_len
                FROM forecourt.tasks t WHERE t.hash = p_hashes[i] FOR UPDATE;
            IF v_place IS NOT NULL THEN
                SELECT c.reserved INTO v_reserved FROM forecourt.charges c WHERE c.task = v_id;
                v_reserved := coalesce(v_reserved, 0);
            END IF;
            v_left := v_reserved;
            IF v_id IS NULL THEN
                v_code := 7;
            ELSIF p_kinds[i] = 2 THEN
                IF v_run <> p_runs[i] OR v_state NOT IN ('submitted', 'working') THEN
                    v_code := 5;
                ELSE
                    SELECT coalesce(max(e.n), 0) INTO v_n FROM forecourt.events e WHERE e.task = v_id;
                    IF p_numbers[i] < 1 OR p_numbers[i] > v_n + 1 THEN
                        v_code := 6;
                    ELSIF p_numbers[i] + p_counts[i] <= v_n + 1 THEN
                        v_code := 0;
                    ELSIF v_place IS NOT NULL AND p_rooms[i] > v_reserved
                          AND v_bytes[v_place] + p_rooms[i] - v_reserved > p_max THEN
                        v_code := 1;
                    ELSE
                        FOR k IN v_n + 1 .. p_numbers[i] + p_counts[i] - 1 LOOP
                            INSERT INTO forecourt.events VALUES (v_id, k, p_events[v_event + k - p_numbers[i] + 1]);
                            IF v_place IS NOT NULL THEN
                                v_cost := v_cost + forecourt.cost_1(length(p_events[v_event + k - p_numbers[i] + 1]));
                            END IF;
                        END LOOP;
                        v_n := p_numbers[i] + p_counts[i] - 1;
                        v_left := greatest(v_reserved - v_cost, 0);
                        v_code := 0;
                    END IF;
                END IF;
            ELSE
                SELECT coalesce((SELECT max(e.n) FROM forecourt.events e WHERE e.task = v_id), 0),
                       EXISTS (SELECT 1 FROM forecourt.webhooks w WHERE w.task = v_id) INTO v_n, v_told;
                IF v_state <> p_states[i] OR v_run <> p_runs[i] THEN
                    v_code := 9;
                    IF v_run = p_runs[i] AND v_state = p_tos[i] AND v_at = p_ats[i] AND EXISTS (
                        SELECT 1 FROM forecourt.tasks t WHERE t.id = v_id AND t.outcome = p_outcomes[i]
                    ) THEN v_code := 0; END IF;
                ELSIF v_place IS NOT NULL AND p_rooms[i] > v_reserved
                      AND v_bytes[v_place] + p_rooms[i] - v_reserved > p_max THEN
                    v_code := 1;
                ELSIF p_bodies[i] IS NOT NULL AND v_n <> p_numbers[i] THEN
                    v_code := 10;
                ELSE
                    UPDATE forecourt.tasks t SET state = p_tos[i], updated_at = p_ats[i], outcome = p_outcomes[i]
                        WHERE t.id = v_id;
                    IF p_bodies[i] IS NOT NULL THEN
                        v_n := v_n + 1;
                        INSERT INTO forecourt.events VALUES (v_id, v_n, p_bodies[i]);
                    END IF;
                    IF v_told AND p_kinds[i] = 3 THEN PERFORM forecourt.tell_1(v_id, NULL); END IF;
                    IF v_place IS NOT NULL THEN
                        v_cost := coalesce(forecourt.cost_1(length(p_outcomes[i])), 0)
                            - coalesce(forecourt.cost_1(v_len), 0) + coalesce(forecourt.cost_1(length(p_bodies[i])), 0);
                        v_left := CASE WHEN p_kinds[i] = 3 THEN 0 ELSE greatest(v_reserved - greatest(v_cost, 0), 0) END;
                    END IF;
                    v_code := 0;
                END IF;
            END IF;
            IF v_cost <> 0 OR v_left <> v_reserved THEN
                UPDATE forecourt.charges SET bytes = bytes + v_cost, reserved = v_left WHERE task = v_id;
            END IF;
        END IF;
        IF v_place IS NOT NULL THEN
            v_bytes[v_place] := v_bytes[v_place] + v_cost + v_left - v_reserved;
        END IF;
        -- Also behind a task that is gone: those of the next one come after them.
        v_event := v_event + coalesce(p_counts[i], 0);
        v_answers := v_answers || v_code || v_n;
    END LOOP;
    FOR i IN 1 .. cardinality(p_accounts) LOOP
        IF v_bytes[i] <> v_was[i] THEN
            UPDATE forecourt.accounts SET bytes = v_bytes[i], narrow = coalesce(narrow, p_narrows[i]),
                wide = coalesce(wide, p_wides[i]) WHERE hash = p_accounts[i];
        END IF;
    END LOOP;
    RETURN v_answers;
END $$;
