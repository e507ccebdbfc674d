import type { Tenant } from 'carillon'
import { say } from './print.ts'

/** Sends messages that the mail server refuses, each for another reason, for the failures on the dashboard. */
export async function sendFailures({ send }: Tenant): Promise<void> {
  const recipients = ['bounce-1', 'bounce-2', 'full', 'spam'].map((name) => `${name}@example.com`)
  for (const to of recipients)
    await send({ channel: 'email', to, template: 'welcome', variables: { name: 'Bob' } })
  say('Failing', `${recipients.length} e-mails that the mail server refuses, to look at on the dashboard`)
}
