/** Number of a job's attempts that failed because of the provider. */
export const outages = `
ALTER TABLE carillon_jobs ADD COLUMN outages INTEGER NOT NULL DEFAULT 0;
`
