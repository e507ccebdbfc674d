/** Waiting jobs of notifications by organization. Only scheduled sends and retries enter it. */
export const waitingNotifications = `
CREATE INDEX carillon_jobs_waiting_of_organization ON carillon_jobs (organization, due_at)
  WHERE state = 1 AND id % 2 = 0;
`
