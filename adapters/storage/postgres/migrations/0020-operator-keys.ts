/**
 * Operator keys belong to no organization. Processes of the previous version refuse them: they do not know their
 * format.
 */
export const operatorKeys = `
ALTER TABLE carillon.api_keys ALTER COLUMN organization DROP NOT NULL;
`
