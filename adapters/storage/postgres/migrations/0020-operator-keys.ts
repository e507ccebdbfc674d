/** Operator keys belong to no organization. A process of the version before refuses them: it does not know their form. */
export const operatorKeys = `
ALTER TABLE carillon.api_keys ALTER COLUMN organization DROP NOT NULL;
`
