-- Version 2. What is written of tasks again and again is one statement for many writes (`write_2`), and a write whose
-- answer was lost may be made again. Everything of version 1 stays for the programs that call it.

-- Many writes of tasks in their order: what is new (1), events (2), moves that settle (3) and others (4), none of them
-- with anything seldom: no webhooks that are new, no task that goes on after a question. Each array has an element for
-- each write, or none at all; `p_places` names accounts by their place in `p_accounts`, which is in order and locked
-- first; `p_events` has the `p_counts` events of each write, one write after the other. Rooms are what must fit into
-- an account, and for what is new and for events what it costs.
--
-- Answers a code and a number for each write. NULL, and nothing is done, in a transaction whose statements do not see
-- what others committed meanwhile: everything here looks again at what it waited for.
--
-- A write that was made before, by the same run with the same words, is done: its answer was lost.
CREATE FUNCTION forecourt.write_2(
    p_kinds bigint[], p_hashes bytea[], p_runs text[], p_states text[], p_ats bigint[], p_numbers bigint[],
    p_rooms bigint[], p_bodies bytea[], p_outcomes bytea[], p_places bigint[],
    p_tos text[], p_counts bigint[], p_events bytea[],
    p_agents text[], p_owners bytea[], p_threads bytea[], p_created bigint[], p_expires bigint[],
    p_accounts bytea[], p_max bigint, p_lock_timeout text
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_answers bigint[] := '{}'; v_code bigint; v_n bigint; v_id bigint; v_run text; v_state text; v_at bigint;
    v_len bigint; v_told boolean; v_cost bigint; v_place bigint; v_event bigint := 0;
    v_was bigint[] := '{}'; v_bytes bigint[];
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN NULL; END IF;
    -- A plan that was made while a table was empty would read all of it when it is not any more.
    PERFORM set_config('lock_timeout', p_lock_timeout, true), set_config('enable_seqscan', 'off', true),
            CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END;
    FOR i IN 1 .. cardinality(p_accounts) LOOP
        LOOP
            SELECT bytes INTO v_n FROM forecourt.accounts WHERE hash = p_accounts[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO forecourt.accounts VALUES (p_accounts[i], 0) ON CONFLICT DO NOTHING;
        END LOOP;
        v_was := v_was || v_n;
    END LOOP;
    v_bytes := v_was;
    FOR i IN 1 .. cardinality(p_kinds) LOOP
        v_place := p_places[i]; v_cost := 0; v_n := 0;
        IF p_kinds[i] = 1 THEN
            v_id := NULL; v_code := 1;
            IF v_place IS NULL OR v_bytes[v_place] + p_rooms[i] <= p_max THEN
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
                    INSERT INTO forecourt.charges VALUES (v_id, p_accounts[v_place], v_cost);
                END IF;
            ELSIF EXISTS (SELECT 1 FROM forecourt.tasks t WHERE t.hash = p_hashes[i] AND t.run = p_runs[i]
                          AND t.created_at = p_created[i]) THEN
                v_code := 0;
            END IF;
        ELSE
            SELECT t.id, t.run, t.state, t.updated_at, length(t.outcome) INTO v_id, v_run, v_state, v_at, v_len
                FROM forecourt.tasks t WHERE t.hash = p_hashes[i] FOR UPDATE;
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
                    ELSIF v_place IS NOT NULL AND v_bytes[v_place] + p_rooms[i] > p_max THEN
                        v_code := 1;
                    ELSE
                        FOR k IN v_n + 1 .. p_numbers[i] + p_counts[i] - 1 LOOP
                            INSERT INTO forecourt.events VALUES (v_id, k, p_events[v_event + k - p_numbers[i] + 1]);
                            IF v_place IS NOT NULL THEN
                                v_cost := v_cost + forecourt.cost_1(length(p_events[v_event + k - p_numbers[i] + 1]));
                            END IF;
                        END LOOP;
                        v_n := p_numbers[i] + p_counts[i] - 1;
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
                ELSIF v_place IS NOT NULL AND v_bytes[v_place] + p_rooms[i] > p_max THEN
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
                    END IF;
                    v_code := 0;
                END IF;
            END IF;
            IF v_cost <> 0 THEN
                UPDATE forecourt.charges SET bytes = bytes + v_cost WHERE task = v_id;
            END IF;
        END IF;
        IF v_cost <> 0 THEN
            v_bytes[v_place] := v_bytes[v_place] + v_cost;
        END IF;
        -- Also behind a task that is gone: those of the next one come after them.
        v_event := v_event + coalesce(p_counts[i], 0);
        v_answers := v_answers || v_code || v_n;
    END LOOP;
    FOR i IN 1 .. cardinality(p_accounts) LOOP
        IF v_bytes[i] <> v_was[i] THEN
            UPDATE forecourt.accounts SET bytes = v_bytes[i] WHERE hash = p_accounts[i];
        END IF;
    END LOOP;
    RETURN v_answers;
END $$;

-- As version 1 does it, and once: a task of this run and moment is the same one.
CREATE FUNCTION forecourt.create_task_2(
    p_hash bytea, p_agent text, p_owner bytea, p_thread bytea, p_state text, p_run text,
    p_created_at bigint, p_updated_at bigint, p_expires_at bigint, p_body bytea, p_outcome bytea,
    p_account bytea, p_bytes bigint, p_room bigint, p_max bigint,
    p_hooks bytea[], p_hook_bodies bytea[], p_limit bigint, p_pending_max bigint,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT made.code, made.n INTO code, n FROM forecourt.create_task_1(
        p_hash, p_agent, p_owner, p_thread, p_state, p_run, p_created_at, p_updated_at, p_expires_at, p_body, p_outcome,
        p_account, p_bytes, p_room, p_max, p_hooks, p_hook_bodies, p_limit, p_pending_max) AS made;
    IF code <> 0 AND EXISTS (SELECT 1 FROM forecourt.tasks t WHERE t.hash = p_hash AND t.run = p_run
                             AND t.created_at = p_created_at) THEN
        code := 0;
    END IF;
END $$;

-- As version 1 does it, and once: a task that was moved with these very words, which are sealed anew each time, was
-- moved by this call.
CREATE FUNCTION forecourt.advance_task_2(
    p_hash bytea, p_from text, p_run text, p_to text, p_at bigint, p_outcome bytea,
    p_is_bounded boolean, p_room bigint, p_max bigint,
    p_ending bytea, p_last bigint,
    p_new_run text, p_new_expires_at bigint, p_before bytea, p_body bytea,
    p_hooks bytea[], p_hook_bodies bytea[], p_limit bigint, p_pending_max bigint,
    p_was_settled boolean, p_is_settled boolean,
    OUT code bigint, OUT n bigint
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT moved.code, moved.n INTO code, n FROM forecourt.advance_task_1(
        p_hash, p_from, p_run, p_to, p_at, p_outcome, p_is_bounded, p_room, p_max, p_ending, p_last, p_new_run,
        p_new_expires_at, p_before, p_body, p_hooks, p_hook_bodies, p_limit, p_pending_max, p_was_settled,
        p_is_settled) AS moved;
    IF code = 0 THEN RETURN; END IF;
    PERFORM 1 FROM forecourt.tasks t WHERE t.hash = p_hash AND t.run = coalesce(p_new_run, p_run) AND t.state = p_to
        AND t.updated_at = p_at AND t.outcome IS NOT DISTINCT FROM p_outcome AND t.body = coalesce(p_body, t.body)
        AND (p_outcome IS NOT NULL OR p_body IS NOT NULL);
    IF FOUND THEN
        code := 0;
        SELECT coalesce(max(e.n), 0) INTO n FROM forecourt.events e JOIN forecourt.tasks t ON t.id = e.task
            WHERE t.hash = p_hash;
    END IF;
END $$;

-- Since when a run is known to have ended: programs of version 1 do not say it.
ALTER TABLE forecourt.runs ADD COLUMN ended_at bigint;

-- Forgets runs that ended long ago. `n` is how many were removed.
CREATE FUNCTION forecourt.forget_runs_2(p_now bigint, p_kept bigint, p_limit bigint, OUT code bigint, OUT n bigint)
LANGUAGE plpgsql AS $$
BEGIN
    code := 0;
    UPDATE forecourt.runs SET ended_at = p_now WHERE run IN (
        SELECT run FROM forecourt.runs WHERE ended AND ended_at IS NULL LIMIT p_limit FOR UPDATE SKIP LOCKED);
    DELETE FROM forecourt.runs WHERE run IN (
        SELECT run FROM forecourt.runs WHERE ended_at <= p_now - p_kept LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS n = ROW_COUNT;
END $$;

-- What is written to see whether a write would work needs the pages that it says.
ALTER TABLE forecourt.probe ALTER bytes SET STORAGE EXTERNAL;

-- What a task costs changes with each of its writes: beside itself, where there is room for it.
ALTER TABLE forecourt.charges SET (fillfactor = 70);
