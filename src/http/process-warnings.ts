import type { Logger } from '../ports/logger.ts'
import { redactText } from '../services/logging/redact.ts'

const MASKED = { showRecipients: false }

/** An unexpected failure must be visible somewhere, also when nobody configured a logger; an outage is elsewhere. */
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
