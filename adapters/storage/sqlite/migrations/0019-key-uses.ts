/** When an API key was last used, to some minutes. Null: never. */
export const keyUses = `
ALTER TABLE carillon_api_keys ADD COLUMN last_used_at INTEGER;
`
