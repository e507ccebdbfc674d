import { redactText } from '../core/observe/redact.ts'
import type { Logger } from '../core/ports/logger.ts'

const MASKED = { showRecipients: false }

/** Unexpected failures must be visible without a configured logger; an outage must not flood the output. */
export const processWarnings: Pick<Logger, 'warn' | 'error'> = {
  warn: () => {},
  error(message, fields = {}) {
    const { error, ...context } = fields
    process.emitWarning(`${message} ${JSON.stringify(context)}`, {
      type: 'CarillonHttpWarning',
      detail: redactText(error instanceof Error ? (error.stack ?? error.message) : String(error), MASKED),
    })
  },
}
