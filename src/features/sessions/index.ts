import type { Feature } from '../../core/feature.ts'
import { createSessions, SESSION_MS, type SessionServices, type Sessions, usedTokenKind } from './service.ts'

export { SESSION_MS } from './service.ts'

/** Sessions of the dashboard. */
export const sessions: Feature<{ readonly sessions: Sessions }, SessionServices> = {
  name: 'sessions',
  create: (core) => ({
    api: { sessions: createSessions(core) },
    expiring: [{ kind: usedTokenKind, after: { ms: 2 * SESSION_MS } }],
  }),
}
