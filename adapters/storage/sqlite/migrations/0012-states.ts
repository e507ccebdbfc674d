/**
 * What facts change stands with the newest event: a notification's row, which holds its content and would not fit into its
 * page any more, is written once. Only `failed` stays with it, for the index of dead letters.
 *
 * Likewise a delivery: `pending` is also what a delivered one says, which no longer has a job.
 */
export const states = `
ALTER TABLE carillon_events ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE carillon_events ADD COLUMN fold TEXT; -- JSON; this and the others as the event's commit left them
ALTER TABLE carillon_events ADD COLUMN provider TEXT;
ALTER TABLE carillon_events ADD COLUMN provider_message_id TEXT;
ALTER TABLE carillon_events ADD COLUMN error TEXT; -- JSON
UPDATE carillon_events AS e
SET announced = n.announced, fold = n.fold, provider = n.provider, provider_message_id = n.provider_message_id,
  error = n.error
FROM carillon_notifications AS n
WHERE n.seq = e.notification AND n.sequence = e.sequence;

DROP INDEX carillon_notifications_failed;
ALTER TABLE carillon_notifications ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
UPDATE carillon_notifications SET failed = 1 WHERE status = 'failed';
ALTER TABLE carillon_notifications DROP COLUMN status;
ALTER TABLE carillon_notifications DROP COLUMN sequence;
ALTER TABLE carillon_notifications DROP COLUMN announced;
ALTER TABLE carillon_notifications DROP COLUMN fold;
ALTER TABLE carillon_notifications DROP COLUMN provider;
ALTER TABLE carillon_notifications DROP COLUMN provider_message_id;
ALTER TABLE carillon_notifications DROP COLUMN error;
CREATE INDEX carillon_notifications_failed ON carillon_notifications (organization, created_at)
  WHERE failed = 1;
`
