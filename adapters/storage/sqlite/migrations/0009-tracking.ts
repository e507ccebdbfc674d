/** Tracking settings of an organization's HTML mails: a JSON object. Null: off. */
export const tracking = `
ALTER TABLE carillon_organizations ADD COLUMN tracking TEXT;
`
