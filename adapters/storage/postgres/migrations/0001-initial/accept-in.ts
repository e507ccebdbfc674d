/**
 * Accepts one request inside a caller's transaction. It is a function, and so one statement: the caller cannot
 * interleave statements, a data error rolls back only this call, and the caller's client needs to handle nothing but
 * text.
 *
 * `xid` is the transaction's number at the time of the call. A statement that runs after the end of that transaction,
 * or outside of one, stores nothing. `database` identifies this database.
 *
 * It locks no row that another accept waits for: quota counts are rows of `usage_additions`, folded into `usage` later. The lock on an idempotency
 * record's name tells other accepts whom they wait for. It stores the same as insert.ts and idempotency.ts.
 *
 * Records are inserted or removed; a set with one that is refused undoes the call. An inserted one waits only for
 * transactions with the same id or key.
 *
 * A transaction with the snapshot of its first statement would miss a deletion that began later. There a row lock makes
 * it fail if the organization has changed, and its caller retries.
 */
export const acceptIn = `
CREATE FUNCTION carillon.accept_in_1(p_request text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off
AS $accept$
#variable_conflict use_column
DECLARE
  v_request constant json := p_request::json;
  v_now constant bigint :=
    coalesce((v_request ->> 'now')::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_organization constant text := v_request ->> 'organization';
  v_record constant json := v_request -> 'record';
  v_period constant text := v_request ->> 'period';
  v_notifications constant json := v_request -> 'notifications';
  v_size constant integer := json_array_length(v_notifications);
  v_admitted integer := v_size;
  v_counted integer := v_size;
  v_left bigint;
  v_hash bytea;
  v_answer text;
  v_write json;
  v_place integer := -1;
  v_rows bigint;
BEGIN
  IF pg_current_xact_id()::text IS DISTINCT FROM v_request ->> 'xid' THEN
    RETURN '{"kind":"no_transaction"}';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM carillon.kept
    WHERE name = 'database' AND current_database() || ' ' || value = v_request ->> 'database') THEN
    RETURN '{"kind":"other_database"}';
  END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM 1 FROM carillon.r_organizations WHERE id = v_organization FOR KEY SHARE;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM carillon.r_organizations WHERE id = v_organization AND list = 'open') THEN
    RETURN '{"kind":"no_organization"}';
  END IF;

  IF v_period IS NOT NULL THEN
    SELECT greatest(0, (v_request ->> 'limit')::bigint
      - coalesce((SELECT used FROM carillon.usage WHERE organization = v_organization AND period = v_period), 0)
      - coalesce((SELECT sum(used) FROM carillon.usage_additions
          WHERE organization = v_organization AND period = v_period), 0))
    INTO v_left;
    -- For each notification, what all up to it count for.
    SELECT count(*), coalesce(max(needed), 0) INTO v_admitted, v_counted
    FROM (SELECT g.needed::bigint FROM json_array_elements_text(v_request -> 'needed') AS g (needed)) AS each
    WHERE needed <= v_left;
  END IF;

  IF json_typeof(v_record) = 'object' THEN
    v_hash := decode(v_record ->> 'hash', 'hex');
    PERFORM pg_advisory_xact_lock(hashtextextended(v_record ->> 'hash', 0));
    INSERT INTO carillon.idempotency AS i (hash, fingerprint, result, admitted, created_at, expires_at)
    VALUES (v_hash, v_record ->> 'fingerprint', v_record ->> 'result', v_admitted, v_now,
      v_now + (v_record ->> 'ttl')::bigint)
    ON CONFLICT (hash) DO UPDATE SET fingerprint = excluded.fingerprint, result = excluded.result,
      admitted = excluded.admitted, created_at = excluded.created_at, expires_at = excluded.expires_at
    WHERE i.expires_at <= v_now;
    IF NOT FOUND THEN
      SELECT json_build_object('kind', 'replayed', 'record', json_build_object('fingerprint', fingerprint,
        'result', result, 'admitted', admitted, 'createdAt', created_at))::text
      INTO v_answer FROM carillon.idempotency WHERE hash = v_hash;
      RETURN v_answer;
    END IF;
    IF v_admitted = 0 AND v_size > 0 THEN
      DELETE FROM carillon.idempotency WHERE hash = v_hash;
    END IF;
  END IF;

  IF v_admitted = v_size AND json_typeof(v_request -> 'writes') = 'array' THEN
    FOR v_write IN SELECT value FROM json_array_elements(v_request -> 'writes') LOOP
      v_place := v_place + 1;
      IF v_write ->> 'value' IS NULL THEN
        EXECUTE format('DELETE FROM carillon.%I WHERE id = $1', v_write ->> 'table') USING v_write ->> 'id';
        CONTINUE;
      END IF;
      IF v_write ->> 'organization' NOT IN ('', v_organization) AND NOT EXISTS (SELECT 1 FROM carillon.r_organizations
        WHERE id = v_write ->> 'organization' AND list = 'open') THEN
        RAISE EXCEPTION USING ERRCODE = 'CA001', MESSAGE = 'no_organization';
      END IF;
      EXECUTE format('INSERT INTO carillon.%I (created_at, id, organization, key, list, version, value, due_at, due_revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING', v_write ->> 'table')
      USING v_now, v_write ->> 'id', v_write ->> 'organization', v_write ->> 'key', v_write ->> 'list',
        (v_write ->> 'version')::integer, v_write ->> 'value', (v_write ->> 'due')::bigint,
        (v_write ->> 'timed')::integer;
      GET DIAGNOSTICS v_rows = ROW_COUNT;
      IF v_rows = 0 AND NOT (v_write ->> 'keeps')::boolean THEN
        RAISE EXCEPTION USING ERRCODE = 'CA001', MESSAGE = 'taken';
      END IF;
    END LOOP;
  END IF;

  IF v_period IS NOT NULL AND v_counted > 0 THEN
    INSERT INTO carillon.usage_additions (used, organization, period) VALUES (v_counted, v_organization, v_period);
  END IF;

  WITH given AS MATERIALIZED (
    SELECT nextval('carillon.notification_numbers') AS seq, g.* FROM ROWS FROM (
      json_to_recordset(v_notifications) AS (id text, channel text, lane text, recipient text, high boolean,
        send_at bigint, due_at bigint, expires_at bigint, template_id text, template_name text, resend_of text,
        trace text, person text, category text, group_id text, metadata text, content text, attachments text,
        delayed_address text, delayed_person text)
    ) WITH ORDINALITY AS g (id, channel, lane, recipient, high, send_at, due_at, expires_at, template_id,
      template_name, resend_of, trace, person, category, group_id, metadata, content, attachments,
      delayed_address, delayed_person, number)
    ORDER BY g.number LIMIT v_admitted),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, person, category, group_id, metadata, content, attachments)
    SELECT seq, v_now, id, v_organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, person, category, group_id, metadata, content, attachments
    FROM given),
  addressed AS (
    INSERT INTO carillon.new_addresses (entries, first_id, last_id, ids, addresses)
    SELECT count(*), min(id), max(id), array_agg(id), array_agg(recipient) FROM given HAVING count(*) > 0)
  INSERT INTO carillon.jobs
    (id, place, due_at, state, high, lane, organization, subject, delayed_address, delayed_person)
  SELECT 2 * seq, 2 * seq, greatest(v_now, send_at, due_at),
    CASE WHEN greatest(send_at, due_at) > v_now THEN 1 ELSE 0 END, high, lane, v_organization, id,
    CASE WHEN due_at > greatest(v_now, send_at) THEN delayed_address END,
    CASE WHEN due_at > greatest(v_now, send_at) THEN delayed_person END
  FROM given;
  IF json_typeof(v_request -> 'pairs') = 'array' THEN
    -- Finds nothing of those that the quota refused.
    PERFORM carillon.insert_metadata_1(array_agg(id), array_agg(name), array_agg(value))
    FROM json_to_recordset(v_request -> 'pairs') AS p (id text, name text, value text);
  END IF;
  IF json_typeof(v_request -> 'copies') = 'array' THEN
    PERFORM carillon.insert_copies_1(array_agg(id), array_agg(address))
    FROM json_to_recordset(v_request -> 'copies') AS p (id text, address text);
  END IF;
  IF json_typeof(v_request -> 'named') = 'array' THEN
    PERFORM carillon.name_uploads_1(array_agg(id), array_agg(upload))
    FROM json_to_recordset(v_request -> 'named') AS p (id text, upload text);
  END IF;

  RETURN json_build_object('kind', 'accepted', 'admitted', v_admitted, 'createdAt', v_now)::text;
EXCEPTION
  WHEN SQLSTATE 'CA001' THEN
    RETURN json_build_object('kind', 'unwritten', 'why', SQLERRM, 'at', v_place)::text;
  WHEN unique_violation THEN
    RETURN '{"kind":"taken"}';
  WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
    RETURN json_build_object('kind', 'refused', 'state', SQLSTATE, 'message', SQLERRM)::text;
END
$accept$;
`
