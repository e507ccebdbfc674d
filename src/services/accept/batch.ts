import { setImmediate as nextTurn } from 'node:timers/promises'
import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import type { ParsedSend, SendInput } from '../../domain/input/send.ts'
import type { NewNotification } from '../../domain/notification.ts'
import { assertPermittedCountry } from '../../domain/sms-countries.ts'
import { suppressionError } from '../../domain/suppression.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AcceptReads, IdempotencyRecord } from '../../ports/storage/accept.ts'
import { suppressionKey } from '../suppressions/match.ts'
import { parseSend } from './parse-send.ts'
import { channelHint, type Preparation, prepareSend } from './prepare.ts'
import type { BatchItem, BatchResult, ItemError } from './records.ts'

/** Most notifications in one batch (SPEC.md "Limits", rule 5). */
const MAX_BATCH = 10_000

/** So many are judged in one turn of the event loop, so that nobody else's requests wait for a whole batch. */
const JUDGED_IN_A_TURN = 500
/** A text that may be too large is rendered to know it: few of those make a turn. */
const TURN_MS = 20

/**
 * What the record of a batch keeps: items that were refused by themselves, the ids and states of those that went to
 * the storage, and the errors of those that met a limit: in order, first the admitted, then the month's, then the hour's.
 */
export interface BatchRecord {
  readonly size: number
  readonly errors: readonly (readonly [index: number, error: ItemError])[]
  readonly items: readonly (readonly [id: string, status: 'queued' | 'scheduled'])[]
  readonly overHour?: ItemError
  readonly overMonth: ItemError
}

/** The answer to a repeated batch. */
export function batchResult(record: IdempotencyRecord): BatchResult {
  return toBatchResult(JSON.parse(record.result) as BatchRecord, record.admitted, record.createdAt, true)
}

/** The answer to a batch of which the first `admitted` were stored. */
export function toBatchResult(
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

/** @throws NotifierError `invalid_parameter` (422) */
export function assertBatch(messages: unknown): asserts messages is readonly unknown[] {
  if (Array.isArray(messages) && messages.length >= 1 && messages.length <= MAX_BATCH) return
  throw new NotifierError('invalid_parameter', {
    status: 422,
    message: `"notifications" must be an array of 1 to ${MAX_BATCH} notifications.`,
    details: { field: 'notifications', ...(Array.isArray(messages) ? { received: messages.length } : {}) },
  })
}

/** A batch whose messages were judged by their form, each on its own. */
export interface ParsedBatch {
  readonly size: number
  readonly inputs: readonly (readonly [index: number, input: ParsedSend])[]
  readonly errors: readonly [index: number, error: ItemError][]
  /** What makes it the same batch again: each message as it was understood, or as it came where it was not. */
  readonly request: readonly unknown[]
}

export async function parseBatch(
  messages: readonly SendInput[],
  organizationId: string,
  strict: boolean,
  clock: Clock,
): Promise<ParsedBatch> {
  const inputs: [number, ParsedSend][] = []
  const errors: [number, ItemError][] = []
  const request: unknown[] = []
  await inTurns(messages.entries(), clock, ([index, message]) => {
    request[index] = message
    attempt(index, errors, () => {
      const input = parseSend(message, organizationId, strict)
      request[index] = input
      inputs.push([index, input])
    })
  })
  return { size: messages.length, inputs, errors, request }
}

/** Judges each message on its own; templates are looked up in one go, and so are suppressed recipients. */
export async function judgeBatch(
  { inputs, errors: refused }: ParsedBatch,
  organizationId: string,
  reads: AcceptReads,
  how: Preparation,
): Promise<{ readonly notifications: NewNotification[]; readonly errors: [number, ItemError][] }> {
  const errors = [...refused]
  const references = new Set<string>()
  for (const [, { template }] of inputs) if (template !== undefined) references.add(template)
  const names = [...references]
  const found = names.length === 0 ? [] : await reads.templates.find(organizationId, names)
  const templates = new Map(names.map((name, position) => [name, found[position] ?? null]))
  const templateOf = (input: ParsedSend) => templates.get(input.template ?? '') ?? null
  const channels = new Set(inputs.map(([, input]) => channelHint(input, templateOf(input))))
  await Promise.all([...channels].map((channel) => channel && how.routes.warm(channel, organizationId)))
  const prepared: [number, NewNotification][] = []
  await inTurns(inputs, how.clock, ([index, input]) =>
    attempt(index, errors, () => {
      prepared.push([index, prepareSend(organizationId, input, templateOf(input), how)])
    }),
  )
  const keys = prepared.map(([, notification]) => suppressionKey(organizationId, notification))
  const reasons = keys.length === 0 ? [] : await reads.suppressions.match(keys)
  const textMessages = prepared.some(([, { channel }]) => channel === 'sms')
  const countries = textMessages ? await how.smsCountries(organizationId) : null
  const notifications: NewNotification[] = []
  for (const [position, [index, notification]] of prepared.entries()) {
    const reason = reasons[position]
    // No answer is no permission.
    if (reason === undefined) throw new Error(`${reasons.length} answers to ${keys.length} suppression keys.`)
    attempt(index, errors, () => {
      if (notification.channel === 'sms') assertPermittedCountry(notification.to, countries)
      if (reason !== null) throw suppressionError(reason)
      notifications.push(notification)
    })
  }
  return { notifications, errors }
}

/** Does something with each item, and lets the event loop turn after every so many, or so long. */
async function inTurns<Item>(
  items: Iterable<Item>,
  clock: Clock,
  judge: (item: Item) => void,
): Promise<void> {
  let judged = 0
  let began = clock.monotonic()
  for (const item of items) {
    judge(item)
    judged += 1
    if (judged % JUDGED_IN_A_TURN !== 0 && clock.monotonic() - began < TURN_MS) continue
    await nextTurn()
    began = clock.monotonic()
  }
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

/** The form in which an item's fault is answered and recorded. */
export function itemError({ code, message, details }: NotifierError): ItemError {
  return { code, message, ...(details === undefined ? {} : { details }) }
}
