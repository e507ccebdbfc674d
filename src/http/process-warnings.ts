import type { Logger } from '../ports/logger.ts'

/** An unexpected failure must be visible somewhere, also when nobody configured a logger; an outage is elsewhere. */
export const processWarnings: Pick<Logger, 'warn' | 'error'> = {
  warn: () => {},
  error(message, fields = {}) {
    const { error, ...context } = fields
    process.emitWarning(`${message} ${JSON.stringify(context)}`, {
      type: 'CarillonHttpWarning',
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  },
}
