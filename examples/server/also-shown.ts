import type { EmailKind, Provider } from 'carillon'
import type { DevMailbox } from 'carillon/dev-mailbox'

/** The provider, whose mails the mailbox shows once they are sent. */
export function alsoShown(provider: Provider<EmailKind>, { channels }: DevMailbox): Provider<EmailKind> {
  return {
    ...provider,
    async send(message, context) {
      const outcome = await provider.send(message, context)
      if (outcome.kind === 'accepted') await channels.email.send(message, context)
      return outcome
    },
  }
}
