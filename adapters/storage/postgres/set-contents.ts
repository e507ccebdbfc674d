import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import { storedContent } from '../../../src/core/notification/stored-content.ts'
import type { Runner } from './connection.ts'

const UPDATE = `
  WITH unnamed AS (DELETE FROM carillon.named_uploads WHERE notification = ANY ($1::text[]))
  UPDATE carillon.notifications AS n SET content = given.content, attachments = given.attachments
  FROM unnest($1::text[], $2::text[], $3::text[]) AS given (id, content, attachments)
  WHERE n.id = given.id`

/**
 * Locks the notifications of jobs, in a statement before the jobs: every transaction that locks both starts with the
 * notifications.
 */
export function lockForContents(jobs: readonly number[]): string {
  return `
    SELECT n.id FROM carillon.notifications AS n
    WHERE n.id = ANY (ARRAY(SELECT subject FROM carillon.jobs WHERE id = ANY ('{${jobs}}'::bigint[])))
    ORDER BY n.id FOR NO KEY UPDATE`
}

/** Replaces the contents of locked notifications. The new ones name no uploads. */
export async function setContents(
  tx: Runner,
  contents: readonly { readonly id: string; readonly content: NotificationContent | undefined }[],
): Promise<void> {
  const given = contents.flatMap(({ id, content }) =>
    content === undefined ? [] : [{ id, ...storedContent(content) }],
  )
  if (given.length === 0) return
  await tx.rows(UPDATE, [
    given.map(({ id }) => id),
    given.map(({ content }) => content),
    given.map(({ attachments }) => attachments),
  ])
}
