/** Attachments as a JSON array, stored behind all columns that lists read. Null: none. */
export const attachments = `
ALTER TABLE carillon_notifications ADD COLUMN attachments TEXT;
`
