import type { Feature, TogetherOf } from '../../core/feature.ts'
import type { RetentionApi } from './api.ts'
import { createPreview, type PreviewServices } from './preview.ts'
import type { Served } from './routes.ts'

/** What old data goes next. create-notifier.ts starts its removal: see service.ts. */
export const retention: Feature<Served & TogetherOf<{ readonly retention: RetentionApi }>, PreviewServices> =
  {
    name: 'retention',
    create(core) {
      const methods = { retention: createPreview(core) }
      return { api: { tenants: methods, together: methods } }
    },
  }
