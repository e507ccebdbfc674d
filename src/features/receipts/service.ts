import { hash } from 'node:crypto'
import PQueue from 'p-queue'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { ProviderRegistry } from '../../core/channels/provider-registry.ts'
import type { ConfiguredProvider } from '../../core/channels/providers.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { coalesce } from '../../core/loop/coalesce.ts'
import type { NotificationEvent } from '../../core/notification/event-payload.ts'
import type { Fact } from '../../core/notification/facts.ts'
import { type Receipt, soundReceipt } from '../../core/notification/receipt.ts'
import type { MessageReceivedEvent, ReceivedMessage } from '../../core/notification/received-message.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Logger } from '../../core/ports/logger.ts'
import type { ParsedReceipts, ReceiptRequest } from '../../core/ports/receipts.ts'
import type { ConsentReport, ReceiptAnswer, ReceiptRecord } from '../../core/ports/storage/receipts.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION, organizationKind } from '../../core/tenancy/organization.ts'
import type { OptOuts } from '../preferences/index.ts'
import { optingIn, suppressing } from '../suppressions/index.ts'
import type { Backpressure } from './backpressure.ts'
import { isOfOneList, leaveList } from './list-opt-out.ts'
import type { ReceiptArrival, ReceiptReply, ReceiptSource } from './model.ts'

export interface Receipts {
  /** Resolves if a provider takes receipts: called before a body is read. @throws NotifierError `not_found` */
  assertTaken(source: ReceiptSource): Promise<void>
  /**
   * Verifies and stores a provider's report and returns the answer (`POST /receipts/{channel}/{provider}`). Idempotent.
   *
   * @throws NotifierError `not_found`, `invalid_receipt_signature`, `invalid_parameter` if it is unreadable
   */
  take(source: ReceiptSource, request: ReceiptArrival): Promise<ReceiptReply>
  /**
   * Answers a provider that verifies the address (`GET /receipts/{channel}/{provider}`).
   *
   * @throws NotifierError `not_found`, `invalid_receipt_signature`
   */
  confirm(source: ReceiptSource, request: ReceiptArrival): Promise<ReceiptReply>
}

export interface ReceiptServices {
  readonly storage: Storage
  readonly clock: Clock
  readonly hashes: PersonHashes
  readonly logger: Logger
  /** Public mount address of the API. Undefined: from the Host header. */
  readonly publicUrl: string | undefined
  readonly registry: Pick<ProviderRegistry, 'withInstance'>
  emit(event: NotificationEvent | MessageReceivedEvent): void
  /** Called when stored work may be due. */
  wake(): void
  readonly backpressure: Backpressure
}

/** Concurrent verifications per instance: some fetch a certificate. */
const AT_ONCE = 32
/** Maximum number of waiting requests; further ones must be repeated. */
const MOST_WAITING = 1_000
/** Value of Retry-After. */
const LATER_MS = 30_000
/** 144 bits identify a text. */
const ID_BYTES = 18
const EMPTY = Object.freeze({ contentType: 'text/plain; charset=utf-8', body: '' })

/** Takes reports of providers: verifies, stores, then answers. */
export function createReceipts(services: ReceiptServices, optOuts: OptOuts): Receipts {
  const { storage, registry, clock, logger, publicUrl, emit, wake, backpressure } = services
  /** One queue per instance: slow verification delays only that provider. */
  const queues = new WeakMap<ConfiguredProvider, PQueue>()
  /** Requests without an answer. */
  let waiting = 0

  const record = coalesce<ReceiptRecord, ReceiptAnswer>(async (receipts) => {
    await backpressure.turn()
    const began = clock.monotonic()
    try {
      return await storage.recordReceipts(receipts)
    } finally {
      backpressure.gone(receipts.length, clock.monotonic() - began)
    }
  })

  async function storeFact(fact: Fact, source: ReceiptSource, receipt: Receipt) {
    const { dedupeKey, notificationId } = receipt
    const organizationId = source.organizationId ?? null
    const provider = fact.provider ?? ''
    const answer = await record({ provider, organizationId, dedupeKey, notificationId, fact })
    if (answer.kind === 'failed') throw answer.error
    if (answer.kind === 'unmatched') logger.debug('A receipt waits for its hand-over.', { provider })
    if (answer.kind !== 'recorded' || answer.events.length === 0) return
    for (const event of answer.events) emit(event)
    wake()
  }

  /**
   * Stores a consent or a text, which name no message. A repetition changes nothing, because later ones may exist, and
   * is not announced.
   */
  async function storeIncoming(
    { name: provider, kind }: ConfiguredProvider,
    source: ReceiptSource,
    receipt: Receipt,
  ) {
    // A shared instance belongs to the default organization; the others find out about an opt-out from the provider's
    // refusals.
    const organizationId = source.organizationId ?? DEFAULT_ORGANIZATION
    const consent = consentOf(receipt, services.hashes, kind, organizationId, provider)
    const received = receivedIn(receipt, { channel: kind.name, provider, organizationId })
    if (consent === null && received === undefined) return
    const answer = await record({
      provider,
      organizationId: source.organizationId ?? null,
      dedupeKey: receipt.dedupeKey,
      consent: consent ?? [],
      received,
    })
    if (answer.kind === 'failed') throw answer.error
    if (answer.kind !== 'applied' || answer.received === undefined) return
    emit(answer.received)
    wake()
  }

  async function store(provider: ConfiguredProvider, source: ReceiptSource, receipt: Receipt): Promise<void> {
    const { fact, suppress } = receipt
    if (fact === undefined) return storeIncoming(provider, source, receipt)
    const whole = { ...fact, provider: provider.name }
    // The preference first: if the process ends in between, the provider repeats the report.
    if (isOfOneList(receipt) && (await leaveList(receipt, provider.kind, source, services, optOuts)))
      return storeFact(whole, source, receipt)
    return storeFact(
      suppress === undefined ? whole : { ...whole, suppress: suppress.reason },
      source,
      receipt,
    )
  }

  async function takeIn(
    provider: ConfiguredProvider,
    source: ReceiptSource,
    arrival: ReceiptArrival,
  ): Promise<ReceiptReply> {
    const parse = provider.plugin.parseReceipts?.bind(provider.plugin)
    if (parse === undefined) throw unknownSource(source)
    // Leaves the queue before storing, so that receipts arriving meanwhile share a commit.
    const parsed = await queueOf(provider).add(() => parse(requestOf(arrival)))
    if (parsed.kind === 'later') {
      throw new NotifierError('service_unavailable', { message: parsed.message, retryAfterMs: LATER_MS })
    }
    if (parsed.kind === 'refused') throw refusal(parsed)
    const sound: Receipt[] = []
    for (const receipt of parsed.receipts.map(soundReceipt)) {
      if (receipt !== null) sound.push(receipt)
      else logger.error('A provider returned a receipt without a dedupeKey.', named(provider))
    }
    await Promise.all(sound.map((receipt) => store(provider, source, receipt)))
    return parsed.answer ?? EMPTY
  }

  function requestOf({ target, host, ...request }: ReceiptArrival): ReceiptRequest {
    const url = `${publicUrl ?? `https://${host ?? 'localhost'}`}${target}`
    return { ...request, url, receivedAt: clock.now() }
  }

  function queueOf(provider: ConfiguredProvider): PQueue {
    const known = queues.get(provider) ?? new PQueue({ concurrency: AT_ONCE })
    queues.set(provider, known)
    return known
  }

  async function isKnown(organizationId: string): Promise<boolean> {
    const [organization = null] = await storage.records.get(organizationKind, [{ id: organizationId }])
    return organization !== null
  }

  /** Runs `work` with the instance of a source. */
  async function withInstance<Answer>(
    source: ReceiptSource,
    work: (provider: ConfiguredProvider) => Promise<Answer>,
  ): Promise<Answer> {
    const { organizationId = null, channel, provider: name } = source
    // The request is not verified yet: the application's function is not called for unknown organizations.
    if (organizationId !== null && !(await isKnown(organizationId))) {
      throw unknownSource(source)
    }
    const answer = await registry.withInstance({ organizationId, channel, name }, work)
    if (answer === null) throw unknownSource(source)
    return answer
  }

  return {
    async assertTaken(source) {
      const taken = await withInstance(source, async ({ plugin }) => plugin.parseReceipts !== undefined)
      if (!taken) throw unknownSource(source)
    },
    async take(source, arrival) {
      if (waiting >= MOST_WAITING) {
        throw new NotifierError('service_unavailable', {
          message: 'Too many pending receipts; retry later.',
          retryAfterMs: LATER_MS,
        })
      }
      waiting += 1
      try {
        return await withInstance(source, (provider) => takeIn(provider, source, arrival))
      } finally {
        waiting -= 1
      }
    },
    confirm: (source, arrival) =>
      withInstance(source, async ({ plugin }) => {
        if (plugin.confirmReceipts === undefined) {
          throw plugin.parseReceipts === undefined ? unknownSource(source) : reportsByPost()
        }
        const answer = plugin.confirmReceipts(requestOf(arrival))
        if (answer !== null) return answer
        throw new NotifierError('invalid_receipt_signature', {
          message: 'The request does not prove its origin.',
        })
      }),
  }
}

function consentOf(
  { suppress, unsuppress }: Receipt,
  hashes: PersonHashes,
  kind: ChannelKind,
  organizationId: string,
  provider: string,
): ConsentReport['consent'] | null {
  if (suppress?.address !== undefined) {
    const why = { reason: suppress.reason, source: provider }
    return [suppressing(hashes, kind, organizationId, suppress.address, why)]
  }
  if (unsuppress === undefined) return null
  return optingIn(hashes, kind, organizationId, unsuppress.address)
}

function receivedIn(
  { dedupeKey, received, suppress, unsuppress }: Receipt,
  of: Pick<ReceivedMessage, 'channel' | 'provider' | 'organizationId'>,
): ReceivedMessage | undefined {
  if (received === undefined) return undefined
  const { from, to = null, text } = received
  const { organizationId, channel, provider } = of
  const key = hash('sha256', [organizationId, channel, provider, dedupeKey].join('\n'), 'buffer')
  const id = `in_${key.subarray(0, ID_BYTES).toString('base64url')}`
  const consent = suppress?.reason === 'stop' ? 'stop' : unsuppress === undefined ? null : 'start'
  return { id, organizationId, channel, provider, from, to, text, consent }
}

function named({ channel, name }: ConfiguredProvider): {
  readonly channel: string
  readonly provider: string
} {
  return { channel, provider: name }
}

function unknownSource({ channel, provider }: ReceiptSource): NotifierError {
  const message = `No ${channel} provider "${provider}" that reports is configured here.`
  return new NotifierError('not_found', { message })
}

function reportsByPost(): NotifierError {
  const message = 'The address is right: the provider reports here by POST.'
  return new NotifierError('method_not_allowed', { message, details: { allow: 'POST' } })
}

function refusal({ why, message }: Extract<ParsedReceipts, { kind: 'refused' }>): NotifierError {
  return new NotifierError(why === 'signature' ? 'invalid_receipt_signature' : 'invalid_parameter', {
    message,
  })
}
