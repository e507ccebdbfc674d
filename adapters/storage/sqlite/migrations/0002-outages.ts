/** How many of a job's attempts met a fault of the provider. */
export const outages = `
ALTER TABLE carillon_jobs ADD COLUMN outages INTEGER NOT NULL DEFAULT 0;
`
