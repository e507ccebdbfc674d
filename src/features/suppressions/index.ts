import type { Feature } from '../../core/feature.ts'
import { judgeBySuppressions } from './judge.ts'
import { personalSuppressions } from './records.ts'
import type { Served } from './routes.ts'
import { createSuppressions } from './service.ts'

export { optingIn, suppressing, suppressionId, suppressionKind } from './records.ts'

/** Addresses that get no messages. */
export const suppressions: Feature<Served> = {
  name: 'suppressions',
  create: (core) => ({
    api: { tenants: { suppressions: createSuppressions(core) } },
    judge: judgeBySuppressions(core.hashes),
    personal: [personalSuppressions(core.hashes)],
  }),
}
