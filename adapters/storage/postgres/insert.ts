import { hasLabels } from '../../../src/core/notification/labels.ts'
import type { NewNotification } from '../../../src/core/notification/notification.ts'
import { storedContent } from '../../../src/core/notification/stored-content.ts'
import { labelColumns } from '../rows/labels.ts'
import type { Runner } from './connection.ts'
import type { MadeDue } from './due-jobs.ts'
import { once, unlessEmpty, type Value } from './values.ts'

const INSERT = `
  SELECT o_now AS now, o_drawn AS drawn, o_seqs AS seqs FROM carillon.insert_1($1::bigint,
    $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[], $9::bigint[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::boolean,
    $17::text[], $18::text[], $19::bigint[], $20::bigint[],
    $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[],
    $28::text[], $29::text[], $30::bigint[], $31::text[], $32::text[], $33::text[], $34::text[])`

const NO_DRAW = [null, null, null, null] as const

const NO_NAMES = [null, null] as const

const NO_LABELS = [null, null, null, null, null, null, null] as const

/** A notification to store, with its organization. */
export interface Admitted {
  readonly organizationId: string
  readonly notification: NewNotification
}

/**
 * Stores notifications and their jobs through a connection (one commit) or a transaction.
 *
 * @param made receives the jobs
 * @param draw values of a draw on quotas; null: no quota
 * @returns their `createdAt`; null: nothing was stored, because a quota is nearly used up or an organization is being
 *   deleted
 */
export async function insertNotifications(
  runner: Runner,
  time: number | null,
  admitted: readonly Admitted[],
  made: MadeDue,
  draw: readonly Value[] | null = null,
): Promise<number | null> {
  const values = [
    ...valuesOf(time, admitted),
    made.refs !== null,
    ...(draw ?? NO_DRAW),
    ...labelsOf(admitted),
    ...namesOf(admitted),
    unlessEmpty(admitted.map(({ notification }) => whole(notification.dueAt ?? null))),
    unlessEmpty(admitted.map(({ notification }) => notification.delayedFor?.address ?? null)),
    unlessEmpty(admitted.map(({ notification }) => notification.delayedFor?.recipient ?? null)),
    ...copiesOf(admitted),
  ]
  const [row] = await runner.rows<InsertedRow>(INSERT, values)
  if (row?.drawn !== true) return null
  addMade(made, row, admitted)
  return row.now
}

function valuesOf(time: number | null, admitted: readonly Admitted[]): readonly Value[] {
  const stored = admitted.map(({ notification }) => storedContent(notification.content))
  return [
    time,
    admitted.map(({ notification }) => notification.id),
    once(admitted.map(({ organizationId }) => organizationId)),
    once(admitted.map(({ notification }) => notification.channel)),
    once(admitted.map(({ notification }) => notification.lane)),
    admitted.map(({ notification }) => notification.to),
    once(admitted.map(({ notification }) => notification.priority === 'high')),
    unlessEmpty(admitted.map(({ notification }) => whole(notification.sendAt))),
    unlessEmpty(admitted.map(({ notification }) => whole(notification.expiresAt))),
    unlessEmpty(admitted.map(({ notification }) => templateOf(notification)?.id ?? null)),
    unlessEmpty(admitted.map(({ notification }) => templateOf(notification)?.name ?? null)),
    unlessEmpty(admitted.map(({ notification }) => notification.resendOf ?? null)),
    unlessEmpty(admitted.map(({ notification }) => notification.trace ?? null)),
    stored.map(({ content }) => content),
    unlessEmpty(stored.map(({ attachments }) => attachments)),
  ]
}

/** Columns of labels, then of pairs of metadata. */
function labelsOf(admitted: readonly Admitted[]): readonly Value[] {
  if (!admitted.some(({ notification }) => hasLabels(notification))) return NO_LABELS
  const columns = admitted.map(({ notification }) => labelColumns(notification))
  const pairs = admitted.flatMap(({ notification }) => pairsOf(notification))
  return [
    unlessEmpty(columns.map((labels) => labels.person)),
    unlessEmpty(columns.map((labels) => labels.category)),
    unlessEmpty(columns.map((labels) => labels.group_id)),
    unlessEmpty(columns.map((labels) => labels.metadata)),
    unlessEmpty(pairs.map(({ id }) => id)),
    unlessEmpty(pairs.map(({ name }) => name)),
    unlessEmpty(pairs.map(({ value }) => value)),
  ]
}

function namesOf(admitted: readonly Admitted[]): readonly Value[] {
  if (!admitted.some(({ notification }) => notification.uploads !== undefined)) return NO_NAMES
  const named = admitted.flatMap(({ notification }) => namedUploads(notification))
  return [named.map(({ id }) => id), named.map(({ upload }) => upload)]
}

function copiesOf(admitted: readonly Admitted[]): readonly Value[] {
  if (!admitted.some(({ notification }) => notification.copies !== undefined)) return NO_NAMES
  const copied = admitted.flatMap(({ notification }) => copyRows(notification))
  return [copied.map(({ id }) => id), copied.map(({ address }) => address)]
}

/** Rows of the index of copies. */
export function copyRows({
  id,
  copies = [],
}: NewNotification): { readonly id: string; readonly address: string }[] {
  return copies.map((address) => ({ id, address }))
}

/** The uploads that a notification names. */
export function namedUploads({
  id,
  uploads = [],
}: NewNotification): { readonly id: string; readonly upload: string }[] {
  return uploads.map((upload) => ({ id, upload }))
}

/** Rows of the index of metadata. */
export function pairsOf({
  id,
  metadata,
}: NewNotification): { readonly id: string; readonly name: string; readonly value: string }[] {
  return Object.entries(metadata ?? {}).map(([name, value]) => ({ id, name, value }))
}

interface InsertedRow {
  readonly now: number
  readonly drawn: boolean
  readonly seqs: string | null
}

function addMade(made: MadeDue, { now, seqs }: InsertedRow, admitted: readonly Admitted[]): void {
  // Scheduled jobs wake too: they may be due before sleeping processes look again.
  made.wakes = true
  if (made.refs === null) return
  for (const [index, seq] of (JSON.parse(seqs ?? '[]') as number[]).entries()) {
    const { lane = '', sendAt, dueAt } = admitted[index]?.notification ?? {}
    const dueInMs = Math.max(0, Math.ceil(Math.max(sendAt ?? 0, dueAt ?? 0)) - now)
    made.refs.push({ jobId: String(2 * seq), lane, dueInMs })
  }
}

/** The columns of a notification. */
export function rowOf(
  notification: NewNotification,
): Readonly<Record<string, string | number | boolean | null>> {
  const template = templateOf(notification)
  return {
    id: notification.id,
    channel: notification.channel,
    lane: notification.lane,
    recipient: notification.to,
    high: notification.priority === 'high',
    send_at: whole(notification.sendAt),
    due_at: whole(notification.dueAt ?? null),
    delayed_address: notification.delayedFor?.address ?? null,
    delayed_person: notification.delayedFor?.recipient ?? null,
    expires_at: whole(notification.expiresAt),
    template_id: template?.id ?? null,
    template_name: template?.name ?? null,
    resend_of: notification.resendOf ?? null,
    trace: notification.trace ?? null,
    ...(hasLabels(notification) ? labelColumns(notification) : {}),
    ...storedContent(notification.content),
  }
}

function whole(time: number | null): number | null {
  return time === null ? null : Math.ceil(time)
}

function templateOf({
  content,
}: NewNotification): { readonly id: string; readonly name: string } | undefined {
  return content.template
}
