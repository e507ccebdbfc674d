import { smtp } from '../../adapters/channels/smtp/send.ts'
import { type ReceivedMail, startMailServer } from './mail-server.ts'
import { type Host, type HostOptions, startHost } from './rest-host.ts'

/** A host whose mails leave over SMTP, to a server of its own. */
export interface MailingHost extends Host {
  readonly inbox: readonly ReceivedMail[]
}

export async function startMailingHost(options: HostOptions): Promise<MailingHost> {
  const mails = await startMailServer()
  const channel = smtp({
    host: '127.0.0.1',
    port: mails.port,
    from: 'no-reply@example.org',
    senders: ['example.org'],
  })
  const host = await startHost({ channel, ...options })
  return {
    ...host,
    inbox: mails.inbox,
    async close() {
      await host.close()
      await mails.close()
    },
  }
}
