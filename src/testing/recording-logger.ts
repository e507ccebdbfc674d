import type { LogFields, Logger } from '../core/ports/logger.ts'

/**
 * A logger that records all arguments, errors with stacks and causes.
 *
 * @example
 * const { logger, lines } = recordingLogger()
 * const notifier = createNotifier({ channels: { email: provider }, logger })
 * console.log(lines().filter((line) => line.includes('notif_1234')))
 */
export function recordingLogger(): { readonly logger: Logger; lines(): readonly string[] } {
  const lines: string[] = []
  const log = (message: string, fields: LogFields = {}): void => {
    lines.push(`${message} ${JSON.stringify(fields, spellOut)}`)
  }
  return { logger: { debug: log, info: log, warn: log, error: log }, lines: () => lines }
}

function spellOut(_key: string, value: unknown): unknown {
  return value instanceof Error ? { ...value, stack: value.stack, cause: value.cause } : value
}
