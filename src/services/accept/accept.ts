import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import { parseInput } from '../../domain/input/parse.ts'
import { type ParsedSend, type SendInput, sendInput } from '../../domain/input/send.ts'
import type { NewNotification } from '../../domain/notification.ts'
import type { Template } from '../../domain/template/template.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  IdempotencyKey,
  IdempotencyRecord,
} from '../../ports/storage/accept.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { fingerprint } from '../fingerprint.ts'
import { createGroup } from '../group.ts'
import type { SendLimits } from '../limits/send-limits.ts'
import type {
  BatchItem,
  BatchResult,
  ItemError,
  Notifier,
  SendOptions,
  SentNotification,
} from '../notifier.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { renderContent } from '../render.ts'
import { assertIdempotencyKey, assertSameRequest, type IdempotentUse, recordFor } from './idempotency.ts'
import { type Preparation, prepareSend } from './prepare.ts'
import { createTurns } from './turns.ts'

/** Most notifications in one batch (SPEC.md "Limits", rule 5). */
export const MAX_BATCH = 10_000

/** Notifications in one commit; a larger batch goes in one of its own. */
const COMMIT_WEIGHT = 2_000

/** What the record of a single send keeps: the answer but its time, which is the record's own. */
type SendResult = Pick<SentNotification, 'id' | 'status' | 'channel' | 'to'>

/**
 * What the record of a batch keeps: items that were refused by themselves, the ids and states of those that went to
 * the storage, and the errors of those that met a limit: in order, first the admitted, then the month's, then the hour's.
 */
interface BatchRecord {
  readonly size: number
  readonly errors: readonly (readonly [index: number, error: ItemError])[]
  readonly items: readonly (readonly [id: string, status: 'queued' | 'scheduled'])[]
  readonly overHour?: ItemError
  readonly overMonth: ItemError
}

/**
 * The accept side of the service: judge, then store in commits that concurrent callers share.
 *
 * @param accepted is called after a commit, with each lane that has something new to deliver
 */
export function createAccept(
  storage: Storage,
  organizations: Organizations,
  limits: SendLimits,
  how: Preparation,
  accepted: (lane: string) => void,
): Pick<Notifier, 'send' | 'sendBatch' | 'validate'> {
  const commit = createGroup(
    (requests: readonly AcceptRequest[]) => storage.accept(requests),
    COMMIT_WEIGHT,
    (request) => request.notifications.length,
  )
  const lookUp = createGroup((keys: readonly IdempotencyKey[]) => storage.findIdempotent(keys))
  const turns = createTurns(how.clock)
  const findTemplate = createGroup((wanted: readonly WantedTemplate[]) => findTemplates(storage, wanted))

  async function store(request: AcceptRequest): Promise<Exclude<AcceptAnswer, { kind: 'failed' }>> {
    const answer = await commit(request)
    if (answer.kind === 'failed') throw answer.error
    if (answer.kind === 'accepted' && request.dryRun !== true) {
      for (const lane of new Set(request.notifications.map((notification) => notification.lane)))
        accepted(lane)
    }
    return answer
  }

  async function judge(
    input: ParsedSend,
    organizationId: string,
    use: IdempotentUse | null,
  ): Promise<Judged> {
    const record = use === null ? null : await lookUp(use.key)
    if (use !== null && record !== null) assertSameRequest(record, use)
    return { input, organizationId, use, record }
  }

  async function prepare({ input, organizationId }: Judged): Promise<NewNotification> {
    const template =
      input.template === undefined ? null : await findTemplate({ organizationId, reference: input.template })
    return prepareSend(input, template, how)
  }

  async function sendOnce(judged: Judged): Promise<SentNotification> {
    const { organizationId, use, record } = judged
    if (record !== null) return replayedSend(record)
    const notification = await prepare(judged)
    const { refusal, quota } = await limits.take(organizationId, 1)
    if (refusal !== null) throw refusal
    const { id, channel, to } = notification
    const result: SendResult = { id, status: statusOf(notification, how.clock.now()), channel, to }
    const answer = await store({
      organizationId,
      notifications: [notification],
      ...quota,
      ...recordFor(use, result),
    })
    if (answer.kind === 'replayed') {
      if (use !== null) assertSameRequest(answer.record, use)
      return replayedSend(answer.record)
    }
    if (answer.admitted === 0) throw await limits.quotaError(organizationId)
    return { ...result, createdAt: new Date(answer.createdAt).toISOString(), replayed: false }
  }

  async function batchOnce(
    messages: readonly SendInput[],
    organizationId: string,
    use: IdempotentUse | null,
  ): Promise<BatchResult> {
    const record = use === null ? null : await lookUp(use.key)
    if (use !== null && record !== null) {
      assertSameRequest(record, use)
      return batchResult(record)
    }
    const judged = await judgeBatch(messages, organizationId, storage, how)
    const { granted, refusal, quota } = await limits.take(organizationId, judged.notifications.length)
    const notifications = judged.notifications.slice(0, granted)
    const now = how.clock.now()
    const result: BatchRecord = {
      size: messages.length,
      errors: judged.errors,
      items: notifications.map((notification) => [notification.id, statusOf(notification, now)]),
      ...(refusal === null ? {} : { overHour: itemError(refusal) }),
      overMonth: itemError(await limits.quotaError(organizationId)),
    }
    const answer = await store({ organizationId, notifications, ...quota, ...recordFor(use, result) })
    if (answer.kind === 'accepted') return toBatchResult(result, answer.admitted, answer.createdAt, false)
    if (use !== null) assertSameRequest(answer.record, use)
    return batchResult(answer.record)
  }

  return {
    async send(message, options) {
      const input = parseInput(sendInput, message)
      const organizationId = await organizations.existing(options)
      const use = idempotentUse('send', organizationId, options, input)
      return turns.take(use, async () => sendOnce(await judge(input, organizationId, use)))
    },

    async validate(message, options) {
      const input = parseInput(sendInput, message)
      const organizationId = await organizations.existing(options)
      const judged = await judge(input, organizationId, idempotentUse('send', organizationId, options, input))
      const notification = await prepare(judged)
      const { refusal, quota } = await limits.peek(organizationId, 1)
      if (refusal !== null) throw refusal
      const answer = await store({ organizationId, notifications: [notification], ...quota, dryRun: true })
      if (answer.kind === 'accepted' && answer.admitted === 0) throw await limits.quotaError(organizationId)
      const { channel, to, content } = notification
      return { channel, to, rendered: renderContent(channel, content, how.compiled) }
    },

    async sendBatch(messages, options) {
      assertBatch(messages)
      const organizationId = await organizations.existing(options)
      const use = idempotentUse('batch', organizationId, options, messages)
      return turns.take(use, () => batchOnce(messages, organizationId, use))
    },
  }
}

interface Judged {
  readonly input: ParsedSend
  readonly organizationId: string
  readonly use: IdempotentUse | null
  readonly record: IdempotencyRecord | null
}

function idempotentUse(
  operation: IdempotencyKey['operation'],
  organizationId: string,
  options: SendOptions | undefined,
  request: unknown,
): IdempotentUse | null {
  const key = options?.idempotencyKey
  if (key === undefined) return null
  assertIdempotencyKey(key)
  return { key: { organizationId, operation, key }, fingerprint: fingerprint(request) }
}

function replayedSend(record: IdempotencyRecord): SentNotification {
  const result = JSON.parse(record.result) as SendResult
  return { ...result, createdAt: new Date(record.createdAt).toISOString(), replayed: true }
}

function batchResult(record: IdempotencyRecord): BatchResult {
  return toBatchResult(JSON.parse(record.result) as BatchRecord, record.admitted, record.createdAt, true)
}

function toBatchResult(
  record: BatchRecord,
  admitted: number,
  createdAt: number,
  replayed: boolean,
): BatchResult {
  const { size, overMonth, overHour = overMonth } = record
  const errors = new Map(record.errors)
  const items: BatchItem[] = []
  let next = 0
  for (let index = 0; index < size; index += 1) {
    const error = errors.get(index)
    if (error !== undefined) {
      items.push({ index, error })
      continue
    }
    const stored = next < admitted ? record.items[next] : undefined
    if (stored !== undefined) items.push({ index, id: stored[0], status: stored[1] })
    else items.push({ index, error: next < record.items.length ? overMonth : overHour })
    next += 1
  }
  return {
    accepted: admitted,
    rejected: size - admitted,
    items,
    createdAt: new Date(createdAt).toISOString(),
    replayed,
  }
}

function assertBatch(messages: unknown): asserts messages is readonly unknown[] {
  if (Array.isArray(messages) && messages.length >= 1 && messages.length <= MAX_BATCH) return
  throw new NotifierError('invalid_parameter', {
    status: 422,
    message: `"notifications" must be an array of 1 to ${MAX_BATCH} notifications.`,
    details: { field: 'notifications', ...(Array.isArray(messages) ? { received: messages.length } : {}) },
  })
}

async function judgeBatch(
  messages: readonly SendInput[],
  organizationId: string,
  storage: Storage,
  how: Preparation,
): Promise<{ readonly notifications: NewNotification[]; readonly errors: [number, ItemError][] }> {
  const errors: [number, ItemError][] = []
  const parsed: [number, ParsedSend][] = []
  const references = new Set<string>()
  for (const [index, message] of messages.entries()) {
    attempt(index, errors, () => {
      const input = parseInput(sendInput, message)
      if (input.template !== undefined) references.add(input.template)
      parsed.push([index, input])
    })
  }
  const names = [...references]
  const found = names.length === 0 ? [] : await storage.templates.find(organizationId, names)
  const templates = new Map(names.map((name, position) => [name, found[position] ?? null]))
  const notifications: NewNotification[] = []
  for (const [index, input] of parsed) {
    attempt(index, errors, () => {
      notifications.push(prepareSend(input, templates.get(input.template ?? '') ?? null, how))
    })
  }
  return { notifications, errors }
}

/** Judges one item; a fault of the item is its answer, any other is thrown. */
function attempt(index: number, errors: [number, ItemError][], judge: () => void): void {
  try {
    judge()
  } catch (error) {
    if (!isNotifierError(error)) throw error
    errors.push([index, itemError(error)])
  }
}

function itemError({ code, message, details }: NotifierError): ItemError {
  return { code, message, ...(details === undefined ? {} : { details }) }
}

function statusOf({ sendAt }: NewNotification, now: number): 'queued' | 'scheduled' {
  return sendAt !== null && sendAt > now ? 'scheduled' : 'queued'
}

interface WantedTemplate {
  readonly organizationId: string
  readonly reference: string
}

async function findTemplates(
  storage: Storage,
  wanted: readonly WantedTemplate[],
): Promise<(Template | null)[]> {
  const byOrganization = new Map<string, string[]>()
  for (const { organizationId, reference } of wanted) {
    const references = byOrganization.get(organizationId)
    if (references === undefined) byOrganization.set(organizationId, [reference])
    else if (!references.includes(reference)) references.push(reference)
  }
  const found = new Map<string, Template | null>()
  for (const [organizationId, references] of byOrganization) {
    const templates = await storage.templates.find(organizationId, references)
    for (const [position, reference] of references.entries()) {
      found.set(`${organizationId} ${reference}`, templates[position] ?? null)
    }
  }
  return wanted.map(({ organizationId, reference }) => found.get(`${organizationId} ${reference}`) ?? null)
}
