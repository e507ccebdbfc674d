import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import { storedContent } from '../../../src/core/notification/stored-content.ts'
import type { Connection } from './connection.ts'

/** Replaces the content of a notification, by its `seq`, inside an open transaction. The new one names no uploads. */
export function createSetContent(
  connection: Connection,
): (seq: number, content: NotificationContent | undefined) => void {
  const update = connection.statement(
    'UPDATE carillon_notifications SET content = ?, attachments = ? WHERE seq = ?',
  )
  const removeNames = connection.statement('DELETE FROM carillon_named_uploads WHERE notification = ?')
  return function setContent(seq, given) {
    if (given === undefined) return
    const { content, attachments } = storedContent(given)
    update().run(content, attachments, seq)
    removeNames().run(seq)
  }
}
