import type { Notifier, Person, SendInput } from 'carillon'

const RECIPIENT = 'user:42'

const ada: Person = {
  channels: {
    email: 'ada@example.com',
    sms: '+4915112345678',
    push: `dQw4w9WgXcQ:APA91b${'x'.repeat(134)}`,
  },
  locale: 'de',
  timeZone: 'Europe/Berlin',
}

/** The users of the application, by id. */
export const people: ReadonlyMap<string, Person> = new Map([[RECIPIENT, ada]])

export const categories = {
  offers: { name: 'Offers' },
  security: { name: 'Security', required: true },
}

/** No offers by mail, and no text messages at all. */
export async function choose(notifier: Notifier): Promise<void> {
  await notifier.preferences.change({ recipient: RECIPIENT }, { categories: { offers: { email: false } } })
  await notifier.preferences.change({ recipient: RECIPIENT }, { channels: { sms: false } })
}

/** Messages to one person, and what becomes of each. */
export const toOnePerson: readonly { readonly message: SendInput; readonly until: Until }[] = [
  {
    message: {
      channel: 'email',
      recipient: RECIPIENT,
      category: 'offers',
      subject: 'Less for more',
      body: 'Today only.',
    },
    until: 'skipped',
  },
  {
    message: { channel: 'push', recipient: RECIPIENT, category: 'offers', body: 'Less for more.' },
    until: 'sent',
  },
  {
    // Required: it goes whatever the person prefers.
    message: {
      channel: 'sms',
      recipient: RECIPIENT,
      category: 'security',
      body: 'Was it you who signed in?',
    },
    until: 'delivered',
  },
]

const TWO_HOURS_MS = 2 * 3_600_000

/**
 * Messages of one person that wait: one for the end of quiet hours, and a reminder whose booking moves to tomorrow. Both are
 * explained, and cancelled.
 *
 * @param say prints a line
 */
export async function waiting(notifier: Notifier, say: (what: string, text: string) => void): Promise<void> {
  const { notifications } = notifier
  const in2Hours = new Date(Date.now() + TWO_HOURS_MS)
  const [from, to] = [new Date(Date.now() - TWO_HOURS_MS), in2Hours].map((time) =>
    time.toISOString().slice(11, 16),
  )
  const quietHours = { zone: 'UTC', windows: [{ from: from ?? '', to: to ?? '' }] }
  await notifier.preferences.change({ recipient: RECIPIENT }, { quietHours })
  const news = { channel: 'email', recipient: RECIPIENT, subject: 'News', body: 'Nothing urgent.' } as const
  const quiet = await notifier.send(news)
  const reminder = await notifier.send({ ...news, subject: 'Your table at eight', sendAt: in2Hours })
  const tomorrow = new Date(in2Hours.getTime() + 24 * 3_600_000)
  await notifications.reschedule(reminder.id, { sendAt: tomorrow })
  for (const { id } of [quiet, reminder]) {
    const { decidedBy, gates } = await notifications.explain(id)
    const gate = gates.find((each) => each.gate === decidedBy)
    say(decidedBy ?? '', `${id}: ${gate?.result} until ${gate?.until} ${gate?.message ?? ''}`.trimEnd())
    await notifications.cancel(id)
  }
}

/** The last fact to wait for. `sent`: the provider reports nothing. `skipped`: a preference forbids it. */
export type Until = 'opened' | 'delivered' | 'reported' | 'sent' | 'skipped'
