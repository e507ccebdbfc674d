/**
 * Locks, reads and writes of a settlement, as functions, because statements over partitioned tables take long to plan.
 * Each statement reads one table by one array, without a join, so that the only possible plan walks the column's index,
 * even if the table was empty at planning time. Never change a released function: add a new one.
 */
export const settings = `
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off`

export const settle: string = `
CREATE FUNCTION carillon.lock_leased_1(p_jobs bigint[])
RETURNS TABLE (o_job bigint, o_token bigint, o_seq bigint, o_id text, o_organization text, o_channel text,
  o_recipient text, o_created_at bigint, o_send_at bigint, o_trace text)
LANGUAGE plpgsql VOLATILE ${settings}
AS $settle$
DECLARE
  v_jobs bigint[] := '{}';
  v_tokens bigint[] := '{}';
  v_subjects text[] := '{}';
  v_job record;
BEGIN
  -- Jobs first, then their notifications, each in the order of ids, like every transaction that locks both: an index
  -- walk for an array follows the order of its values. ORDER BY would allow a walk of the whole index. The condition on
  -- state is not that of the index of leased jobs by time, so that the planner cannot use it.
  FOR v_job IN
    SELECT j.id, j.token, j.subject FROM carillon.jobs AS j
    WHERE j.id = ANY (p_jobs) AND j.state + 0 = 2 FOR UPDATE
  LOOP
    v_jobs := v_jobs || v_job.id;
    v_tokens := v_tokens || v_job.token;
    v_subjects := v_subjects || v_job.subject;
  END LOOP;
  RETURN QUERY
  WITH locked AS MATERIALIZED (
    SELECT n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace
    FROM carillon.notifications AS n WHERE n.id = ANY (v_subjects) FOR NO KEY UPDATE)
  SELECT leased.job, leased.token, l.seq, l.id, l.organization, l.channel, l.recipient, l.created_at, l.send_at, l.trace
  FROM locked AS l JOIN unnest(v_jobs, v_tokens, v_subjects) AS leased (job, token, subject) ON leased.subject = l.id;
END
$settle$;

CREATE FUNCTION carillon.states_of_jobs_1(p_jobs bigint[])
RETURNS TABLE (o_notification text, o_status text, o_sequence integer, o_published integer, o_fold text, o_provider text,
  o_provider_message_id text, o_error text)
LANGUAGE plpgsql VOLATILE ${settings}
AS $settle$
BEGIN
  RETURN QUERY
  SELECT s.notification, s.status, s.sequence, s.published, s.fold, s.provider, s.provider_message_id, s.error
  FROM carillon.states AS s
  WHERE s.notification = ANY (ARRAY(SELECT j.subject FROM carillon.jobs AS j WHERE j.id = ANY (p_jobs)));
END
$settle$;

CREATE FUNCTION carillon.write_facts_1(
  p_now bigint, p_notifications text[], p_sequences integer[], p_seqs bigint[], p_organizations text[], p_statuses text[],
  p_facts text[],
  p_handed_providers text[], p_handed_ids text[], p_handed_notifications text[],
  p_ids text[], p_new_statuses text[], p_new_sequences integer[], p_published integer[], p_folds text[], p_providers text[],
  p_message_ids text[], p_errors text[], p_owners text[], p_created_ats bigint[], p_numbers bigint[],
  p_ended bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE ${settings}
AS $settle$
BEGIN
  WITH added AS (
    INSERT INTO carillon.events (notification, sequence, seq, organization, status, fact, at)
    SELECT f.*, p_now FROM unnest(p_notifications, p_sequences, p_seqs, p_organizations, p_statuses, p_facts) AS f),
  handed_over AS (
    INSERT INTO carillon.handovers (provider, message_id, notification)
    SELECT * FROM unnest(p_handed_providers, p_handed_ids, p_handed_notifications) ON CONFLICT DO NOTHING),
  ended AS (DELETE FROM carillon.jobs WHERE id = ANY (p_ended))
  INSERT INTO carillon.states
    (notification, status, sequence, published, fold, provider, provider_message_id, error, organization, created_at, seq)
  SELECT * FROM unnest(p_ids, p_new_statuses, p_new_sequences, p_published, p_folds, p_providers, p_message_ids, p_errors,
    p_owners, p_created_ats, p_numbers)
  ON CONFLICT (notification) DO UPDATE SET
    status = excluded.status, sequence = excluded.sequence, published = excluded.published, fold = excluded.fold,
    provider = excluded.provider, provider_message_id = excluded.provider_message_id, error = excluded.error;
END
$settle$;
`
