/** What is counted of an organization's HTML mails: a JSON object; null: nothing. */
export const tracking = `
ALTER TABLE carillon_organizations ADD COLUMN tracking TEXT;
`
