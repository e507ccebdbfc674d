import { settings } from './0011-settle.ts'

/**
 * The lookups of 0011-settle.ts, restricted to the partitions between the first and the last id of a set: a cached plan
 * cannot derive partitions from an array, but from two values it can. And a fill factor for jobs: a page has room for
 * the two row versions of a delivery, and the second then changes no index.
 */
export const settle2: string = `
ALTER TABLE carillon.jobs SET (fillfactor = 45);

CREATE FUNCTION carillon.lock_leased_2(p_jobs bigint[])
RETURNS TABLE (o_job bigint, o_token bigint, o_seq bigint, o_id text, o_organization text, o_channel text,
  o_recipient text, o_created_at bigint, o_send_at bigint, o_trace text)
LANGUAGE plpgsql VOLATILE ${settings}
AS $settle$
DECLARE
  v_jobs bigint[];
  v_tokens bigint[];
  v_subjects text[];
  v_first text COLLATE "C";
  v_last text COLLATE "C";
BEGIN
  -- See lock_leased_1 for the lock order.
  WITH locked AS MATERIALIZED (
    SELECT j.id, j.token, j.subject FROM carillon.jobs AS j
    WHERE j.id = ANY (p_jobs) AND j.state + 0 = 2 FOR UPDATE)
  SELECT array_agg(id), array_agg(token), array_agg(subject), min(subject), max(subject)
  INTO v_jobs, v_tokens, v_subjects, v_first, v_last FROM locked;
  RETURN QUERY
  WITH locked AS MATERIALIZED (
    SELECT n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace
    FROM carillon.notifications AS n
    WHERE n.id = ANY (v_subjects) AND n.id >= v_first AND n.id <= v_last FOR NO KEY UPDATE)
  SELECT leased.job, leased.token, l.seq, l.id, l.organization, l.channel, l.recipient, l.created_at, l.send_at, l.trace
  FROM locked AS l JOIN unnest(v_jobs, v_tokens, v_subjects) AS leased (job, token, subject) ON leased.subject = l.id;
END
$settle$;

CREATE FUNCTION carillon.states_of_jobs_2(p_jobs bigint[])
RETURNS TABLE (o_notification text, o_status text, o_sequence integer, o_published integer, o_fold text, o_provider text,
  o_provider_message_id text, o_error text)
LANGUAGE plpgsql VOLATILE ${settings}
AS $settle$
DECLARE
  v_subjects text[];
  v_first text COLLATE "C";
  v_last text COLLATE "C";
BEGIN
  SELECT array_agg(j.subject), min(j.subject), max(j.subject) INTO v_subjects, v_first, v_last
  FROM carillon.jobs AS j WHERE j.id = ANY (p_jobs);
  RETURN QUERY
  SELECT s.notification, s.status, s.sequence, s.published, s.fold, s.provider, s.provider_message_id, s.error
  FROM carillon.states AS s
  WHERE s.notification = ANY (v_subjects) AND s.notification >= v_first AND s.notification <= v_last;
END
$settle$;
`
