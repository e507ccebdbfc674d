export type { LintOptions } from './input.ts'
export type { LintFinding } from './model.ts'
