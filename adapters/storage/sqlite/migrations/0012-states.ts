/**
 * The current state moves to the newest event: a notification's row holds its content, would outgrow its page, and so
 * is written once. Only `failed` stays there, for the index of dead letters. Likewise for deliveries: a delivered one
 * also says `pending`, but has no job.
 *
 * The old columns stay, unused: dropping one rewrites the table, and fails if the application has a broken view in the
 * same file. Older processes would continue to use them, so their claims must find no tokens.
 */
export const states = `
ALTER TABLE carillon_events ADD COLUMN published INTEGER NOT NULL DEFAULT 0; -- this and the next columns: read from the newest event only
ALTER TABLE carillon_events ADD COLUMN fold TEXT; -- JSON
ALTER TABLE carillon_events ADD COLUMN provider TEXT;
ALTER TABLE carillon_events ADD COLUMN provider_message_id TEXT;
ALTER TABLE carillon_events ADD COLUMN error TEXT; -- JSON
UPDATE carillon_events AS e
SET published = n.published, fold = n.fold, provider = n.provider, provider_message_id = n.provider_message_id,
  error = n.error
FROM carillon_notifications AS n
WHERE n.seq = e.notification AND n.sequence = e.sequence;

DROP INDEX carillon_notifications_failed;
ALTER TABLE carillon_notifications ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
UPDATE carillon_notifications SET failed = 1 WHERE status = 'failed';
CREATE INDEX carillon_notifications_failed ON carillon_notifications (organization, created_at)
  WHERE failed = 1;

CREATE TABLE carillon_fencing (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  token INTEGER NOT NULL
) STRICT;
INSERT INTO carillon_fencing (only, token) SELECT only, token FROM carillon_tokens;
DROP TABLE carillon_tokens;
`
