/**
 * One claim in one round trip. It is a function because each step depends on the one before, and because it can
 * restrict its statements to index walks. So a claim does not slow down with the backlog, even with statistics of an
 * empty table.
 *
 * Round-robin over organizations, as in the SQLite storage; `shareSlots` in src/core/delivery splits the slots between high and
 * normal, and `share` those of `p_shared` among organizations. The storage contract checks all three.
 *
 * It leases rows where it finds them and returns them as written: the summary first, then one row per job. Rows that
 * another claim is taking are skipped, and the next claim finds rows that another transaction changes between the read
 * and the lock. It reads each table of a year once, between the first and the last id: a cached plan cannot derive
 * partitions from an array, but from two values it can. Each endpoint is returned once.
 *
 * A lease of more than two hours (`LONGEST_LEASE_MS`) is expired too: the clock was ahead when it was given. Each end of
 * the lease index has its own query.
 */
export const claim = `
CREATE TYPE carillon.leased AS (
  id bigint, lane text COLLATE "C", organization text COLLATE "C", due_at bigint, attempts integer, outages integer,
  earlier_attempts integer, recovered boolean, subject text COLLATE "C");

CREATE FUNCTION carillon.claim_1(
  p_now bigint, p_lease_ms bigint,
  p_lanes text[], p_free integer[], p_turns integer[], p_last_normal text[], p_last_high text[],
  p_shared jsonb[], p_ids bigint[], p_recovered text[], p_after text, p_recover boolean
)
RETURNS TABLE (
  "summary" text, "jobId" bigint, "jobLane" text, "jobOrganization" text, "dueAt" bigint,
  "historyText" text, "jobSubject" text, "kindName" text,
  "recipientAddress" text, "contentText" text, "createdAt" bigint, "expiresAt" bigint, "traceText" text,
  "labelsText" text
)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_nestloop = off SET enable_mergejoin = off
AS $claim$
#variable_conflict use_column
DECLARE
  v_now constant bigint := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_until constant bigint := v_now + p_lease_ms;
  v_token bigint;
  v_jobs carillon.leased[] := '{}';
  v_got carillon.leased[];
  v_lane text;
  v_free integer;
  v_turn integer;
  v_high_ready integer;
  v_normal_ready integer;
  v_give integer[];
  v_shared jsonb;
  v_empty integer; -- NULL: not shared
  v_used jsonb;
  v_exempt text;
  v_urgent carillon.leased[];
  v_others carillon.leased[];
  v_priority integer;
  v_left integer;
  v_last text[];
  v_orgs text[];
  v_more text[];
  v_org text;
  v_next text;
  v_wrapped boolean;
  v_from text;
  v_ended boolean;
  v_short boolean;
  v_promoted bigint := 0;
  v_among integer;
  v_wants integer[];
  v_levels integer[];
  v_level integer;
  v_rest integer;
  v_behind text;
  v_turns jsonb := '[]';
  v_found text[] := '{}';
  v_waiting text[] := '{}';
  v_due bigint;
  v_end bigint;
  v_endpoints jsonb := '[]';
  v_notifications text[];
  v_events text[];
  v_first text COLLATE "C";
  v_last_one text COLLATE "C";
  v_first_event text COLLATE "C";
  v_last_event text COLLATE "C";
BEGIN
  -- A lease lost to a power failure only returns the job. Everything else is on disk before it matters: startAttempts
  -- waits for the disk, and with it for every earlier commit.
  PERFORM set_config('synchronous_commit', 'off', true);

  IF p_recover AND (EXISTS (SELECT 1 FROM carillon.jobs WHERE state = 2 AND lease_until <= v_now)
    OR EXISTS (SELECT 1 FROM carillon.jobs WHERE state = 2 AND lease_until > v_now + 7200000)) THEN
    "summary" := '{"expired":true}';
    RETURN NEXT;
    RETURN;
  END IF;

  -- Bounded: a large number of jobs that become due at once is promoted in steps.
  IF EXISTS (SELECT 1 FROM carillon.jobs WHERE state = 1 AND due_at <= v_now) THEN
    UPDATE carillon.jobs SET state = 0 WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM carillon.jobs WHERE state = 1 AND due_at <= v_now ORDER BY due_at LIMIT 1000
      FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_promoted = ROW_COUNT;
  END IF;

  -- Greater than every earlier token, even if a power failure lost the last sequence numbers.
  v_token := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 1024
    + (nextval('carillon.lease_tokens') & 1023);

  IF p_ids IS NOT NULL THEN
    WITH leased AS (
      UPDATE carillon.jobs AS j SET state = 2, token = v_token, lease_until = v_until WHERE j.ctid = ANY (ARRAY(
        SELECT c.ctid FROM carillon.jobs AS c
        WHERE c.id = ANY (p_ids) AND (c.state = 0 OR c.state = 1 AND c.due_at <= v_now) FOR UPDATE SKIP LOCKED))
      RETURNING ROW(j.id, j.lane, j.organization, j.due_at, j.attempts, j.outages, j.earlier_attempts, j.recovered,
        j.subject)::carillon.leased AS job)
    SELECT coalesce(array_agg(job ORDER BY (job).id), '{}') INTO v_got FROM leased;
    v_jobs := v_got;
  ELSIF p_recovered IS NOT NULL THEN
    WITH leased AS (
      UPDATE carillon.jobs AS j SET state = 2, token = v_token, lease_until = v_until WHERE j.ctid = ANY (ARRAY(
        SELECT c.ctid FROM carillon.jobs AS c WHERE c.state = 3 AND c.lane = ANY (p_recovered)
        ORDER BY c.place LIMIT 1 FOR UPDATE SKIP LOCKED))
      RETURNING ROW(j.id, j.lane, j.organization, j.due_at, j.attempts, j.outages, j.earlier_attempts, j.recovered,
        j.subject)::carillon.leased AS job)
    SELECT coalesce(array_agg(job ORDER BY (job).id), '{}') INTO v_got FROM leased;
    v_jobs := v_got;
  END IF;

  FOR lane_number IN 1 .. coalesce(array_length(p_lanes, 1), 0) LOOP
    v_lane := p_lanes[lane_number];
    v_free := p_free[lane_number];
    v_turn := p_turns[lane_number];
    v_last := ARRAY[p_last_normal[lane_number], p_last_high[lane_number]];
    v_shared := p_shared[lane_number];
    v_empty := (v_shared ->> 'empty')::integer;
    v_used := v_shared -> 'used';
    v_exempt := v_shared ->> 'exempt';
    v_urgent := '{}';
    v_others := '{}';

    SELECT count(*) INTO v_high_ready FROM
      (SELECT 1 FROM carillon.jobs WHERE state = 0 AND lane = v_lane AND high LIMIT v_free) AS part;
    v_normal_ready := v_free;
    IF v_high_ready > 0 THEN
      SELECT count(*) INTO v_normal_ready FROM
        (SELECT 1 FROM carillon.jobs WHERE state = 0 AND lane = v_lane AND NOT high LIMIT v_free) AS part;
    END IF;

    v_give := ARRAY[v_free, 0]; -- normal, high
    IF v_high_ready = 0 AND v_free > 0 THEN
      v_turn := 0;
    ELSE
      v_give := ARRAY[0, 0];
      FOR slot IN 1 .. v_free LOOP
        IF v_give[1] < v_normal_ready AND (v_turn >= 4 OR v_give[2] >= v_high_ready) THEN
          v_give[1] := v_give[1] + 1;
          v_turn := 0;
        ELSIF v_give[2] < v_high_ready THEN
          v_give[2] := v_give[2] + 1;
          v_turn := least(v_turn + 1, 4);
        ELSE
          EXIT;
        END IF;
      END LOOP;
    END IF;

    -- High, normal, and high again: what the organizations of one priority may not have goes to the other.
    FOR pass IN 1 .. 3 LOOP
      v_priority := CASE pass WHEN 2 THEN 1 ELSE 2 END;
      v_left := CASE pass WHEN 1 THEN v_give[2] ELSE v_give[1] + v_give[2] END
        - cardinality(v_urgent) - cardinality(v_others);
      CONTINUE WHEN v_left = 0 OR v_priority = 2 AND v_high_ready = 0;

      -- A loose index scan over the organizations with a ready job that may have a slot, in round-robin order.
      -- Further ones follow in another round if some had less than they were given: a transaction of a caller may have
      -- locked the only jobs of an organization, and no other may wait for it.
      v_from := v_last[v_priority];
      v_org := v_from;
      v_wrapped := v_org = '';
      v_ended := false;
      v_short := true;
      WHILE v_short AND v_left > 0 AND NOT v_ended LOOP
        v_short := false;
        v_orgs := '{}';
        WHILE cardinality(v_orgs) < v_left LOOP
          SELECT organization INTO v_next FROM carillon.jobs
          WHERE state = 0 AND lane = v_lane AND high = (v_priority = 2) AND organization > v_org
          ORDER BY organization LIMIT 1;
          IF v_next IS NOT NULL AND NOT (v_wrapped AND v_from <> '' AND v_next > v_from) THEN
            IF v_empty IS NULL OR v_next = v_exempt OR coalesce((v_used ->> v_next)::integer, 0) < v_empty THEN
              v_orgs := v_orgs || v_next;
            END IF;
            v_org := v_next;
          ELSIF v_wrapped THEN
            v_ended := true;
            EXIT;
          ELSE
            v_wrapped := true;
            v_org := '';
          END IF;
        END LOOP;

        -- Unused shares go to the other organizations.
        WHILE v_left > 0 AND cardinality(v_orgs) > 0 LOOP
          v_wants := array_fill(0, ARRAY[cardinality(v_orgs)]);
          IF v_empty IS NULL OR v_orgs = ARRAY[v_exempt] THEN
            v_among := least(cardinality(v_orgs), v_left);
            FOR turn IN 1 .. v_among LOOP
              v_wants[turn] := v_left / v_among + CASE WHEN turn <= v_left % v_among THEN 1 ELSE 0 END;
            END LOOP;
            v_behind := v_orgs[CASE WHEN v_left % v_among > 0 THEN v_left % v_among ELSE v_among END];
          ELSE
            v_levels := ARRAY(SELECT coalesce((v_used ->> org)::integer, 0)
              FROM unnest(v_orgs) WITH ORDINALITY AS listed (org, number) ORDER BY number);
            v_level := 0;
            v_rest := v_left;
            v_behind := NULL;
            -- Raises those with the fewest slots by one, level by level, while more slots are empty than they have.
            WHILE v_rest > 0 AND (v_level < v_empty - v_left + v_rest OR v_exempt = ANY (v_orgs)) LOOP
              FOR turn IN 1 .. cardinality(v_orgs) LOOP
                IF v_rest > 0 AND v_levels[turn] = v_level
                  AND (v_level < v_empty - v_left + v_rest OR v_orgs[turn] = v_exempt) THEN
                  v_wants[turn] := v_wants[turn] + 1;
                  v_levels[turn] := v_level + 1;
                  v_rest := v_rest - 1;
                  v_behind := v_orgs[turn];
                END IF;
              END LOOP;
              v_level := v_level + 1;
            END LOOP;
            EXIT WHEN v_behind IS NULL;
          END IF;
          -- The next claim starts behind the organization with the last slot.
          v_last[v_priority] := v_behind;
          v_more := '{}';
          FOR turn IN 1 .. cardinality(v_orgs) LOOP
            v_got := '{}';
            IF v_wants[turn] > 0 THEN
              WITH leased AS (
                UPDATE carillon.jobs AS j SET state = 2, token = v_token, lease_until = v_until WHERE j.ctid = ANY (ARRAY(
                  SELECT c.ctid FROM carillon.jobs AS c
                  WHERE c.state = 0 AND c.lane = v_lane AND c.high = (v_priority = 2) AND c.organization = v_orgs[turn]
                  ORDER BY c.place LIMIT v_wants[turn] FOR UPDATE SKIP LOCKED))
                RETURNING ROW(j.id, j.lane, j.organization, j.due_at, j.attempts, j.outages, j.earlier_attempts, j.recovered,
                  j.subject)::carillon.leased AS job)
              SELECT coalesce(array_agg(job ORDER BY (job).id), '{}') INTO v_got FROM leased;
            END IF;
            IF v_priority = 2 THEN
              v_urgent := v_urgent || v_got;
            ELSE
              v_others := v_others || v_got;
            END IF;
            v_left := v_left - cardinality(v_got);
            IF v_empty IS NOT NULL THEN
              v_empty := v_empty - cardinality(v_got);
              v_used := v_used || jsonb_build_object(
                v_orgs[turn], coalesce((v_used ->> v_orgs[turn])::integer, 0) + cardinality(v_got));
            END IF;
            IF cardinality(v_got) = v_wants[turn] THEN
              v_more := v_more || v_orgs[turn];
            ELSE
              v_short := true;
            END IF;
          END LOOP;
          v_orgs := v_more;
        END LOOP;
      END LOOP;
    END LOOP;

    v_jobs := v_jobs || v_urgent || v_others;
    IF cardinality(v_urgent) + cardinality(v_others) > 0 THEN
      v_turns := v_turns || jsonb_build_object('lane', v_lane, 'turn', v_turn, 'last', to_jsonb(v_last));
    END IF;
  END LOOP;

  -- Claimable lanes, in steps of a loose index scan, and the time of the next due job.
  v_org := p_after;
  v_wrapped := p_after = '';
  WHILE cardinality(v_found) < 1000 LOOP
    SELECT lane INTO v_next FROM carillon.jobs WHERE state = 0 AND lane > v_org ORDER BY lane LIMIT 1;
    IF v_next IS NOT NULL AND NOT (v_wrapped AND p_after <> '' AND v_next > p_after) THEN
      v_found := v_found || v_next;
      v_org := v_next;
    ELSIF v_wrapped THEN
      EXIT;
    ELSE
      v_wrapped := true;
      v_org := '';
    END IF;
  END LOOP;
  v_org := '';
  WHILE cardinality(v_waiting) < 1000 LOOP
    SELECT lane INTO v_next FROM carillon.jobs WHERE state = 3 AND lane > v_org ORDER BY lane LIMIT 1;
    EXIT WHEN v_next IS NULL;
    v_waiting := v_waiting || v_next;
    v_org := v_next;
  END LOOP;
  SELECT due_at INTO v_due FROM carillon.jobs WHERE state = 1 ORDER BY due_at LIMIT 1;
  -- Others have locked those that are due: another claim, or a transaction of a caller, perhaps for long.
  IF v_due <= v_now AND v_promoted < 1000 THEN
    v_due := v_now + 100;
  END IF;
  SELECT lease_until INTO v_end FROM carillon.jobs WHERE state = 2 ORDER BY lease_until LIMIT 1;

  IF cardinality(v_jobs) > 0 THEN
    SELECT array_agg(subject) FILTER (WHERE id % 2 = 0), min(subject) FILTER (WHERE id % 2 = 0),
      max(subject) FILTER (WHERE id % 2 = 0), array_agg(subject) FILTER (WHERE id % 2 = 1),
      min(subject) FILTER (WHERE id % 2 = 1), max(subject) FILTER (WHERE id % 2 = 1)
    INTO v_notifications, v_first, v_last_one, v_events, v_first_event, v_last_event FROM unnest(v_jobs);
  END IF;
  IF v_events IS NOT NULL THEN
    SELECT coalesce(jsonb_agg(to_jsonb(e)), '[]') INTO v_endpoints FROM carillon.webhook_endpoints AS e
    WHERE e.id = ANY (ARRAY(SELECT DISTINCT lane FROM unnest(v_jobs) WHERE id % 2 = 1));
  END IF;
  "summary" := jsonb_build_object(
    'now', v_now, 'token', v_token, 'turns', v_turns, 'lanes', to_jsonb(v_found), 'recoveredLanes', to_jsonb(v_waiting),
    'endpoints', v_endpoints, 'next', least(v_due, v_end));
  RETURN NEXT;

  IF cardinality(v_jobs) > 0 THEN
    RETURN QUERY
      SELECT NULL::text, j.id, j.lane, j.organization, j.due_at,
        CASE WHEN j.attempts > 0 OR j.outages > 0 OR j.recovered
          THEN json_build_array(j.attempts, j.outages, j.earlier_attempts, j.recovered)::text END,
        j.subject, coalesce(n.channel, d.event_type), n.recipient, coalesce(n.content, d.payload), n.created_at,
        n.expires_at, coalesce(n.trace, d.trace),
        CASE WHEN coalesce(n.metadata, n.person, n.category, n.group_id) IS NOT NULL
          THEN json_build_array(n.metadata, n.person, n.category, n.group_id)::text END
      FROM unnest(v_jobs) WITH ORDINALITY
        AS j (id, lane, organization, due_at, attempts, outages, earlier_attempts, recovered, subject, number)
      LEFT JOIN (SELECT * FROM carillon.notifications
        WHERE id = ANY (v_notifications) AND id >= v_first AND id <= v_last_one) AS n ON n.id = j.subject
      LEFT JOIN (SELECT * FROM carillon.deliveries
        WHERE event_id = ANY (v_events) AND event_id >= v_first_event AND event_id <= v_last_event) AS d
        ON d.event_id = j.subject AND d.endpoint = j.lane
      ORDER BY j.number;
  END IF;
END
$claim$;
`
