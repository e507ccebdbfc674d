/**
 * Stores notifications with their jobs, in the given order, after an optional draw on quotas. `o_drawn` false: nothing
 * was stored, because the draw was refused or an organization is being deleted. A column with equal values is passed as
 * one value, an empty column as none: that covers most columns of a set. Arrays in the select list are unnested while
 * they are read; after FROM each would be copied first.
 *
 * It is a function so that its statement is planned once per connection, without prepared statements, which some
 * poolers do not support. Planning each time took half of the server's work.
 *
 * It takes its transaction number before it looks for a deletion, so that a deletion need not lock accepts: see
 * deletions.ts. Metadata and copies have their own functions, whose settings make them find each notification by its id. So have the
 * named uploads: they are locked against their removal, but not against other accepts.
 */
export const insert = `
CREATE FUNCTION carillon.insert_metadata_1(p_ids text[], p_names text[], p_values text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $insert$
BEGIN
  INSERT INTO carillon.metadata (organization, name, value, created_at, seq, notification)
  SELECT n.organization, p.name, p.value, n.created_at, n.seq, n.id
  FROM unnest(p_ids, p_names, p_values) AS p (id, name, value)
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = p.id OFFSET 0) AS n;
END
$insert$;

CREATE FUNCTION carillon.insert_copies_1(p_ids text[], p_addresses text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $insert$
BEGIN
  INSERT INTO carillon.copies (created_at, seq, notification, organization, address)
  SELECT n.created_at, n.seq, n.id, n.organization, p.address
  FROM unnest(p_ids, p_addresses) AS p (id, address)
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = p.id OFFSET 0) AS n;
END
$insert$;

CREATE FUNCTION carillon.name_uploads_1(p_notifications text[], p_uploads text[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $name$
DECLARE
  v_named bigint;
BEGIN
  PERFORM 1 FROM carillon.r_uploads WHERE id = ANY (p_uploads) ORDER BY id FOR KEY SHARE;
  INSERT INTO carillon.named_uploads (notification, upload)
  SELECT n.id, u.id FROM unnest(p_notifications, p_uploads) AS p (id, upload)
  CROSS JOIN LATERAL (SELECT id, organization FROM carillon.notifications WHERE id = p.id OFFSET 0) AS n
  CROSS JOIN LATERAL (SELECT id FROM carillon.r_uploads
    WHERE id = p.upload AND organization = n.organization OFFSET 0) AS u;
  GET DIAGNOSTICS v_named = ROW_COUNT;
  IF v_named < (SELECT count(*) FROM unnest(p_notifications) AS p (id)
      WHERE EXISTS (SELECT FROM carillon.notifications AS n WHERE n.id = p.id)) THEN
    RAISE foreign_key_violation USING MESSAGE = 'A named upload does not exist.';
  END IF;
END
$name$;

CREATE FUNCTION carillon.insert_1(
  p_now bigint, p_ids text[], p_organizations text[], p_channels text[], p_lanes text[], p_recipients text[],
  p_highs boolean[], p_send_ats bigint[], p_expire_ats bigint[], p_template_ids text[], p_template_names text[],
  p_resend_ofs text[], p_traces text[], p_contents text[], p_attachments text[], p_published boolean,
  p_drawn_organizations text[], p_drawn_periods text[], p_drawn_limits bigint[], p_drawn_counts bigint[],
  p_persons text[], p_categories text[], p_group_ids text[], p_metadata text[],
  p_pair_ids text[], p_pair_names text[], p_pair_values text[], p_naming_ids text[], p_named_uploads text[],
  p_due_ats bigint[], p_delayed_addresses text[], p_delayed_persons text[], p_copy_ids text[], p_copies text[],
  OUT o_now bigint, OUT o_drawn boolean, OUT o_seqs text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET jit = off SET plan_cache_mode = force_generic_plan
AS $insert$
BEGIN
  o_now := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  PERFORM pg_current_xact_id();
  o_drawn := NOT EXISTS (SELECT FROM (SELECT DISTINCT unnest(p_organizations) AS id) AS g
    WHERE (SELECT o.list = 'open' FROM carillon.r_organizations AS o WHERE o.id = g.id) IS NOT TRUE);
  IF NOT o_drawn THEN
    RETURN;
  END IF;
  o_drawn := p_drawn_organizations IS NULL
    OR carillon.draw_1(p_drawn_organizations, p_drawn_periods, p_drawn_limits, p_drawn_counts);
  IF NOT o_drawn THEN
    RETURN;
  END IF;
  WITH given AS MATERIALIZED (
    SELECT nextval('carillon.notification_numbers') AS seq, g.id,
      coalesce(g.organization, p_organizations[1]) AS organization, coalesce(g.channel, p_channels[1]) AS channel,
      coalesce(g.lane, p_lanes[1]) AS lane, g.recipient, coalesce(g.high, p_highs[1]) AS high, g.send_at, g.due_at,
      g.expires_at, g.template_id, g.template_name, g.resend_of, g.trace, g.person, g.category, g.group_id, g.metadata, g.content,
      g.attachments, g.delayed_address, g.delayed_person
    FROM (SELECT unnest(p_ids) AS id, unnest(p_organizations) AS organization, unnest(p_channels) AS channel,
      unnest(p_lanes) AS lane, unnest(p_recipients) AS recipient, unnest(p_highs) AS high, unnest(p_send_ats) AS send_at,
      unnest(p_expire_ats) AS expires_at, unnest(p_template_ids) AS template_id, unnest(p_template_names) AS template_name,
      unnest(p_resend_ofs) AS resend_of, unnest(p_traces) AS trace, unnest(p_persons) AS person,
      unnest(p_categories) AS category, unnest(p_group_ids) AS group_id, unnest(p_metadata) AS metadata,
      unnest(p_contents) AS content,
      unnest(p_attachments) AS attachments, unnest(p_due_ats) AS due_at,
      unnest(p_delayed_addresses) AS delayed_address, unnest(p_delayed_persons) AS delayed_person) AS g),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, person, category, group_id, metadata, content, attachments)
    SELECT seq, o_now, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, person, category, group_id, metadata, content, attachments
    FROM given),
  queued AS (
    INSERT INTO carillon.jobs
      (id, place, due_at, state, high, lane, organization, subject, delayed_address, delayed_person)
    SELECT 2 * seq, 2 * seq, greatest(o_now, send_at, due_at),
      CASE WHEN greatest(send_at, due_at) > o_now THEN 1 ELSE 0 END, high, lane, organization, id,
      CASE WHEN due_at > greatest(o_now, send_at) THEN delayed_address END,
      CASE WHEN due_at > greatest(o_now, send_at) THEN delayed_person END
    FROM given)
  SELECT CASE WHEN p_published THEN (SELECT json_agg(seq ORDER BY seq) FROM given)::text END INTO o_seqs;
  INSERT INTO carillon.new_addresses (entries, first_id, last_id, ids, addresses)
  SELECT count(*), min(id), max(id), p_ids, p_recipients FROM unnest(p_ids) AS id;
  IF p_pair_ids IS NOT NULL THEN
    PERFORM carillon.insert_metadata_1(p_pair_ids, p_pair_names, p_pair_values);
  END IF;
  IF p_copy_ids IS NOT NULL THEN
    PERFORM carillon.insert_copies_1(p_copy_ids, p_copies);
  END IF;
  IF p_naming_ids IS NOT NULL THEN
    PERFORM carillon.name_uploads_1(p_naming_ids, p_named_uploads);
  END IF;
END
$insert$;
`
