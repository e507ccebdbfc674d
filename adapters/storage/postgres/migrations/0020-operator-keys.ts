/** Operator keys belong to no organization. To a process of the version before they are keys of an unknown one. */
export const operatorKeys = `
ALTER TABLE carillon.api_keys ALTER COLUMN organization DROP NOT NULL;
`
