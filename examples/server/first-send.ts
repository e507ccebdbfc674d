import type { NotificationEvent, SentNotification } from 'carillon'
import { quote, say } from './print.ts'

/** The e-mail that every start sends like any client: over HTTP, with the API key. */
export interface FirstSend {
  /** Reports a received event. */
  heard(event: NotificationEvent): void
  /** Resolves when the notification's event has arrived, or after a timeout. */
  run(url: string, apiKey: string): Promise<void>
}

const PATIENCE_MS = 60_000

export function createFirstSend(): FirstSend {
  // An event can overtake the answer to its request.
  const early = new Set<string>()
  let waiting = (id: string): void => {
    early.add(id)
  }

  function eventOf(id: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS, false)
      waiting = (heard) => {
        if (heard !== id) return
        clearTimeout(timer)
        resolve(true)
      }
      for (const heard of early) waiting(heard)
      early.clear()
    })
  }

  return {
    heard: ({ data }) => waiting(data.id),
    async run(url, apiKey) {
      const response = await fetch(`${url}/v1/notify`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          channel: 'email',
          to: 'ada@example.com',
          template: 'welcome',
          variables: { name: 'Ada' },
        }),
      })
      if (response.status !== 201) {
        say('Not accepted', `${response.status} ${quote(await response.text())}`)
        return
      }
      const { id, status, to } = (await response.json()) as SentNotification
      say('Accepted', `${id} over HTTP (201, ${status}): the template "welcome" to ${to}`)
      if (!(await eventOf(id))) say('Waiting', `no event of ${id} yet; it will be printed on arrival`)
    },
  }
}
