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

/** The last fact to wait for. `sent`: the provider reports nothing. `skipped`: a preference forbids it. */
export type Until = 'opened' | 'delivered' | 'reported' | 'sent' | 'skipped'
