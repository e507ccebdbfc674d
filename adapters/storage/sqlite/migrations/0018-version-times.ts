/** When a version of a template was made. Null: an earlier release stored it. */
export const versionTimes = `
ALTER TABLE carillon_template_versions ADD COLUMN created_at INTEGER;
`
