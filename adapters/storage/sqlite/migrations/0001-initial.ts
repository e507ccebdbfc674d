/**
 * Hot tables are few and narrow. Columns that later facts change have defaults, so that an accept binds little.
 * `content` and `attachments` come last, so that reading other columns never walks a long body. The first event of a
 * notification is derived from its row. Finished jobs are deleted, so that the indexes on jobs stay small whatever the
 * history.
 *
 * A notification's row would outgrow its page if it changed, so it is written once: its newest event holds its current
 * state, and only `failed` is in the row, for the index of dead letters. Likewise a delivered delivery still says
 * `pending`, but has no job.
 */
export const initial = `
CREATE TABLE carillon_notifications (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  organization TEXT NOT NULL,
  channel TEXT NOT NULL,
  recipient TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  high INTEGER NOT NULL,
  send_at INTEGER,
  expires_at INTEGER,
  failed INTEGER NOT NULL DEFAULT 0,
  resend_of TEXT,
  trace TEXT,
  person TEXT, -- the application's id of the recipient
  category TEXT,
  group_id TEXT,
  metadata TEXT, -- JSON
  content TEXT NOT NULL, -- JSON
  attachments TEXT -- JSON; null: none
) STRICT;
CREATE INDEX carillon_notifications_by_time ON carillon_notifications (organization, created_at);
CREATE INDEX carillon_notifications_failed ON carillon_notifications (organization, created_at)
  WHERE failed = 1;
-- Over all organizations, in the order of ids.
CREATE INDEX carillon_notifications_failed_of_all ON carillon_notifications (id) WHERE failed = 1;
CREATE INDEX carillon_notifications_of_person ON carillon_notifications (organization, person, created_at)
  WHERE person IS NOT NULL;
CREATE INDEX carillon_notifications_of_category ON carillon_notifications (organization, category, created_at)
  WHERE category IS NOT NULL;
CREATE INDEX carillon_notifications_of_group ON carillon_notifications (organization, group_id, created_at)
  WHERE group_id IS NOT NULL;

-- Only of notifications that have metadata: the index for lists by it.
CREATE TABLE carillon_metadata (
  organization TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  notification INTEGER NOT NULL,
  PRIMARY KEY (organization, name, value, created_at, notification)
) STRICT, WITHOUT ROWID;

-- Sorted runs of notifications by their addresses, written behind the accepts: see addresses.ts.
CREATE TABLE carillon_addresses (
  run INTEGER NOT NULL,
  address TEXT NOT NULL, -- with small letters
  organization TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  notification INTEGER NOT NULL,
  PRIMARY KEY (run, address, organization, created_at, notification)
) STRICT, WITHOUT ROWID;

-- Only of notifications that name uploads, which stay as long.
CREATE TABLE carillon_named_uploads (
  notification INTEGER NOT NULL,
  upload TEXT NOT NULL,
  PRIMARY KEY (notification, upload)
) STRICT, WITHOUT ROWID;
CREATE INDEX carillon_named_uploads_by_upload ON carillon_named_uploads (upload);

-- Only of notifications with copies: the index for lists by them.
CREATE TABLE carillon_copies (
  notification INTEGER NOT NULL,
  address TEXT NOT NULL, -- with small letters
  organization TEXT NOT NULL, -- this and the next: copies from the notification
  created_at INTEGER NOT NULL,
  PRIMARY KEY (notification, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX carillon_copies_by_address ON carillon_copies (organization, address, created_at, notification);

CREATE TABLE carillon_events (
  notification INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  organization TEXT NOT NULL,
  at INTEGER NOT NULL,
  status TEXT NOT NULL,
  fact TEXT NOT NULL, -- JSON
  published INTEGER NOT NULL DEFAULT 0, -- this and the next columns: read from the newest event only
  fold TEXT, -- JSON
  provider TEXT,
  provider_message_id TEXT,
  error TEXT, -- JSON
  PRIMARY KEY (notification, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX carillon_events_by_time ON carillon_events (organization, at);
-- For counts over all organizations. Accepts write no events.
CREATE INDEX carillon_events_of_all ON carillon_events (at);

-- id: 2 * notification.seq, or 2 * delivery.id + 1
-- state: 0 ready, 1 waiting until due_at, 2 leased until lease_until, 3 ready but must run alone
CREATE TABLE carillon_jobs (
  id INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  lane TEXT NOT NULL, -- for an event: its endpoint
  high INTEGER NOT NULL,
  state INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  outages INTEGER NOT NULL DEFAULT 0, -- attempts that failed because of the provider
  earlier_attempts INTEGER NOT NULL DEFAULT 0, -- included in attempts; made before a retry
  recovered INTEGER NOT NULL DEFAULT 0,
  token INTEGER,
  lease_until INTEGER,
  provider TEXT, -- of the attempt started under this lease
  delayed_address TEXT, -- of one that the gate has delayed, until it is settled or moved
  delayed_person TEXT -- the same; null: unknown
) STRICT;
CREATE INDEX carillon_jobs_ready ON carillon_jobs (lane, high, organization) WHERE state = 0;
CREATE INDEX carillon_jobs_waiting ON carillon_jobs (due_at) WHERE state = 1;
CREATE INDEX carillon_jobs_leased ON carillon_jobs (lease_until) WHERE state = 2;
CREATE INDEX carillon_jobs_recovered ON carillon_jobs (lane) WHERE state = 3;
-- Waiting deliveries of one endpoint, for when it is disabled.
CREATE INDEX carillon_jobs_waiting_events ON carillon_jobs (lane) WHERE state = 1 AND id % 2 = 1;
-- Only scheduled sends and retries enter it.
CREATE INDEX carillon_jobs_waiting_of_organization ON carillon_jobs (organization, due_at)
  WHERE state = 1 AND id % 2 = 0;

-- Only delayed ones enter these.
CREATE INDEX carillon_jobs_delayed ON carillon_jobs (organization, id)
  WHERE state = 1 AND delayed_address IS NOT NULL;
CREATE INDEX carillon_jobs_delayed_to ON carillon_jobs (organization, delayed_address, id)
  WHERE state = 1 AND delayed_address IS NOT NULL;
CREATE INDEX carillon_jobs_delayed_for ON carillon_jobs (organization, delayed_person, id)
  WHERE state = 1 AND delayed_person IS NOT NULL;

CREATE TABLE carillon_fencing (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  token INTEGER NOT NULL
) STRICT;
INSERT INTO carillon_fencing (only, token) VALUES (1, 0);

CREATE TABLE carillon_deliveries (
  id INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  organization TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL, -- pending, failed, held (the endpoint is disabled: no job)
  trace TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX carillon_deliveries_by_endpoint ON carillon_deliveries (endpoint);
CREATE INDEX carillon_deliveries_by_event ON carillon_deliveries (event_id);
-- For redelivery.
CREATE INDEX carillon_deliveries_over ON carillon_deliveries (endpoint, created_at)
  WHERE state IN ('held', 'failed');
-- Only events about no notification enter it, by the bounds of their ids.
CREATE INDEX carillon_deliveries_other ON carillon_deliveries (organization, created_at)
  WHERE event_id >= 'evt_a' AND event_id < 'evt_{';
CREATE INDEX carillon_deliveries_held ON carillon_deliveries (id) WHERE state = 'held';

CREATE TABLE carillon_delivery_attempts (
  id INTEGER PRIMARY KEY,
  delivery INTEGER NOT NULL,
  at INTEGER NOT NULL,
  attempt TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX carillon_delivery_attempts_by_delivery ON carillon_delivery_attempts (delivery);

CREATE TABLE carillon_handovers (
  provider TEXT NOT NULL,
  message_id TEXT NOT NULL,
  notification INTEGER NOT NULL,
  PRIMARY KEY (provider, message_id, notification)
) STRICT, WITHOUT ROWID;

CREATE TABLE carillon_receipts (
  hash BLOB PRIMARY KEY,
  received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX carillon_receipts_by_age ON carillon_receipts (received_at);

CREATE TABLE carillon_unmatched_receipts (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  organization TEXT,
  provider TEXT NOT NULL,
  message_id TEXT,
  fact TEXT NOT NULL, -- JSON
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX carillon_unmatched_receipts_by_message ON carillon_unmatched_receipts (provider, message_id);

CREATE TABLE carillon_idempotency (
  hash BLOB PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  admitted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  result TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX carillon_idempotency_by_expiry ON carillon_idempotency (expires_at);

CREATE TABLE carillon_usage (
  organization TEXT NOT NULL,
  period TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (organization, period)
) STRICT, WITHOUT ROWID;

-- Bytes of the records of an organization, which triggers keep: see record-tables.ts.
CREATE TABLE carillon_stored (
  organization TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE carillon_webhook_endpoints (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  organization TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL, -- JSON
  success_status TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active',
  disabled_reason TEXT,
  failing_since INTEGER,
  failing_published INTEGER NOT NULL DEFAULT 0,
  event_sequence INTEGER NOT NULL DEFAULT 0, -- of the latest event about the endpoint
  secrets TEXT NOT NULL, -- JSON
  secret_ends TEXT, -- JSON, by position; null: no end
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX carillon_webhook_endpoints_by_organization ON carillon_webhook_endpoints (organization);

-- Empty but for moments: see the write check.
CREATE TABLE carillon_write_check (room TEXT NOT NULL) STRICT;
`
