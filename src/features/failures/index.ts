import type { Feature, TogetherOf } from '../../core/feature.ts'
import type { DeadLetters } from './api.ts'
import { createDeadLetters, type DeadLetterServices } from './dead-letters.ts'
import type { Served } from './routes.ts'

/** Failed notifications, their causes and their retry. */
export const failures: Feature<
  Served & TogetherOf<{ readonly deadLetters: Pick<DeadLetters, 'list' | 'groups'> }>,
  DeadLetterServices
> = {
  name: 'failures',
  create(core) {
    const tenants = createDeadLetters(core)
    const { list, groups } = tenants.deadLetters
    return { api: { tenants, together: { deadLetters: { list, groups } } } }
  },
}
