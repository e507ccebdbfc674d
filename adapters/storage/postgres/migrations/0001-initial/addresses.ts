/** An entry of an index has at most 2,704 bytes, and a character up to four. Longer addresses are those of web push. */
const INDEXED = 512

/**
 * The index of notifications by address: see addresses.ts of the storage. It has their first {@link INDEXED}
 * characters; lists compare whole addresses. These are functions so that their plans are made once per connection, and
 * can only walk indexes, whatever the statistics suggest.
 *
 * `file_addresses_1` moves waiting addresses into a run with room, sorted, and returns their number. Each process that
 * runs it at the same time takes other rows and another run. `forget_addresses_1` removes those of notifications that
 * the caller has locked. Its second half sees what a concurrent move has stored: the first has waited for that.
 * `find_addresses_1` returns a row of nulls for each match of another organization.
 */
export const addresses: string = `
CREATE FUNCTION carillon.file_addresses_1(p_most integer, p_room integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $file$
DECLARE
  v_until text;
  v_run bigint;
  v_written record;
BEGIN
  SELECT max(n.last_id) INTO v_until FROM (
    SELECT w.last_id, sum(w.entries) OVER (ORDER BY w.last_id ROWS UNBOUNDED PRECEDING) - w.entries AS before
    FROM (SELECT last_id, entries FROM carillon.new_addresses ORDER BY last_id LIMIT p_most) AS w) AS n
  WHERE n.before < p_most;
  IF v_until IS NULL THEN
    RETURN 0;
  END IF;
  SELECT run INTO v_run FROM carillon.address_runs WHERE entries < p_room ORDER BY run LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF v_run IS NULL THEN
    INSERT INTO carillon.address_runs DEFAULT VALUES RETURNING run INTO v_run;
  END IF;
  WITH taken AS (
    DELETE FROM carillon.new_addresses WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM carillon.new_addresses WHERE last_id <= v_until FOR UPDATE SKIP LOCKED))
    RETURNING ids, addresses),
  given AS MATERIALIZED (
    SELECT unnest(ids) AS id, left(lower(unnest(addresses)), ${INDEXED}) COLLATE "C" AS address FROM taken),
  written AS (
    INSERT INTO carillon.addresses (run, address, notification)
    SELECT v_run, address, id FROM given ORDER BY address)
  SELECT count(*) AS entries, min(id) AS first_id, max(id) AS last_id INTO v_written FROM given;
  UPDATE carillon.address_runs SET entries = entries + v_written.entries,
    first_id = least(first_id, v_written.first_id), last_id = greatest(last_id, v_written.last_id)
  WHERE run = v_run;
  -- Full ones whose notifications were all removed.
  DELETE FROM carillon.address_runs AS r WHERE r.entries >= p_room AND r.run <> v_run AND (
    SELECT true FROM carillon.addresses AS a
    WHERE a.run = r.run AND a.notification >= r.first_id AND a.notification <= r.last_id LIMIT 1) IS NULL;
  RETURN v_written.entries;
END
$file$;

CREATE FUNCTION carillon.forget_addresses_1(p_ids text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $forget$
DECLARE
  v_first text;
  v_last text;
BEGIN
  SELECT min(id COLLATE "C"), max(id COLLATE "C") INTO v_first, v_last FROM unnest(p_ids) AS id;
  -- In one order, so that two removals cannot deadlock.
  PERFORM 1 FROM carillon.new_addresses WHERE last_id >= v_first AND first_id <= v_last ORDER BY last_id, ctid FOR UPDATE;
  IF FOUND THEN
    UPDATE carillon.new_addresses AS w SET (entries, ids, addresses) = (
      SELECT count(*), coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.address), '{}')
      FROM unnest(w.ids, w.addresses) AS g (id, address) WHERE g.id NOT IN (SELECT unnest(p_ids)))
    WHERE w.last_id >= v_first AND w.first_id <= v_last
      AND (SELECT bool_or(g.id IN (SELECT unnest(p_ids))) FROM unnest(w.ids) AS g (id));
  END IF;
  DELETE FROM carillon.addresses AS a USING (
    SELECT n.id, left(lower(n.recipient), ${INDEXED}) COLLATE "C" AS address, r.run
    FROM carillon.notifications AS n CROSS JOIN carillon.address_runs AS r
    WHERE n.id = ANY (p_ids) AND r.first_id <= n.id AND r.last_id >= n.id OFFSET 0) AS g
  WHERE a.run = g.run AND a.address = g.address AND a.notification = g.id;
END
$forget$;

CREATE FUNCTION carillon.find_addresses_1(p_from text, p_until text, p_organization text, p_most integer)
RETURNS TABLE (o_id text, o_created_at bigint, o_seq bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $find$
BEGIN
  p_from := left(p_from, ${INDEXED});
  p_until := left(p_until, ${INDEXED});
  RETURN QUERY
  SELECT n.id, n.created_at, n.seq FROM (
    SELECT w.id FROM (
      SELECT unnest(ids) AS id, unnest(addresses) AS address FROM carillon.new_addresses OFFSET 0) AS w
    WHERE left(lower(w.address), ${INDEXED}) COLLATE "C" BETWEEN p_from AND p_until
    UNION ALL
    SELECT a.notification FROM carillon.address_runs AS r CROSS JOIN LATERAL (
      SELECT notification FROM carillon.addresses
      WHERE run = r.run AND address BETWEEN p_from AND p_until AND notification BETWEEN r.first_id AND r.last_id
      OFFSET 0) AS a
    LIMIT p_most) AS f
  LEFT JOIN LATERAL (
    SELECT s.id, s.created_at, s.seq FROM carillon.notifications AS s
    WHERE s.id = f.id AND (p_organization IS NULL OR s.organization = p_organization) OFFSET 0) AS n ON true;
END
$find$;
`
