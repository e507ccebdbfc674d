import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { underMaintenance } from '../../core/lifecycle/calls.ts'
import type { PageFrame } from '../../core/links/link-routes.ts'
import type { LinkSigner } from '../../core/links/link-signer.ts'
import { type LinkTarget, readTarget } from '../../core/links/link-target.ts'
import type { PeopleFinder } from '../../core/people/finder.ts'
import type { BrandingFinder } from '../../core/tenancy/plan-of.ts'
import type { Consent } from './consent.ts'
import { optOut } from './opting-out.ts'
import { createPreferencePages, type PreferencePage, type PreferencePost } from './page.ts'

/** The pages on which people unsubscribe and choose. Tokens prove their origin. Only those that change something stop under maintenance. */
export interface Pages {
  /** The look of a page about the message with the token. */
  frameOf(token: string): Promise<PageFrame>
  /** The result that an unsubscription with the token would have. Read-only. @throws as {@link preferences} */
  unsubscription(token: string): Promise<Unsubscription>
  /** Turns the token's category off for its recipient and address, if possible. @throws as {@link preferences} */
  unsubscribe(token: string): Promise<Unsubscription>
  /** A token of the preference page for the recipient of an unsubscription's token. Null: invalid token. */
  preferencesToken(token: string): Promise<string | null>
  /** The preferences of the token's person. Null: invalid token, or no such organization. @throws NotifierError `service_unavailable` */
  preferences(token: string): Promise<PreferencePage | null>
  /** Changes the preferences of the token's person. False: invalid token. @throws as {@link preferences} */
  savePreferences(token: string, post: PreferencePost): Promise<boolean>
}

/**
 * `possible`: or done. `required`: the category cannot be turned off. `unknown`: invalid token, or no such organization.
 */
export type Unsubscription = 'possible' | 'required' | 'unknown'

export interface PageServices extends FeatureCore {
  readonly brandingOf: BrandingFinder
  readonly secrets: { signer(): LinkSigner }
  onError(error: unknown): void
}

/** @param people undefined: no resolver is configured */
export function createPages(
  services: PageServices,
  consent: Consent,
  people: PeopleFinder | undefined,
): Pages {
  const { storage, organizations, brandingOf, clock, recordFact, onError } = services
  const { signer } = services.secrets
  const preferences = createPreferencePages({
    kinds: services.registry.kinds,
    channels: services.registry.channels,
    people,
    consent,
    storage,
    clock,
    onError,
  })

  const exists = ({ organizationId }: LinkTarget): Promise<boolean> =>
    isHeeded(organizations.existing(organizationId))

  async function unsubscriptionOf(target: LinkTarget): Promise<Unsubscription> {
    if (!(await exists(target))) return 'unknown'
    const category = await consent.categories.find(target.organizationId, target.category)
    return category?.required === true ? 'required' : 'possible'
  }

  const shown = underMaintenance<Omit<Pages, 'unsubscribe' | 'savePreferences'>>({
    async frameOf(token) {
      const { verify } = signer()
      const target = readTarget(verify('preferences', token) ?? verify('unsubscribe', token))
      if (target === null) return { locale: null, branding: null }
      const { organizationId, locale } = target
      return { locale, branding: await found(async () => brandingOf(organizationId)) }
    },
    async unsubscription(token) {
      const target = readTarget(signer().verify('unsubscribe', token))
      return target === null ? 'unknown' : unsubscriptionOf(target)
    },
    async preferencesToken(token) {
      const payload = signer().verify('unsubscribe', token)
      return payload === null ? null : signer().sign('preferences', payload)
    },
    async preferences(token) {
      const target = readTarget(signer().verify('preferences', token))
      return target === null || !(await exists(target)) ? null : preferences.show(target)
    },
  })

  return {
    ...shown,
    async unsubscribe(token) {
      const target = readTarget(signer().verify('unsubscribe', token))
      if (target === null) return 'unknown'
      const answer = await unsubscriptionOf(target)
      if (answer !== 'possible') return answer
      // The preference first: if the process ends in between, a repetition records the fact.
      if (!(await isHeeded(optOut(consent, target)))) return 'unknown'
      const { notificationId } = target
      // Retention may have removed the notification.
      if ((await storage.notifications.get(notificationId)) !== null)
        await recordFact(notificationId, 'unsubscribe', { type: 'unsubscribed' })
      return 'possible'
    },
    async savePreferences(token, post) {
      const target = readTarget(signer().verify('preferences', token))
      return target !== null && isHeeded(preferences.save(target, post))
    },
  }
}

/** Null: the organization does not exist any more. */
async function found<Answer>(request: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await request()
  } catch (error) {
    if (isNotifierError(error) && error.code === 'not_found') return null
    throw error
  }
}

/** False: the organization does not exist any more. */
async function isHeeded(request: Promise<void>): Promise<boolean> {
  return (await found(() => request.then(() => true))) === true
}
