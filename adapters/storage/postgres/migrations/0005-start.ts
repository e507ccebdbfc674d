/**
 * Starts attempts. It is a function so that its plan is made once per connection and can only walk the index. There is
 * no join: a plan made while the table was empty could join by a walk of the whole index. Jobs of one claim and one
 * provider share a statement. Returns the jobs whose attempt has begun.
 */
export const start = `
CREATE FUNCTION carillon.start_1(p_now bigint, p_ids bigint[], p_tokens bigint[], p_providers text[])
RETURNS TABLE (id bigint, token bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $start$
DECLARE
  v_now constant bigint := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_some record;
BEGIN
  FOR v_some IN
    SELECT g.token, g.provider, array_agg(g.id) AS ids
    FROM unnest(p_ids, p_tokens, p_providers) AS g (id, token, provider) GROUP BY g.token, g.provider
  LOOP
    RETURN QUERY
    UPDATE carillon.jobs AS j SET attempts = j.attempts + 1, provider = v_some.provider
    WHERE j.id = ANY (v_some.ids) AND j.state + 0 = 2 AND j.token = v_some.token AND j.lease_until > v_now
    RETURNING j.id, j.token;
  END LOOP;
END
$start$;
`
