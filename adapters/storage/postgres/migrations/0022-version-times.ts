/** Creation time of a template version. Null: stored by an earlier release. */
export const versionTimes = `
ALTER TABLE carillon.template_versions ADD COLUMN created_at bigint;
`
