/**
 * Draws on quotas without waiting for anybody, where plenty is left: then processes that send for one organization do not
 * stand in line for its row. True: what was asked for is counted, as rows of `usage_additions`. False: nothing is, and
 * the quotas are to be locked.
 *
 * Exact all the same. A quarter of a limit is kept back; a draw takes at most its part of that quarter, if every connection
 * of the server made one at the same time. So those that do not see each other exceed nothing. Whoever locks takes the
 * lock that draws share, and finds none under way. A function that is VOLATILE, because each of its statements then sees
 * what was committed before it, and so after the lock.
 */
export const draw = `
CREATE FUNCTION carillon.draw_1(p_organizations text[], p_periods text[], p_limits bigint[], p_counts bigint[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off
AS $draw$
DECLARE
  v_connections constant bigint := current_setting('max_connections')::bigint;
  v_kept bigint;
  v_used bigint;
BEGIN
  FOR i IN 1 .. cardinality(p_organizations) LOOP
    v_kept := p_limits[i] / 4;
    IF p_counts[i] > v_kept / v_connections THEN
      RETURN false;
    END IF;
    IF NOT pg_try_advisory_xact_lock_shared(
      hashtextextended('carillon.quota ' || p_organizations[i] || ' ' || p_periods[i], 0)) THEN
      RETURN false;
    END IF;
    SELECT coalesce((SELECT used FROM carillon.usage
        WHERE organization = p_organizations[i] AND period = p_periods[i]), 0)
      + coalesce((SELECT sum(used) FROM carillon.usage_additions
        WHERE organization = p_organizations[i] AND period = p_periods[i]), 0)
    INTO v_used;
    IF v_used > p_limits[i] - v_kept THEN
      RETURN false;
    END IF;
  END LOOP;
  INSERT INTO carillon.usage_additions (used, organization, period)
  SELECT drawn.used, drawn.organization, drawn.period
  FROM unnest(p_counts, p_organizations, p_periods) AS drawn (used, organization, period);
  RETURN true;
END
$draw$;
`
