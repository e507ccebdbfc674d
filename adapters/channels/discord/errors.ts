import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  hintOf,
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

const badWebhook: Classification = ['rejected', 'provider_auth_failed', 'account']
const restricted: Classification = ['rejected', 'posting_restricted', 'recipient']
const badContent: Classification = ['rejected', 'invalid_content', 'message']
const unwanted: Classification = ['rejected', 'content_rejected', 'message']
const tooLarge: Classification = ['rejected', 'message_too_large', 'message']
const slow: Classification = ['retry', 'provider_rate_limited', 'recipient']
const down: Classification = ['retry', 'provider_unavailable', 'provider']

/**
 * Discord's error codes for posts to a webhook (https://discord.com/developers/docs/topics/opcodes-and-status-codes).
 *
 * @internal exported for tests
 */
export const DISCORD_ERRORS: Readonly<Record<string, Classification>> = {
  // The webhook, and with it the credential in its address, was deleted.
  10015: badWebhook,
  40001: badWebhook,
  50014: badWebhook,
  50027: badWebhook,

  10003: ['rejected', 'channel_not_found', 'recipient'],
  50083: ['rejected', 'channel_archived', 'recipient'],
  160005: restricted,
  50001: restricted,
  50013: restricted,
  // A forum accepts posts only in threads and may require a tag.
  40058: restricted,
  40067: restricted,
  50008: restricted,
  50024: restricted,
  // A forum wants a thread, which a text channel refuses.
  220001: restricted,
  220003: restricted,
  220004: restricted,
  50095: ['rejected', 'region_not_permitted', 'recipient'],

  50006: badContent,
  50035: badContent,
  50109: badContent,
  220002: badContent,
  20009: unwanted,
  // AutoMod, by the rules of the server; then Discord's filter of harmful links.
  200000: unwanted,
  200001: unwanted,
  240000: unwanted,
  40005: tooLarge,

  20016: slow,
  20028: slow,
  20029: slow,
  40004: down,
  40006: down,
  130000: down,
  40333: ['rejected', 'provider_error', 'account'],
}

/** The outcome of an answer: the message or webhook with its `id`, or `{ code, message, errors }`. */
export function discordOutcome(answer: ProviderAnswer): Outcome | null {
  const { status, headers, json } = answer
  if (status === 200) {
    const id = textMember(json, 'id')
    return id === undefined ? null : { kind: 'accepted', providerMessageId: id }
  }
  const message = textMember(json, 'message')
  if (status < 400 || message === undefined) return null
  const code = textMember(json, 'code')
  const faults = faultsOf(member(json, 'errors'))
  return refuse(
    answer,
    {
      // 0 is Discord's code for all errors without their own.
      code: code === '0' ? undefined : code,
      message: [message, ...faults.map(({ field, what }) => `${field}: ${what}`)].join('; '),
      // More precise than the header, which has whole seconds.
      retryAfterMs: hintOf(member(json, 'retry_after')),
    },
    classify(status, code, headers, faults),
  )
}

function classify(
  status: number,
  code: string | undefined,
  headers: ProviderAnswer['headers'],
  faults: readonly Fault[],
): Classification {
  if (
    code === '50035' &&
    faults.some(({ field, code }) => field === 'content' && code === 'BASE_TYPE_MAX_LENGTH')
  )
    return tooLarge
  const known = rowOf(DISCORD_ERRORS, code)
  if (known !== undefined) return known
  // A shared limit belongs to the channel, not to this webhook.
  return status === 429 && headers['x-ratelimit-scope'] === 'shared' ? slow : byStatus(status)
}

interface Fault {
  /** Path of the field, for example `embeds.0.title`. */
  readonly field: string
  readonly code: string | undefined
  readonly what: string
}

const MOST_FAULTS = 5
const MOST_LEVELS = 8

/** Flattens Discord's tree of field errors, whose leaves are lists named `_errors`. */
function faultsOf(tree: unknown, path: readonly string[] = []): Fault[] {
  if (typeof tree !== 'object' || tree === null || path.length > MOST_LEVELS) return []
  return Object.entries(tree)
    .flatMap(([name, below]) =>
      name === '_errors' && Array.isArray(below)
        ? below.map((fault) => ({
            field: path.join('.'),
            code: textMember(fault, 'code'),
            what: textMember(fault, 'message') ?? 'is wrong',
          }))
        : faultsOf(below, [...path, name]),
    )
    .slice(0, MOST_FAULTS)
}
