/**
 * Retention, retries and endpoint health. The index of dead letters holds only failed notifications; the other indexes
 * change with deliveries and receipts. Accepts do not use them.
 */
export const retention = `
ALTER TABLE carillon_organizations ADD COLUMN retention_days INTEGER;
ALTER TABLE carillon_jobs ADD COLUMN earlier_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE carillon_webhook_endpoints ADD COLUMN failing_since INTEGER;
ALTER TABLE carillon_webhook_endpoints ADD COLUMN failing_published INTEGER NOT NULL DEFAULT 0;
CREATE INDEX carillon_notifications_failed ON carillon_notifications (organization, created_at)
  WHERE status = 'failed';
CREATE INDEX carillon_deliveries_by_event ON carillon_deliveries (event_id);
CREATE INDEX carillon_receipts_by_age ON carillon_receipts (received_at);
`
