/** Attachments stand behind all that lists read, as a JSON array; null: there are none. */
export const attachments = `
ALTER TABLE carillon_notifications ADD COLUMN attachments TEXT;
`
