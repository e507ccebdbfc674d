/** The deliveries of one endpoint that wait, for when it is disabled, among all that is scheduled; an odd id is an event's. */
export const waitingEvents = `
CREATE INDEX carillon_jobs_waiting_events ON carillon_jobs (lane) WHERE state = 1 AND id % 2 = 1;
`
