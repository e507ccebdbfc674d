/**
 * Receives log lines for operators. The console and pino fit; `redactingLogger` redacts all arguments first. Exceptions
 * of a logger are ignored.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Context of a log line. `error` may hold an Error. */
export type LogFields = Readonly<Record<string, unknown>>
