/** The id of the notification that another one repeats. */
export const resends = `
ALTER TABLE carillon_notifications ADD COLUMN resend_of TEXT;
`
