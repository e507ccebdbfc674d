import { createHash } from 'node:crypto'
import type { ProviderRegistry } from '../../core/channels/provider-registry.ts'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { LinkSigner } from '../../core/links/link-signer.ts'
import { type LinkTarget, readTarget } from '../../core/links/link-target.ts'
import type { PageTextsByLanguage } from '../../core/links/page-texts.ts'
import { coalesce } from '../../core/loop/coalesce.ts'
import type { NotificationEvent } from '../../core/notification/event-payload.ts'
import type { Fact } from '../../core/notification/facts.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ReceiptAnswer, ReceiptRecord } from '../../core/ports/storage/receipts.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { Branding } from '../../core/tenancy/organization.ts'
import type { BrandingFinder, OrganizationFinder } from '../../core/tenancy/plan-of.ts'
import type { Consent } from '../preferences/index.ts'
import {
  createPreferencePages,
  optOut,
  type PreferencePage,
  type PreferencePost,
} from '../preferences/index.ts'
import type { PeopleFinder } from '../recipients/index.ts'
import { isMachineVisit, type Visit } from './machine-visit.ts'

/** The facts that a page takes from its message. */
export interface PageFrame {
  /** The language of the message, as BCP 47. Null: unknown, or an invalid token. */
  readonly locale: string | null
  /** Its organization. Null: an invalid token, or no such organization. */
  readonly branding: Branding | null
}

/**
 * The targets of the links in messages. Tokens prove their origin. All except `unsubscribe` work under maintenance,
 * without counting.
 */
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
  /** Texts of the application for the pages. */
  readonly texts: PageTextsByLanguage
  /** Counts an opened mail in the background. False: invalid token. */
  opened(token: string, visit: Visit): Promise<boolean>
  /** Returns the target of a link and counts the click in the background. Null: invalid token. */
  clicked(token: string, visit: Visit): Promise<string | null>
}

/**
 * `possible`: or done. `required`: the category cannot be turned off. `unknown`: invalid token, or no such organization.
 */
export type Unsubscription = 'possible' | 'required' | 'unknown'

export interface PageServices {
  readonly consent: Consent
  readonly registry: Pick<ProviderRegistry, 'kinds' | 'channels'>
  readonly storage: Storage
  readonly organizations: OrganizationFinder
  readonly brandingOf: BrandingFinder
  readonly clock: Clock
  /** Null: no resolver is configured. */
  readonly people: PeopleFinder | null
  signer(): LinkSigner
  /** False: links still work, but are not counted. */
  counts(): boolean
  emit(event: NotificationEvent): void
  /** Called when stored work may be due. */
  wake(): void
  onError(error: unknown): void
}

/** Maximum number of visits being recorded; visits beyond are not counted. */
const MOST_UNDER_WAY = 1_000
/** Maximum number of remembered visits, which need no second record. */
const MOST_KNOWN = 10_000

/** The pages behind the links in messages. */
export function createPages(services: PageServices): Omit<Pages, 'texts'> {
  const { storage, consent, organizations, brandingOf, clock, signer, counts, emit, wake, onError } = services
  const preferences = createPreferencePages({
    kinds: services.registry.kinds,
    channels: services.registry.channels,
    people: services.people,
    consent,
    storage,
    clock,
    onError,
  })
  const known = new Set<string>()
  let underWay = 0
  const record = coalesce<ReceiptRecord, ReceiptAnswer>((receipts) => storage.recordReceipts(receipts))

  async function store(notificationId: string, key: string, fact: Fact): Promise<ReceiptAnswer['kind']> {
    const dedupeKey = `${key}:${notificationId}`
    const answer = await record({
      provider: OURSELVES,
      organizationId: null,
      dedupeKey,
      notificationId,
      fact,
    })
    if (answer.kind === 'failed') throw answer.error
    if (answer.kind !== 'recorded' || answer.events.length === 0) return answer.kind
    for (const event of answer.events) emit(event)
    wake()
    return answer.kind
  }

  /** The visitor does not wait for the record and sees no error of it. */
  function count(type: 'opened' | 'clicked', id: string, key: string, visit: Visit): void {
    if (!visit.counts || !counts()) return
    if (underWay >= MOST_UNDER_WAY) {
      onError(new Error('A visit was not counted: too many are being recorded.'))
      return
    }
    underWay += 1
    countVisit(type, id, key, visit)
      .catch(onError)
      .finally(() => {
        underWay -= 1
      })
  }

  async function countVisit(
    type: 'opened' | 'clicked',
    id: string,
    key: string,
    visit: Visit,
  ): Promise<void> {
    const byName = isMachineVisit(visit, null)
    const visited = `${id} ${key} ${byName}`
    if (known.has(visited)) return
    const now = clock.now()
    const timeline = await storage.notifications.timeline(id)
    // Retention has removed the notification.
    if (timeline.length === 0) return
    const arrived = timeline.findLast(({ type: event }) => event === 'sent' || event === 'delivered')
    const machine = isMachineVisit(visit, arrived === undefined ? null : now - arrived.at)
    await store(id, machine ? `${key}:machine` : key, { type, ...(machine ? { machine } : {}) })
    if (known.size >= MOST_KNOWN) known.clear()
    if (machine === byName) known.add(visited)
  }

  const exists = ({ organizationId }: LinkTarget): Promise<boolean> =>
    isHeeded(organizations.existing(organizationId))

  async function unsubscriptionOf(target: LinkTarget): Promise<Unsubscription> {
    if (!(await exists(target))) return 'unknown'
    const category = await consent.categories.find(target.organizationId, target.category)
    return category?.required === true ? 'required' : 'possible'
  }

  return {
    async opened(token, visit) {
      const id = signer().verify('open', token)
      if (id !== null) count('opened', id, 'open', visit)
      return id !== null
    },
    async clicked(token, visit) {
      const [id, target] = signer().verify('click', token)?.split('\n') ?? []
      if (id === undefined || target === undefined || !/^https?:/.test(target)) return null
      const place = createHash('sha256').update(target).digest('base64url').slice(0, 22)
      count('clicked', id, `click:${place}`, visit)
      return target
    },
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
        await store(notificationId, 'unsubscribe', { type: 'unsubscribed' })
      return 'possible'
    },
    async preferencesToken(token) {
      const payload = signer().verify('unsubscribe', token)
      return payload === null ? null : signer().sign('preferences', payload)
    },
    async preferences(token) {
      const target = readTarget(signer().verify('preferences', token))
      return target === null || !(await exists(target)) ? null : preferences.show(target)
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

/** No provider has an empty name, so no report of a provider can have this source. */
const OURSELVES = ''
