import type { NewNotification } from '../../../src/domain/notification.ts'
import { NOW, type Runner } from './connection.ts'

/** Notifications and their jobs, in the order in which they are given, in one statement. */
const INSERT = `
  WITH clock AS MATERIALIZED (SELECT ${NOW} AS now),
  given AS MATERIALIZED (
    SELECT nextval('carillon.notification_numbers') AS seq, g.* FROM unnest(
      $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[], $9::bigint[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[]
    ) WITH ORDINALITY AS g (id, organization, channel, lane, recipient, high, send_at, expires_at,
      template_id, template_name, resend_of, trace, content, number)
    ORDER BY g.number),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, content)
    SELECT seq, now, id, organization, channel, lane, recipient, high, send_at,
      expires_at, template_id, template_name, resend_of, trace, content
    FROM given, clock),
  queued AS (
    INSERT INTO carillon.jobs (id, place, due_at, state, high, lane, organization, subject)
    SELECT 2 * seq, 2 * seq, CASE WHEN send_at > now THEN send_at ELSE now END,
      CASE WHEN send_at > now THEN 1 ELSE 0 END, high, lane, organization, id
    FROM given, clock)
  SELECT now FROM clock`

/** One notification that is to be stored, and whose it is. */
export interface Admitted {
  readonly organizationId: string
  readonly notification: NewNotification
}

/**
 * Stores notifications and their jobs with whatever runs the statement: a connection (one commit) or a transaction.
 *
 * @returns their `createdAt`
 */
export async function insertNotifications(
  runner: Runner,
  time: number | null,
  admitted: readonly Admitted[],
): Promise<number> {
  const [row] = await runner.rows<{ now: number }>(INSERT, [
    time,
    admitted.map(({ notification }) => notification.id),
    admitted.map(({ organizationId }) => organizationId),
    admitted.map(({ notification }) => notification.channel),
    admitted.map(({ notification }) => notification.lane),
    admitted.map(({ notification }) => notification.to),
    admitted.map(({ notification }) => notification.priority === 'high'),
    admitted.map(({ notification }) => whole(notification.sendAt)),
    admitted.map(({ notification }) => whole(notification.expiresAt)),
    admitted.map(({ notification }) => templateOf(notification)?.id ?? null),
    admitted.map(({ notification }) => templateOf(notification)?.name ?? null),
    admitted.map(({ notification }) => notification.resendOf ?? null),
    admitted.map(({ notification }) => notification.trace ?? null),
    admitted.map(({ notification }) => JSON.stringify(notification.content)),
  ])
  return row?.now ?? 0
}

function whole(time: number | null): number | null {
  return time === null ? null : Math.ceil(time)
}

function templateOf({
  content,
}: NewNotification): { readonly id: string; readonly name: string } | undefined {
  return 'template' in content ? content.template : undefined
}
