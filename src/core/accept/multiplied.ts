import { NotifierError } from '../errors/notifier-error.ts'
import type { NotificationContent } from '../notification/notification.ts'
import type { Group } from './prepare.ts'

/**
 * Most characters of text and files that the addresses of people may add to one call: each address stores its own copy, and a
 * commit is one step.
 */
const MOST_ADDED = 16 * 1024 * 1024

/** Counts what the addresses of people add to a call. */
export interface Multiplied {
  /** @throws NotifierError `message_too_large` for a message that adds too much */
  add(group: Group): void
}

export function createMultiplied(): Multiplied {
  let added = 0
  return {
    add([first, ...others]) {
      if (others.length === 0) return
      const sizes = new Map<NotificationContent, number>()
      const sizeOf = (content: NotificationContent): number => {
        const size = sizes.get(content) ?? JSON.stringify(content).length
        sizes.set(content, size)
        return size
      }
      const more = others.reduce((sum, { content }) => sum + sizeOf(content), 0)
      if (added + more > MOST_ADDED) throw tooMuch(others.length + 1, first.recipient ?? null)
      added += more
    },
  }
}

/** The group of one send. @throws as {@link Multiplied.add} */
export function withinCopies(group: Group): Group {
  if (group.length > 1) createMultiplied().add(group)
  return group
}

function tooMuch(addresses: number, recipient: string | null): NotifierError {
  return new NotifierError('message_too_large', {
    message:
      `The message goes to ${addresses} addresses, each with its own copy of the text and files. The copies of one call may have ` +
      `${MOST_ADDED} characters together: shorten the message, or send it in another call.`,
    details: { field: 'recipient', ...(recipient === null ? {} : { recipient }), addresses },
  })
}
