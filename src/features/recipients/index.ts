import type { Feature, FeatureCore } from '../../core/feature.ts'
import type { PeopleFinder } from '../../core/people/finder.ts'
import type { ResolvedRecipients } from './options.ts'
import { createPeople } from './service.ts'

interface RecipientServices extends FeatureCore {
  /** Null: the application does not say where its people are. */
  readonly recipients: ResolvedRecipients | null
  onError(error: unknown): void
}

/** The people of the application. */
export const recipients: Feature<object, RecipientServices, PeopleFinder | undefined> = {
  name: 'recipients',
  create(core) {
    const people =
      core.recipients === null ? undefined : createPeople(core.recipients, core.clock, core.onError)
    return { api: {}, shared: people, people }
  },
}
