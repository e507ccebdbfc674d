/** Waiting deliveries of one endpoint, for when it is disabled. Odd ids belong to events. */
export const waitingEvents = `
CREATE INDEX carillon_jobs_waiting_events ON carillon_jobs (lane) WHERE state = 1 AND id % 2 = 1;
`
