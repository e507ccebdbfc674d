import type { Feature } from '../../core/feature.ts'
import { createDeadLetters, type DeadLetterServices } from './dead-letters.ts'
import type { Served } from './routes.ts'

/** Failed notifications, their causes and their retry. */
export const failures: Feature<Served, DeadLetterServices> = {
  name: 'failures',
  create: (core) => ({ api: { tenants: createDeadLetters(core) } }),
}
