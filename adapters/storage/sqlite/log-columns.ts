/** Columns of the notification `n` that an entry of the log shows. */
export const SHOWN: string = `n.id, n.organization, n.channel, n.recipient,
    json_extract(n.content, '$.template.name') AS template, n.person, n.category, n.group_id, n.metadata`

/** Status of an accept entry. */
export const ACCEPTED: string = `CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END`
