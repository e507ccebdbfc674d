/** Calling codes that an organization's text messages may go to, as a JSON array. Null: all. */
export const smsCountries = `
ALTER TABLE carillon_organizations ADD COLUMN sms_countries TEXT;
`
