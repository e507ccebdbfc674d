/** End times of older secrets, and an index for redelivery that only held or failed deliveries enter. */
export const webhookEndpoints = `
ALTER TABLE carillon_webhook_endpoints ADD COLUMN secret_ends TEXT; -- JSON, by position; null: no end
CREATE INDEX carillon_deliveries_over ON carillon_deliveries (endpoint, created_at)
  WHERE state IN ('held', 'failed');
`
