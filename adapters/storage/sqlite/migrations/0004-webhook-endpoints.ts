/** When older secrets end, and an index for replays, which only what is held or failed costs anything. */
export const webhookEndpoints = `
ALTER TABLE carillon_webhook_endpoints ADD COLUMN secret_ends TEXT; -- JSON, by position; null: never
CREATE INDEX carillon_deliveries_over ON carillon_deliveries (endpoint, created_at)
  WHERE state IN ('held', 'failed');
`
