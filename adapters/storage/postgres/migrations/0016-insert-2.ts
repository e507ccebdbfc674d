import { insert } from './0009-insert.ts'

/**
 * The function of 0009-insert.ts with arrays in the list of what is selected, where they go side by side as they are read;
 * after FROM each is copied first.
 */
export const insert2: string = insert
  .replace('insert_1', 'insert_2')
  .replace(
    insert.slice(insert.indexOf('    SELECT nextval'), insert.indexOf('  stored AS (')),
    `    SELECT nextval('carillon.notification_numbers') AS seq, g.id,
      coalesce(g.organization, p_organizations[1]) AS organization, coalesce(g.channel, p_channels[1]) AS channel,
      coalesce(g.lane, p_lanes[1]) AS lane, g.recipient, coalesce(g.high, p_highs[1]) AS high, g.send_at, g.expires_at,
      g.template_id, g.template_name, g.resend_of, g.trace, g.content, g.attachments
    FROM (SELECT unnest(p_ids) AS id, unnest(p_organizations) AS organization, unnest(p_channels) AS channel,
      unnest(p_lanes) AS lane, unnest(p_recipients) AS recipient, unnest(p_highs) AS high, unnest(p_send_ats) AS send_at,
      unnest(p_expire_ats) AS expires_at, unnest(p_template_ids) AS template_id, unnest(p_template_names) AS template_name,
      unnest(p_resend_ofs) AS resend_of, unnest(p_traces) AS trace, unnest(p_contents) AS content,
      unnest(p_attachments) AS attachments) AS g),
`,
  )
  .replace('json_agg(seq ORDER BY number)', 'json_agg(seq ORDER BY seq)')
