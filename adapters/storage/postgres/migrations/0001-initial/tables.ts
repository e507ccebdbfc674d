/**
 * Immutable and mutable data are separate: `notifications` is rarely updated, `states` holds the fold, and `jobs` stays
 * small because finished jobs are deleted. The first event of a notification is derived from its row.
 *
 * Tables that grow without bound are partitioned by the time in the notification's id: see partitions.ts.
 */
export const tables = `
CREATE SEQUENCE carillon.notification_numbers;
CREATE SEQUENCE carillon.delivery_numbers;
CREATE SEQUENCE carillon.attempt_numbers;
CREATE SEQUENCE carillon.lease_tokens;

CREATE TABLE carillon.notifications (
  seq bigint NOT NULL,
  created_at bigint NOT NULL,
  send_at bigint,
  expires_at bigint,
  high boolean NOT NULL,
  id text COLLATE "C" PRIMARY KEY,
  organization text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  recipient text COLLATE "C" NOT NULL,
  template_id text COLLATE "C",
  template_name text,
  resend_of text,
  trace text,
  person text COLLATE "C", -- the application's id of the recipient
  category text COLLATE "C",
  group_id text COLLATE "C",
  metadata text, -- JSON
  content text NOT NULL, -- JSON
  attachments text -- JSON; null: none
) PARTITION BY RANGE (id);
CREATE INDEX notifications_by_time ON carillon.notifications (organization, created_at, seq);
CREATE INDEX notifications_of_person ON carillon.notifications (organization, person, created_at, seq)
  WHERE person IS NOT NULL;
CREATE INDEX notifications_of_category ON carillon.notifications (organization, category, created_at, seq)
  WHERE category IS NOT NULL;
CREATE INDEX notifications_of_group ON carillon.notifications (organization, group_id, created_at, seq)
  WHERE group_id IS NOT NULL;

-- Only of notifications that have metadata: the index for lists by it.
CREATE TABLE carillon.metadata (
  created_at bigint NOT NULL, -- this and the next three: copies from the notification
  seq bigint NOT NULL,
  notification text COLLATE "C" NOT NULL,
  organization text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization, name, value, created_at, seq, notification)
) PARTITION BY RANGE (notification);

-- Notifications by address: see addresses.ts.
CREATE TABLE carillon.addresses (
  run bigint NOT NULL,
  address text COLLATE "C" NOT NULL, -- its first characters, with small letters
  notification text COLLATE "C" NOT NULL
) PARTITION BY RANGE (notification);
CREATE INDEX addresses_by_address ON carillon.addresses (run, address, notification);

CREATE TABLE carillon.address_runs (
  run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  entries bigint NOT NULL DEFAULT 0, -- written so far
  first_id text COLLATE "C", -- bounds of the notifications
  last_id text COLLATE "C"
);

-- Not in a run yet: one row for each accept. Statistics of the arrays would cost more than the accepts.
CREATE TABLE carillon.new_addresses (
  entries integer NOT NULL,
  first_id text COLLATE "C" NOT NULL, -- bounds of the notifications
  last_id text COLLATE "C" NOT NULL,
  ids text[] COLLATE "C" NOT NULL,
  addresses text[] COLLATE "C" NOT NULL -- as sent
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE carillon.new_addresses ALTER ids SET STORAGE EXTERNAL, ALTER addresses SET STORAGE EXTERNAL,
  ALTER ids SET STATISTICS 0, ALTER addresses SET STATISTICS 0;
CREATE INDEX new_addresses_by_last ON carillon.new_addresses (last_id);

-- Only of notifications that name uploads, which stay as long.
CREATE TABLE carillon.named_uploads (
  notification text COLLATE "C" NOT NULL,
  upload text COLLATE "C" NOT NULL,
  PRIMARY KEY (notification, upload)
) PARTITION BY RANGE (notification);
CREATE INDEX named_uploads_by_upload ON carillon.named_uploads (upload);

-- Only of notifications with copies: the index for lists by them.
CREATE TABLE carillon.copies (
  created_at bigint NOT NULL, -- this and the next three: copies from the notification
  seq bigint NOT NULL,
  notification text COLLATE "C" NOT NULL,
  organization text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL, -- with small letters
  PRIMARY KEY (notification, address)
) PARTITION BY RANGE (notification);
CREATE INDEX copies_by_address ON carillon.copies (organization, address, created_at, seq);

CREATE TABLE carillon.states (
  created_at bigint NOT NULL, -- this and the next two: copies from the notification
  seq bigint NOT NULL,
  organization text COLLATE "C" NOT NULL,
  sequence integer NOT NULL,
  published integer NOT NULL,
  notification text COLLATE "C" PRIMARY KEY,
  status text COLLATE "C" NOT NULL,
  fold text NOT NULL, -- JSON
  provider text,
  provider_message_id text,
  error text -- JSON
) PARTITION BY RANGE (notification);
CREATE INDEX states_failed ON carillon.states (organization, created_at, seq) WHERE status = 'failed';
-- Over all organizations, in the order of ids.
CREATE INDEX states_failed_of_all ON carillon.states (notification) WHERE status = 'failed';

CREATE TABLE carillon.events (
  at bigint NOT NULL,
  seq bigint NOT NULL, -- notifications.seq
  sequence integer NOT NULL,
  notification text COLLATE "C" NOT NULL,
  organization text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  fact text NOT NULL, -- JSON
  PRIMARY KEY (notification, sequence)
) PARTITION BY RANGE (notification);
CREATE INDEX events_by_time ON carillon.events (organization, at, seq, sequence);
-- For counts over all organizations. Accepts write no events.
CREATE INDEX events_of_all ON carillon.events (at);

CREATE TABLE carillon.handovers (
  provider text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  notification text COLLATE "C" NOT NULL,
  PRIMARY KEY (provider, message_id, notification)
) PARTITION BY RANGE (notification);

CREATE TABLE carillon.deliveries (
  seq bigint NOT NULL,
  created_at bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  organization text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL, -- pending, delivered, failed, held (the endpoint is disabled: no job)
  trace text,
  payload text NOT NULL,
  PRIMARY KEY (event_id, endpoint)
) PARTITION BY RANGE (event_id);
CREATE INDEX deliveries_by_endpoint ON carillon.deliveries (endpoint, seq);
CREATE INDEX deliveries_over ON carillon.deliveries (endpoint, created_at, seq) WHERE state IN ('held', 'failed');
-- Only events about no notification enter it, by the bounds of their ids.
CREATE INDEX deliveries_other ON carillon.deliveries (organization, created_at)
  WHERE event_id >= 'evt_a' AND event_id < 'evt_{';
CREATE INDEX deliveries_held ON carillon.deliveries (event_id) WHERE state = 'held';

CREATE TABLE carillon.notifications_default PARTITION OF carillon.notifications DEFAULT;
CREATE TABLE carillon.metadata_default PARTITION OF carillon.metadata DEFAULT;
CREATE TABLE carillon.addresses_default PARTITION OF carillon.addresses DEFAULT;
CREATE TABLE carillon.named_uploads_default PARTITION OF carillon.named_uploads DEFAULT;
CREATE TABLE carillon.copies_default PARTITION OF carillon.copies DEFAULT;
CREATE TABLE carillon.states_default PARTITION OF carillon.states DEFAULT WITH (fillfactor = 80);
CREATE TABLE carillon.events_default PARTITION OF carillon.events DEFAULT;
CREATE TABLE carillon.handovers_default PARTITION OF carillon.handovers DEFAULT;
CREATE TABLE carillon.deliveries_default PARTITION OF carillon.deliveries DEFAULT WITH (fillfactor = 80);

CREATE TABLE carillon.delivery_attempts (
  at bigint NOT NULL,
  number bigint NOT NULL DEFAULT nextval('carillon.attempt_numbers'),
  event_id text COLLATE "C" NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  attempt text NOT NULL -- JSON
) PARTITION BY RANGE (event_id);
CREATE INDEX delivery_attempts_by_delivery ON carillon.delivery_attempts (event_id, endpoint, number);
CREATE TABLE carillon.delivery_attempts_default PARTITION OF carillon.delivery_attempts DEFAULT;

-- id: 2 * notifications.seq, or 2 * deliveries.seq + 1; place: a copy without an index, so that only
-- jobs_ready can sort ready jobs, whatever the statistics suggest
-- state: 0 ready, 1 waiting until due_at, 2 leased until lease_until, 3 ready but must run alone
-- fillfactor: a page has room for the two row versions of a delivery, and the second then changes no index
CREATE TABLE carillon.jobs (
  id bigint PRIMARY KEY,
  place bigint NOT NULL,
  due_at bigint NOT NULL,
  token bigint,
  lease_until bigint,
  attempts integer NOT NULL DEFAULT 0,
  outages integer NOT NULL DEFAULT 0,
  earlier_attempts integer NOT NULL DEFAULT 0, -- included in attempts; made before a retry
  state smallint NOT NULL,
  high boolean NOT NULL,
  recovered boolean NOT NULL DEFAULT false,
  lane text COLLATE "C" NOT NULL, -- for an event: its endpoint
  organization text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL, -- id of the notification or event
  provider text, -- of the attempt started under this lease
  delayed_address text COLLATE "C", -- of one that the gate has delayed, until it is settled or moved
  delayed_person text COLLATE "C" -- the same; null: unknown
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
CREATE INDEX jobs_ready ON carillon.jobs (lane, high, organization, place) WHERE state = 0;
CREATE INDEX jobs_waiting ON carillon.jobs (due_at) WHERE state = 1;
CREATE INDEX jobs_leased ON carillon.jobs (lease_until) WHERE state = 2;
CREATE INDEX jobs_recovered ON carillon.jobs (lane, place) WHERE state = 3;
-- Only scheduled sends and retries enter it.
CREATE INDEX jobs_waiting_of_organization ON carillon.jobs (organization, due_at) WHERE state = 1 AND id % 2 = 0;
-- Only delayed ones enter these. The condition of the first keeps plans for one address or person from walking it.
CREATE INDEX jobs_delayed ON carillon.jobs (organization, place)
  WHERE state = 1 AND length(delayed_address) > 0;
CREATE INDEX jobs_delayed_to ON carillon.jobs (organization, delayed_address, place)
  WHERE state = 1 AND delayed_address IS NOT NULL;
CREATE INDEX jobs_delayed_for ON carillon.jobs (organization, delayed_person, place)
  WHERE state = 1 AND delayed_person IS NOT NULL;

CREATE TABLE carillon.receipts (
  hash bytea PRIMARY KEY,
  received_at bigint NOT NULL
);
CREATE INDEX receipts_by_time ON carillon.receipts (received_at);

CREATE TABLE carillon.unmatched_receipts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  received_at bigint NOT NULL,
  hash bytea NOT NULL,
  organization text COLLATE "C",
  provider text COLLATE "C" NOT NULL,
  message_id text COLLATE "C",
  fact text NOT NULL -- JSON
);
CREATE INDEX unmatched_receipts_by_message ON carillon.unmatched_receipts (provider, message_id);

CREATE TABLE carillon.idempotency (
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  admitted integer NOT NULL,
  hash bytea PRIMARY KEY,
  fingerprint text NOT NULL,
  result text NOT NULL
);
CREATE INDEX idempotency_by_expiry ON carillon.idempotency (expires_at);

CREATE TABLE carillon.usage (
  used bigint NOT NULL,
  organization text COLLATE "C" NOT NULL,
  period text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization, period)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Counted, but not folded into usage yet: see quota.ts.
CREATE TABLE carillon.usage_additions (
  used bigint NOT NULL,
  organization text COLLATE "C" NOT NULL,
  period text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX usage_additions_by_organization ON carillon.usage_additions (organization, period);

-- Bytes of the records of an organization, as a sum of rows: see stored.ts.
CREATE TABLE carillon.stored (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  bytes bigint NOT NULL,
  organization text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX stored_by_organization ON carillon.stored (organization);

CREATE TABLE carillon.webhook_endpoints (
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  created_at bigint NOT NULL,
  id text COLLATE "C" PRIMARY KEY,
  organization text COLLATE "C" NOT NULL,
  url text NOT NULL,
  events text NOT NULL, -- JSON
  success_status text NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'active',
  disabled_reason text,
  failing_since bigint,
  failing_published boolean NOT NULL DEFAULT false,
  event_sequence integer NOT NULL DEFAULT 0, -- of the latest event about the endpoint
  secrets text NOT NULL, -- JSON
  secret_ends text -- JSON, by position; null: no end
);
CREATE INDEX webhook_endpoints_by_organization ON carillon.webhook_endpoints (organization, seq);

-- Of organizations that are being deleted: see deletions.ts.
CREATE TABLE carillon.fences (
  organization text COLLATE "C" PRIMARY KEY,
  fence bigint NOT NULL -- number of a transaction
);

CREATE TABLE carillon.kept (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);
`
