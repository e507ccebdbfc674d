/** What a row's status is called when no fact has changed it. */
export const ACCEPTED = "CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END"
