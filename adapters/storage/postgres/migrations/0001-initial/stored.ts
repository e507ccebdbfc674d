import { ROW_BYTES } from '../../../rows/record.ts'

/** Rows of an organization in `stored`, from which on the next change makes them one. */
const MOST_ROWS = 32

const bytes = `octet_length(value) + ${ROW_BYTES}`

/**
 * Triggers of every table of records keep what its organization stores. Each statement adds a row, so that transactions
 * which write records of several organizations, such as settlements, lock nothing that others wait for. Rows of which
 * another transaction makes one are left to it.
 */
export const stored: string = `
CREATE FUNCTION carillon.count_stored_1() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off
AS $count$
DECLARE
  v_organizations text[];
  v_organization text;
BEGIN
  IF TG_OP = 'INSERT' THEN
    WITH counted AS (
      INSERT INTO carillon.stored (organization, bytes)
      SELECT organization, sum(${bytes}) FROM added WHERE organization <> '' GROUP BY organization RETURNING organization)
    SELECT array_agg(organization) INTO v_organizations FROM counted;
  ELSIF TG_OP = 'DELETE' THEN
    WITH counted AS (
      INSERT INTO carillon.stored (organization, bytes)
      SELECT organization, -sum(${bytes}) FROM removed WHERE organization <> '' GROUP BY organization RETURNING organization)
    SELECT array_agg(organization) INTO v_organizations FROM counted;
  ELSE
    WITH counted AS (
      INSERT INTO carillon.stored (organization, bytes)
      SELECT organization, sum(bytes) FROM (
        SELECT organization, ${bytes} AS bytes FROM added
        UNION ALL SELECT organization, -(${bytes}) FROM removed) AS g
      WHERE organization <> '' GROUP BY organization HAVING sum(bytes) <> 0 RETURNING organization)
    SELECT array_agg(organization) INTO v_organizations FROM counted;
  END IF;
  FOREACH v_organization IN ARRAY coalesce(v_organizations, '{}') LOOP
    IF (SELECT count(*) FROM (
        SELECT FROM carillon.stored WHERE organization = v_organization LIMIT ${MOST_ROWS}) AS g) = ${MOST_ROWS} THEN
      WITH gone AS (
        DELETE FROM carillon.stored WHERE id = ANY (ARRAY(
          SELECT id FROM carillon.stored WHERE organization = v_organization FOR UPDATE SKIP LOCKED))
        RETURNING bytes)
      INSERT INTO carillon.stored (organization, bytes) SELECT v_organization, sum(bytes) FROM gone HAVING count(*) > 0;
    END IF;
  END LOOP;
  RETURN NULL;
END
$count$;
`
