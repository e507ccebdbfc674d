import type { Feature, FeatureCore } from '../../core/feature.ts'
import { delayKind, personalDelays } from './records.ts'
import { createDelays, type Delays, judgesAgain } from './service.ts'

export type { Delays } from './service.ts'

/** Judges delayed messages again when what delays them changes. */
export const delays: Feature<object, FeatureCore, Delays> = {
  name: 'delays',
  create(core) {
    core.stores.of(delayKind)
    return {
      api: {},
      shared: createDelays(core),
      due: [judgesAgain(core)],
      personal: [personalDelays(core.hashes)],
    }
  },
}
