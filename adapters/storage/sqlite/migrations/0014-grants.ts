/** Grants of an API key beside its permission level: a JSON array. Null: none. */
export const grants = `
ALTER TABLE carillon_api_keys ADD COLUMN grants TEXT;
`
