const standing = `s.id, s.number, coalesce(s.status, p_statuses[1]), coalesce(s.sequence, p_sequences[1]),
      coalesce(s.published, p_published[1]), s.fold, s.provider, s.message_id, s.error, coalesce(s.owner, p_organizations[1]),
      coalesce(s.created_at, p_created_ats[1])
    FROM (SELECT unnest(p_notifications) AS id, unnest(p_numbers) AS number, unnest(p_stored) AS stored,
      unnest(p_statuses) AS status, unnest(p_sequences) AS sequence, unnest(p_published) AS published,
      unnest(p_folds) AS fold, unnest(p_providers) AS provider, unnest(p_message_ids) AS message_id,
      unnest(p_errors) AS error, unnest(p_organizations) AS owner, unnest(p_created_ats) AS created_at) AS s
    WHERE`

/**
 * Locks, reads and writes of a settlement, as functions, because statements over partitioned tables take long to plan.
 * Each statement reads tables by an array and bounds, so that the only possible plan walks the column's index, even if
 * the table was empty at planning time.
 *
 * A settlement deletes its jobs, or locks those that are due again, and that protects their notifications: adding a
 * fact requires the lock on the job. The notification's own row is only read.
 */
export const settle: string = `
CREATE FUNCTION carillon.take_leased_1(p_ended bigint[], p_ended_tokens bigint[], p_again bigint[], p_again_tokens bigint[])
RETURNS TABLE (o_job bigint, o_token bigint, o_subject text, o_lane text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $settle$
DECLARE
  v_some record;
BEGIN
  -- Rows are locked in the order of ids everywhere: an index walk for an array follows the order of its values, while
  -- ORDER BY would allow a walk of the whole index. If all jobs end and come from one claim, the DELETE below suffices;
  -- otherwise everything is locked before it, but not what a transaction of a caller may have locked.
  IF (SELECT count(DISTINCT t) FROM unnest(p_ended_tokens || p_again_tokens) AS t) > 1 OR cardinality(p_again) > 0 THEN
    PERFORM 1 FROM carillon.jobs AS j WHERE j.id = ANY (p_ended || p_again) AND j.state + 0 = 2 FOR UPDATE;
  END IF;
  -- The condition on state is not that of the index of leased jobs by time, so that the planner cannot use it.
  FOR v_some IN
    SELECT g.token, array_agg(g.id) AS ids FROM unnest(p_ended, p_ended_tokens) AS g (id, token) GROUP BY g.token
  LOOP
    RETURN QUERY
    DELETE FROM carillon.jobs AS j WHERE j.id = ANY (v_some.ids) AND j.state + 0 = 2 AND j.token = v_some.token
    RETURNING j.id, j.token, j.subject, j.lane;
  END LOOP;
  FOR v_some IN
    SELECT g.token, array_agg(g.id) AS ids FROM unnest(p_again, p_again_tokens) AS g (id, token) GROUP BY g.token
  LOOP
    RETURN QUERY
    SELECT j.id, j.token, j.subject, j.lane FROM carillon.jobs AS j
    WHERE j.id = ANY (v_some.ids) AND j.state + 0 = 2 AND j.token = v_some.token;
  END LOOP;
END
$settle$;

CREATE FUNCTION carillon.take_notifications_1(
  p_ended bigint[], p_ended_tokens bigint[], p_again bigint[], p_again_tokens bigint[])
RETURNS TABLE (o_job bigint, o_token bigint, o_id text, o_organization text, o_channel text, o_recipient text,
  o_created_at bigint, o_send_at bigint, o_trace text, o_labels text,
  o_status text, o_sequence integer, o_published integer, o_fold text, o_provider text, o_provider_message_id text,
  o_error text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_nestloop = off SET enable_mergejoin = off
AS $settle$
DECLARE
  v_jobs bigint[];
  v_tokens bigint[];
  v_subjects text[];
  v_first text COLLATE "C";
  v_last text COLLATE "C";
  v_found integer;
BEGIN
  -- A function's result has the database's collation, which orders ids differently.
  SELECT array_agg(t.o_job), array_agg(t.o_token), array_agg(t.o_subject),
    min(t.o_subject COLLATE "C"), max(t.o_subject COLLATE "C")
  INTO v_jobs, v_tokens, v_subjects, v_first, v_last
  FROM carillon.take_leased_1(p_ended, p_ended_tokens, p_again, p_again_tokens) AS t;
  -- A separate statement sees the writes of earlier lock holders. The bounds help the cached plan: it cannot derive
  -- partitions from an array, but from two values it can.
  RETURN QUERY
  SELECT taken.job, taken.token, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace,
    CASE WHEN coalesce(n.metadata, n.person, n.category, n.group_id) IS NOT NULL
      THEN json_build_array(n.metadata, n.person, n.category, n.group_id)::text END,
    s.status, s.sequence, s.published, s.fold, s.provider, s.provider_message_id, s.error
  FROM (SELECT unnest(v_jobs) AS job, unnest(v_tokens) AS token, unnest(v_subjects) AS subject) AS taken
  JOIN (SELECT * FROM carillon.notifications WHERE id = ANY (v_subjects) AND id >= v_first AND id <= v_last) AS n
    ON n.id = taken.subject
  LEFT JOIN (SELECT * FROM carillon.states
    WHERE notification = ANY (v_subjects) AND notification >= v_first AND notification <= v_last) AS s
    ON s.notification = taken.subject;
  GET DIAGNOSTICS v_found = ROW_COUNT;
  IF v_found < cardinality(v_jobs) THEN
    RAISE EXCEPTION 'A job has no notification.' USING ERRCODE = 'foreign_key_violation';
  END IF;
END
$settle$;

-- Arrays in the select list are unnested while they are read; after FROM each would be copied first. A column with
-- equal values is passed as one value, an empty column as none. With one event per notification, the events share ids
-- and numbers with the states.
CREATE FUNCTION carillon.write_facts_1(
  p_now bigint,
  p_event_notifications text[], p_event_numbers bigint[], p_event_sequences integer[], p_event_organizations text[],
  p_event_statuses text[], p_event_facts text[],
  p_handed_providers text[], p_handed_ids text[], p_handed_notifications text[],
  p_notifications text[], p_numbers bigint[], p_stored boolean[], p_statuses text[], p_sequences integer[],
  p_published integer[], p_folds text[], p_providers text[], p_message_ids text[], p_errors text[], p_organizations text[],
  p_created_ats bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $settle$
BEGIN
  INSERT INTO carillon.events (notification, seq, sequence, organization, status, fact, at)
  SELECT f.notification, f.seq, coalesce(f.sequence, p_event_sequences[1]),
    coalesce(f.organization, p_event_organizations[1]), coalesce(f.status, p_event_statuses[1]), f.fact, p_now
  FROM (SELECT unnest(coalesce(p_event_notifications, p_notifications)) AS notification,
    unnest(coalesce(p_event_numbers, p_numbers)) AS seq, unnest(p_event_sequences) AS sequence,
    unnest(p_event_organizations) AS organization, unnest(p_event_statuses) AS status, unnest(p_event_facts) AS fact) AS f;
  IF cardinality(p_handed_ids) > 0 THEN
    INSERT INTO carillon.handovers (provider, message_id, notification)
    SELECT * FROM unnest(p_handed_providers, p_handed_ids, p_handed_notifications) ON CONFLICT DO NOTHING;
  END IF;
  -- ON CONFLICT costs a second WAL record per row, and most rows are new.
  IF false = ANY (p_stored) THEN
    INSERT INTO carillon.states
      (notification, seq, status, sequence, published, fold, provider, provider_message_id, error, organization, created_at)
    SELECT ${standing} NOT coalesce(s.stored, p_stored[1]);
  END IF;
  IF true = ANY (p_stored) THEN
    INSERT INTO carillon.states
      (notification, seq, status, sequence, published, fold, provider, provider_message_id, error, organization, created_at)
    SELECT ${standing} coalesce(s.stored, p_stored[1])
    ON CONFLICT (notification) DO UPDATE SET
      status = excluded.status, sequence = excluded.sequence, published = excluded.published, fold = excluded.fold,
      provider = excluded.provider, provider_message_id = excluded.provider_message_id, error = excluded.error;
  END IF;
END
$settle$;
`
