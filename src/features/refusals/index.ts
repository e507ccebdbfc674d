import type { Feature } from '../../core/feature.ts'
import { personalRefusals } from './records.ts'
import type { Served } from './routes.ts'
import { createRefusals, type RefusalServices } from './service.ts'

/** The last messages of each organization that were refused. */
export const refusals: Feature<Served, RefusalServices> = {
  name: 'refusals',
  create(core) {
    const { list, ...recording } = createRefusals(core)
    return { api: { tenants: { refusals: { list } } }, personal: [personalRefusals], ...recording }
  },
}
