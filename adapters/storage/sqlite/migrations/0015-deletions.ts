/** Kind of an organization's running deletion: `plain` or `force`. */
export const deletions = `
ALTER TABLE carillon_organizations ADD COLUMN deleting TEXT;
CREATE INDEX carillon_templates_of_organization ON carillon_templates (organization);
`
