/**
 * Attempts begin, each set in one statement. A function, so that its plan is made once for a connection and can only walk
 * along the index: in the order of ids, in which everybody locks jobs. Answers the jobs whose attempt has begun.
 */
export const start = `
CREATE FUNCTION carillon.start_1(p_now bigint, p_ids bigint[], p_tokens bigint[], p_providers text[])
RETURNS TABLE (id bigint, token bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $start$
#variable_conflict use_column
DECLARE
  v_now constant bigint := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
BEGIN
  RETURN QUERY
    WITH given AS MATERIALIZED (
      SELECT * FROM unnest(p_ids, p_tokens, p_providers) AS g (id, token, provider) ORDER BY id)
    UPDATE carillon.jobs AS j SET attempts = j.attempts + 1, provider = given.provider
    FROM given
    WHERE j.id = given.id AND j.state = 2 AND j.token = given.token AND j.lease_until > v_now
    RETURNING j.id, j.token;
END
$start$;
`
