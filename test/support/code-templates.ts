import type { NotifierOptions } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { notifierWorld } from './notifier-world.ts'

/** The address of the messages that {@link withTemplates} sends. */
export const TO = 'ada@example.com'

/** A notifier with templates in code, and the mails that it sends. */
export async function withTemplates(
  templates: NotifierOptions['templates'],
  options: Partial<NotifierOptions> = {},
) {
  const world = notifierWorld()
  const email = recordingProvider()
  const notifier = await world.start({ channels: { email, sms: recordingProvider() }, templates, ...options })
  async function sent(id: string) {
    await world.ended(notifier, id)
    return email.messages.at(-1)
  }
  return { world, notifier, email, sent }
}
