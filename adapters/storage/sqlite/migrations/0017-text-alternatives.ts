/** The text alternative of a template's HTML. A process of the version before renders without it. */
export const textAlternatives = `
ALTER TABLE carillon_template_versions ADD COLUMN text TEXT;
`
