export type { CodeTemplate, CodeTemplates } from './code-templates.ts'
export type { DefinedTemplates } from './define.ts'
export { jsonValues } from './values.ts'
export type { WriteOptions } from './write.ts'
