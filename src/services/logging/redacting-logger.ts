import type { LogFields, Logger } from '../../ports/logger.ts'
import { type RedactOptions, redactFields, redactText } from './redact.ts'

type Level = keyof Logger

/**
 * Puts everything through one redaction before it reaches the application's logger, whose faults it swallows: a log that
 * cannot be written never stops a delivery.
 *
 * pino, Fastify's log and bunyan take the fields first; they are known by methods that others do not have.
 */
export function redactingLogger(logger: Logger, options: RedactOptions): Logger {
  const fieldsFirst = takesFieldsFirst(logger)

  function write(level: Level, message: string, fields: LogFields | undefined): void {
    try {
      const text = redactText(message, options)
      const context = fields === undefined ? undefined : redactFields(fields, options)
      const result: unknown = fieldsFirst
        ? (logger[level] as unknown as (fields: object, message: string) => unknown).call(
            logger,
            context ?? {},
            text,
          )
        : context === undefined
          ? (logger[level](text) as unknown)
          : (logger[level](text, context) as unknown)
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // There is nowhere left to report it.
    }
  }

  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  }
}

function takesFieldsFirst(logger: Logger): boolean {
  const known = logger as unknown as Readonly<Record<string, unknown>>
  return typeof known.bindings === 'function' || typeof known.addSerializers === 'function'
}
