/**
 * Changes a notification inside a caller's transaction, in two calls: `hold_in_1` locks it, `change_in_1` writes. Each is
 * one statement, for the reasons of accept-in.ts; a caller that ends the transaction between them changes nothing.
 *
 * A refusal releases its locks. One of them is a leased job: its process starts and settles it in a set with others, which
 * would wait for the end of the transaction. Another is one to be taken up after the end of its process: it runs alone, so
 * claims would make way for it until that end. All other work skips the locked job, or is about the same notification.
 */
export const changeIn = `
CREATE FUNCTION carillon.hold_in_1(p_request text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off
AS $change$
DECLARE
  v_request constant json := p_request::json;
  v_seq bigint;
  v_job record;
  v_kind text;
BEGIN
  IF pg_current_xact_id()::text IS DISTINCT FROM v_request ->> 'xid' THEN
    RETURN '{"kind":"no_transaction"}';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM carillon.kept
    WHERE name = 'database' AND current_database() || ' ' || value = v_request ->> 'database') THEN
    RETURN '{"kind":"other_database"}';
  END IF;
  BEGIN
    SELECT n.seq INTO v_seq FROM carillon.notifications AS n WHERE n.id = v_request ->> 'id' FOR NO KEY UPDATE;
    SELECT j.state, j.attempts - j.earlier_attempts AS begun INTO v_job
    FROM carillon.jobs AS j WHERE j.id = 2 * v_seq FOR NO KEY UPDATE;
    v_kind := CASE WHEN v_seq IS NULL THEN 'unknown' WHEN v_job IS NULL THEN 'ended'
      WHEN v_job.state IN (2, 3) THEN 'too_late'
      WHEN v_job.begun > 0 AND NOT (v_request ->> 'betweenAttempts')::boolean THEN 'too_late' ELSE 'held' END;
    IF v_kind <> 'held' THEN
      RAISE EXCEPTION USING ERRCODE = 'CA001';
    END IF;
  EXCEPTION
    WHEN SQLSTATE 'CA001' THEN NULL;
  END;
  RETURN json_build_object('kind', v_kind, 'jobId', 2 * v_seq, 'now',
    coalesce((v_request ->> 'now')::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint))::text;
END
$change$;

-- The statements are the storage's own, with its values in them, and run with the caller's rights.
CREATE FUNCTION carillon.change_in_1(p_request text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off
AS $change$
DECLARE
  v_request constant json := p_request::json;
  v_statement text;
BEGIN
  IF pg_current_xact_id()::text IS DISTINCT FROM v_request ->> 'xid' THEN
    RETURN '{"kind":"no_transaction"}';
  END IF;
  FOR v_statement IN SELECT value FROM json_array_elements_text(v_request -> 'statements') LOOP
    EXECUTE v_statement;
  END LOOP;
  RETURN '{"kind":"changed"}';
END
$change$;
`
