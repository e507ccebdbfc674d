/** What an API key may do beside its permission level: a JSON array; null: nothing. */
export const grants = `
ALTER TABLE carillon_api_keys ADD COLUMN grants TEXT;
`
