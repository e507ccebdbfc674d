/**
 * Retention, redrives, and how deliveries to an endpoint go. Only what has failed is in the index of dead letters; the
 * others follow deliveries and receipts: none of them costs an accept anything.
 */
export const retention = `
ALTER TABLE carillon_organizations ADD COLUMN retention_days INTEGER;
ALTER TABLE carillon_jobs ADD COLUMN earlier_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE carillon_webhook_endpoints ADD COLUMN failing_since INTEGER;
ALTER TABLE carillon_webhook_endpoints ADD COLUMN failing_told INTEGER NOT NULL DEFAULT 0;
CREATE INDEX carillon_notifications_failed ON carillon_notifications (organization, created_at)
  WHERE status = 'failed';
CREATE INDEX carillon_deliveries_by_event ON carillon_deliveries (event_id);
CREATE INDEX carillon_receipts_by_age ON carillon_receipts (received_at);
`
