/** `sequence` of the latest event about an endpoint. */
export const endpointEvents = `
ALTER TABLE carillon.webhook_endpoints ADD COLUMN event_sequence integer NOT NULL DEFAULT 0;
`
