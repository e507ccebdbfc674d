/**
 * Starts attempts, and returns the jobs whose attempt has not begun: usually none. Equal tokens and equal providers are
 * passed once. Jobs of one claim and one provider share a statement.
 *
 * It is a function so that its plan is made once per connection and can only walk the index. There is no join: a plan
 * made while the table was empty could join by a walk of the whole index. The condition on state is not that of the
 * index of leased jobs by time, so that the planner cannot use it.
 */
export const start = `
CREATE FUNCTION carillon.start_1(p_now bigint, p_ids bigint[], p_tokens bigint[], p_providers text[])
RETURNS TABLE (o_job bigint, o_token bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $start$
DECLARE
  v_now constant bigint := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_some record;
  v_begun bigint[];
BEGIN
  FOR v_some IN
    SELECT coalesce(g.token, p_tokens[1]) AS token, coalesce(g.provider, p_providers[1]) AS provider, array_agg(g.id) AS ids
    FROM unnest(p_ids, p_tokens, p_providers) AS g (id, token, provider) GROUP BY 1, 2
  LOOP
    WITH begun AS (
      UPDATE carillon.jobs AS j SET attempts = j.attempts + 1, provider = v_some.provider
      WHERE j.id = ANY (v_some.ids) AND j.state + 0 = 2 AND j.token = v_some.token AND j.lease_until > v_now
      RETURNING j.id)
    SELECT array_agg(id) INTO v_begun FROM begun;
    IF cardinality(v_begun) IS DISTINCT FROM cardinality(v_some.ids) THEN
      RETURN QUERY
      SELECT id, v_some.token FROM unnest(v_some.ids) AS id WHERE id <> ALL (coalesce(v_begun, '{}'));
    END IF;
  END LOOP;
END
$start$;
`
