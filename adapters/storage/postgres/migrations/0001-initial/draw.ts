/**
 * Draws on quotas without row locks while plenty is left, so that processes sending for one organization do not queue
 * for its row. True: the draw is counted in rows of `usage_additions`. False: nothing is counted, and the caller must
 * lock the quotas.
 *
 * The result is exact. A quarter of each limit is kept in reserve, and one draw takes at most the fraction of it that
 * remains safe if every connection of the server draws at once. So concurrent draws that do not see each other cannot
 * exceed the limit. A caller that locks takes the lock that draws share, so none is running. The function is VOLATILE:
 * each statement sees everything committed before it, and therefore everything before the lock.
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
