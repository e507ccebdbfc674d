import type { Feature, TogetherOf } from '../../core/feature.ts'
import type { PeopleApi } from './api.ts'
import { createErasing, type ErasureServices, erasuresDue } from './erasing.ts'
import { createPace } from './pace.ts'
import { erasureKind } from './records.ts'
import type { Served } from './routes.ts'
import { createPeople } from './service.ts'

/** Erasure and export of what all features have stored about a person. */
export const custody: Feature<Served & TogetherOf<{ readonly people: PeopleApi }>, ErasureServices> = {
  name: 'custody',
  create(core) {
    const services = { ...core, pace: createPace(core.clock) }
    const erasing = createErasing(services)
    const methods = { people: createPeople(services, erasing) }
    return {
      api: { tenants: methods, together: methods },
      due: [erasuresDue(erasing, core.clock)],
      expiring: [{ kind: erasureKind, after: 'auditDays', ofOrganizations: true }],
    }
  },
}
