/** Time of an API key's last use, accurate to a few minutes. Null: never. */
export const keyUses = `
ALTER TABLE carillon_api_keys ADD COLUMN last_used_at INTEGER;
`
