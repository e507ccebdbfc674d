import { safely } from '../loop/safely.ts'
import type { LogFields, Logger } from '../ports/logger.ts'
import { type RedactOptions, redactFields, redactText } from './redact.ts'

type Level = keyof Logger
type FieldsFirst = (fields: object, message: string) => unknown

/**
 * Redacts all arguments of the application's logger and ignores its errors: a failed log line never stops a delivery.
 *
 * pino, Fastify's log and bunyan take the fields first; they are recognized by methods that other loggers lack.
 */
export function redactingLogger(logger: Logger, options: RedactOptions): Logger {
  const fieldsFirst = takesFieldsFirst(logger)

  function write(level: Level, message: string, fields: LogFields | undefined): void {
    const put = (): unknown => {
      const text = redactText(message, options)
      const context = fields === undefined ? undefined : redactFields(fields, options)
      if (fieldsFirst) return (logger[level] as unknown as FieldsFirst).call(logger, context ?? {}, text)
      return context === undefined ? logger[level](text) : logger[level](text, context)
    }
    // There is nowhere else to report it.
    safely(put, () => {})
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
