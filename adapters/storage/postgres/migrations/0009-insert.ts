/**
 * Stores notifications with their jobs, in the given order, after an optional draw on quotas. A refused draw stores
 * nothing and returns `o_drawn` false. A column with equal values is passed as one value, an empty column as none: that
 * covers most columns of a set.
 *
 * It is a function so that its statement is planned once per connection, without prepared statements, which some
 * poolers do not support. Planning each time took half of the server's work. Never change a released function: add a
 * new one.
 */
export const insert = `
CREATE FUNCTION carillon.insert_1(
  p_now bigint, p_ids text[], p_organizations text[], p_channels text[], p_lanes text[], p_recipients text[],
  p_highs boolean[], p_send_ats bigint[], p_expire_ats bigint[], p_template_ids text[], p_template_names text[],
  p_resend_ofs text[], p_traces text[], p_contents text[], p_attachments text[], p_published boolean,
  p_drawn_organizations text[], p_drawn_periods text[], p_drawn_limits bigint[], p_drawn_counts bigint[],
  OUT o_now bigint, OUT o_drawn boolean, OUT o_seqs text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET jit = off SET plan_cache_mode = force_generic_plan
AS $insert$
BEGIN
  o_now := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  o_drawn := p_drawn_organizations IS NULL
    OR carillon.draw_1(p_drawn_organizations, p_drawn_periods, p_drawn_limits, p_drawn_counts);
  IF NOT o_drawn THEN
    RETURN;
  END IF;
  WITH given AS MATERIALIZED (
    SELECT nextval('carillon.notification_numbers') AS seq, g.id,
      coalesce(g.organization, p_organizations[1]) AS organization, coalesce(g.channel, p_channels[1]) AS channel,
      coalesce(g.lane, p_lanes[1]) AS lane, g.recipient, coalesce(g.high, p_highs[1]) AS high, g.send_at, g.expires_at,
      g.template_id, g.template_name, g.resend_of, g.trace, g.content, g.attachments, g.number
    FROM unnest(
      p_ids, p_organizations, p_channels, p_lanes, p_recipients, p_highs, p_send_ats, p_expire_ats, p_template_ids,
      p_template_names, p_resend_ofs, p_traces, p_contents, p_attachments
    ) WITH ORDINALITY AS g (id, organization, channel, lane, recipient, high, send_at, expires_at,
      template_id, template_name, resend_of, trace, content, attachments, number)
    ORDER BY g.number),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, content, attachments)
    SELECT seq, o_now, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, content, attachments
    FROM given),
  queued AS (
    INSERT INTO carillon.jobs (id, place, due_at, state, high, lane, organization, subject)
    SELECT 2 * seq, 2 * seq, CASE WHEN send_at > o_now THEN send_at ELSE o_now END,
      CASE WHEN send_at > o_now THEN 1 ELSE 0 END, high, lane, organization, id
    FROM given)
  SELECT CASE WHEN p_published THEN (SELECT json_agg(seq ORDER BY number) FROM given)::text END INTO o_seqs;
END
$insert$;
`
