/** Id of the original notification of a resend. */
export const resends = `
ALTER TABLE carillon_notifications ADD COLUMN resend_of TEXT;
`
