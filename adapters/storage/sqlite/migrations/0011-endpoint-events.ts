/** `sequence` of the latest event about an endpoint. */
export const endpointEvents = `
ALTER TABLE carillon_webhook_endpoints ADD COLUMN event_sequence INTEGER NOT NULL DEFAULT 0;
`
