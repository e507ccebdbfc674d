export type { DefinedTemplates } from './define.ts'
