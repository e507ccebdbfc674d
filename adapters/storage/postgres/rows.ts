/** Status of a notification without facts. */
export const ACCEPTED = "CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END"
