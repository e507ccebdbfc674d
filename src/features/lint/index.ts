import type { Feature, FeatureCore } from '../../core/feature.ts'
import { languages } from '../languages/index.ts'
import type { Served } from './routes.ts'
import { createLint, type LintServices } from './service.ts'

export type { LintOptions } from './input.ts'
export { sentMessageFaults } from './lint.ts'
export type { LintFinding } from './model.ts'
export { TEMPLATE_RULES } from './rules.ts'

/** Faults of templates. */
export const lint: Feature<Served, FeatureCore & LintServices> = {
  name: 'lint',
  create: (core) => ({ api: { tenants: { templates: createLint(core, core.use(languages)) } } }),
}
