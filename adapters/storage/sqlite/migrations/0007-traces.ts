/** Trace of a delivery, and an index for counting held deliveries that no other row enters. */
export const traces = `
ALTER TABLE carillon_notifications ADD COLUMN trace TEXT;
ALTER TABLE carillon_deliveries ADD COLUMN trace TEXT;
CREATE INDEX carillon_deliveries_held ON carillon_deliveries (id) WHERE state = 'held';
`
