import type { Feature, FeatureCore } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createSharedTexts, type SharedTextServices } from './service.ts'

export type { SharedTexts } from './api.ts'

/** Texts that templates share: layouts and partials. */
export const layouts: Feature<Served, FeatureCore & SharedTextServices> = {
  name: 'layouts',
  create: (core) => ({
    api: {
      tenants: { layouts: createSharedTexts('layout', core), partials: createSharedTexts('partial', core) },
    },
  }),
}
