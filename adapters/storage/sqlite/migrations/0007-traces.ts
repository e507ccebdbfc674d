/** The trace that a delivery belongs to, and an index for counting what is held, which nothing else costs anything. */
export const traces = `
ALTER TABLE carillon_notifications ADD COLUMN trace TEXT;
ALTER TABLE carillon_deliveries ADD COLUMN trace TEXT;
CREATE INDEX carillon_deliveries_held ON carillon_deliveries (id) WHERE state = 'held';
`
