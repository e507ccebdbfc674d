/** The text alternative of a template's HTML. Processes of the previous version render without it. */
export const textAlternatives = `
ALTER TABLE carillon_template_versions ADD COLUMN text TEXT;
`
