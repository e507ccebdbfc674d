import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { underMaintenance } from '../../core/lifecycle/calls.ts'
import type { PageFrame } from '../../core/links/link-routes.ts'
import type { LinkSigner } from '../../core/links/link-signer.ts'
import { type LinkTarget, readTarget, writeTarget } from '../../core/links/link-target.ts'
import type { PeopleFinder } from '../../core/people/finder.ts'
import type { BrandingFinder } from '../../core/tenancy/plan-of.ts'
import type { Consent } from './consent.ts'
import { type Changes, optOut, undoOptOut } from './opting-out.ts'
import {
  createPreferencePages,
  type PreferencePage,
  type PreferencePost,
  type Topic,
  topicOf,
} from './page.ts'
import { MOST_UNDO } from './undo.ts'

/** The pages on which people unsubscribe and choose. Tokens prove their origin. Only those that change something stop under maintenance. */
export interface Pages {
  /** The look of a page about the message with the token. */
  frameOf(token: string): Promise<PageFrame>
  /** The result that an unsubscription with the token would have. Read-only. @throws as {@link preferences} */
  unsubscription(token: string): Promise<Unsubscription>
  /** Turns the token's category off for its recipient and address, if possible. @throws as {@link preferences} */
  unsubscribe(token: string): Promise<Unsubscribed>
  /**
   * Undoes an opt-out of a page. False: the preferences have changed since. Null: an invalid token.
   *
   * @param token of either page
   * @param undo see {@link Undoable}
   * @throws as {@link preferences}
   */
  undo(token: string, undo: string): Promise<boolean | null>
  /** A token of the preference page for the recipient of an unsubscription's token. Null: invalid token. */
  preferencesToken(token: string): Promise<string | null>
  /** The preferences of the token's person. Null: invalid token, or no such organization. @throws NotifierError `service_unavailable` */
  preferences(token: string): Promise<PreferencePage | null>
  /** Changes the preferences of the token's person. Null: invalid token. @throws as {@link preferences} */
  savePreferences(token: string, post: PreferencePost): Promise<Undoable | null>
}

export interface Unsubscription {
  /** `possible`: or done. `required`: the category cannot be turned off. `unknown`: invalid token, or no such organization. */
  readonly answer: 'possible' | 'required' | 'unknown'
  /** The category. Null: unknown, or it does not exist any more. */
  readonly topic: Topic | null
}

export interface Undoable {
  /**
   * A token that undoes what this call has turned off. Null: it has changed nothing, or too much for a form, or saved
   * single choices.
   */
  readonly undo: string | null
}

export interface Unsubscribed extends Unsubscription, Undoable {}

const UNKNOWN: Unsubscribed = { answer: 'unknown', topic: null, undo: null }

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

  /** Of a token of either page. */
  function targetOf(token: string): LinkTarget | null {
    const { verify } = signer()
    return readTarget(verify('preferences', token) ?? verify('unsubscribe', token))
  }

  const exists = ({ organizationId }: LinkTarget): Promise<boolean> =>
    isHeeded(organizations.existing(organizationId))

  async function unsubscriptionOf(target: LinkTarget): Promise<Unsubscription> {
    if (!(await exists(target))) return UNKNOWN
    const category = await consent.categories.find(target.organizationId, target.category)
    const topic = category && topicOf(category, consent.categories.code.namesDefault)
    return { answer: category?.required === true ? 'required' : 'possible', topic }
  }

  function undoToken(target: LinkTarget, changes: Changes): string | null {
    // A later choice of what was already off is nothing to undo.
    if (changes.flat().every(([, [before], [after]]) => before === after)) return null
    const token = signer().sign('undo', JSON.stringify([writeTarget(target), changes]))
    return token.length > MOST_UNDO ? null : token
  }

  const shown = underMaintenance<Omit<Pages, 'unsubscribe' | 'undo' | 'savePreferences'>>({
    async frameOf(token) {
      const target = targetOf(token)
      if (target === null) return { locale: null, branding: null }
      const { organizationId, locale } = target
      return { locale, branding: await found(async () => brandingOf(organizationId)) }
    },
    async unsubscription(token) {
      const target = readTarget(signer().verify('unsubscribe', token))
      return target === null ? UNKNOWN : unsubscriptionOf(target)
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
      if (target === null) return UNKNOWN
      const unsubscription = await unsubscriptionOf(target)
      if (unsubscription.answer !== 'possible') return { ...unsubscription, undo: null }
      // The preference first: if the process ends in between, a repetition records the fact.
      const changes = await found(() => optOut(consent, target))
      if (changes === null) return UNKNOWN
      const { notificationId } = target
      // Retention may have removed the notification.
      if ((await storage.notifications.get(notificationId)) !== null)
        await recordFact(notificationId, 'unsubscribe', { type: 'unsubscribed' })
      return { ...unsubscription, undo: undoToken(target, changes) }
    },
    async undo(token, undo) {
      const target = targetOf(token)
      const changes = target === null ? null : readUndo(target, signer().verify('undo', undo))
      if (target === null || changes === null || !(await exists(target))) return null
      return found(() => undoOptOut(consent, target, changes))
    },
    async savePreferences(token, post) {
      const target = readTarget(signer().verify('preferences', token))
      if (target === null) return null
      const changes = await found(() => preferences.save(target, post))
      return changes && { undo: undoToken(target, changes) }
    },
  }
}

/** Null: not signed here, or for another link. */
function readUndo(target: LinkTarget, payload: string | null): Changes | null {
  if (payload === null) return null
  const [of, changes] = JSON.parse(payload) as [string, Changes]
  return of === writeTarget(target) ? changes : null
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
