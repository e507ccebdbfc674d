import { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'

/** Records that one call marks as due, or takes back. */
const STEP = 1_000

export interface ClaimNames {
  /** Of the kind's table, without a schema. */
  readonly name: string
  readonly table: string
  readonly function: string
  /** The table of organizations. */
  readonly organizations: string
}

/**
 * Indexes of a kind that falls due, and the function that claims its records in one round trip. It can restrict its
 * statements to index walks, so that a claim does not slow down with the records that wait, even with statistics of an
 * empty table. Rows that another claim is taking are skipped.
 *
 * Organizations take turns from `p_from` on, in the order of their ids; the empty one is of records without an
 * organization. The last row has no id: it is the summary. If `p_behind` is true and records lack the due time of their
 * kind, the summary says so and nothing is claimed.
 */
export function claimScript({ name, table, function: claim, organizations }: ClaimNames): string {
  const step = (condition: string, order: string): string => `
    seq = ANY (ARRAY(SELECT seq FROM ${table} WHERE ${condition} ORDER BY ${order} LIMIT ${STEP} FOR UPDATE SKIP LOCKED))`
  return `
CREATE INDEX ${name}_due ON ${table} (due_at) WHERE due_at IS NOT NULL AND NOT ready;
CREATE INDEX ${name}_ready ON ${table} (organization, due_at, seq) WHERE ready;
CREATE INDEX ${name}_leased ON ${table} (due_at) WHERE token IS NOT NULL;
CREATE INDEX ${name}_behind ON ${table} (seq) WHERE due_revision <> revision;

CREATE FUNCTION ${claim}(
  p_now bigint, p_lease_ms bigint, p_most integer, p_from text, p_behind boolean)
RETURNS TABLE (o_seq bigint, o_id text, o_organization text, o_revision integer, o_version integer,
  o_created_at bigint, o_value text, o_token bigint, o_claims integer, o_due_at bigint, o_now bigint, o_next bigint,
  o_behind boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $claim$
DECLARE
  v_now constant bigint := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_token bigint;
  v_orgs text[] := '{}';
  v_more text[];
  v_org text;
  v_from text COLLATE "C" := p_from;
  v_start constant text COLLATE "C" := p_from;
  v_wrapped boolean := p_from = '';
  v_left integer := p_most;
  v_share integer;
  v_got integer;
  v_place integer;
BEGIN
  o_now := v_now;
  o_behind := EXISTS (SELECT 1 FROM ${table} WHERE due_revision <> revision);
  IF o_behind AND p_behind THEN
    RETURN NEXT;
    RETURN;
  END IF;

  -- The clock was ahead when these leases were given.
  UPDATE ${table} SET due_at = v_now WHERE
    ${step(`token IS NOT NULL AND due_at > v_now + ${LONGEST_LEASE_MS}`, 'due_at DESC')};
  UPDATE ${table} SET ready = true WHERE
    ${step('due_at IS NOT NULL AND NOT ready AND due_at <= v_now', 'due_at')};

  WHILE cardinality(v_orgs) < p_most LOOP
    SELECT organization INTO v_org FROM ${table} WHERE ready AND organization >= v_from
    ORDER BY organization LIMIT 1;
    IF NOT FOUND OR v_wrapped AND v_start <> '' AND v_org >= v_start THEN
      EXIT WHEN v_wrapped;
      v_wrapped := true;
      v_from := '';
      CONTINUE;
    END IF;
    v_from := v_org || chr(1);
    IF v_org = '' OR EXISTS (SELECT 1 FROM ${organizations} WHERE id = v_org AND list = 'open') THEN
      v_orgs := v_orgs || v_org;
    ELSE
      -- It is being deleted.
      UPDATE ${table} SET ready = false, due_at = NULL, token = NULL WHERE
        ${step('ready AND organization = v_org', 'due_at')};
    END IF;
  END LOOP;

  IF cardinality(v_orgs) > 0 THEN
    -- Greater than every earlier token, even if a power failure lost the last sequence numbers.
    v_token := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 1024
      + (nextval('carillon.lease_tokens') & 1023);
  END IF;
  WHILE v_left > 0 AND cardinality(v_orgs) > 0 LOOP
    v_more := '{}';
    FOR v_place IN 1 .. cardinality(v_orgs) LOOP
      EXIT WHEN v_left = 0;
      v_org := v_orgs[v_place];
      v_share := ceil(v_left::numeric / (cardinality(v_orgs) - v_place + 1));
      v_got := 0;
      FOR o_seq, o_id, o_organization, o_revision, o_version, o_created_at, o_value, o_token, o_claims, o_due_at IN
        UPDATE ${table} AS r SET ready = false, token = v_token, claims = r.claims + 1,
          due_at = v_now + least(p_lease_ms * (2 ^ least(r.claims, 20))::bigint, ${LONGEST_LEASE_MS})
        WHERE r.seq = ANY (ARRAY(
          SELECT c.seq FROM ${table} AS c WHERE c.ready AND c.organization = v_org AND c.due_revision = c.revision
          ORDER BY c.due_at, c.seq LIMIT v_share FOR UPDATE SKIP LOCKED))
        RETURNING r.seq, r.id, r.organization, r.revision, r.version, r.created_at, r.value, r.token, r.claims, r.due_at
      LOOP
        v_got := v_got + 1;
        RETURN NEXT;
      END LOOP;
      v_left := v_left - v_got;
      IF v_got = v_share THEN v_more := v_more || v_org; END IF;
    END LOOP;
    v_orgs := v_more;
  END LOOP;

  o_id := NULL;
  IF o_behind OR EXISTS (SELECT 1 FROM ${table} WHERE ready) THEN
    o_next := v_now;
  ELSE
    SELECT due_at INTO o_next FROM ${table} WHERE due_at IS NOT NULL AND NOT ready ORDER BY due_at LIMIT 1;
  END IF;
  o_behind := false;
  RETURN NEXT;
END
$claim$;
`
}
