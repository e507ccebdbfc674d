/**
 * Where Carillon reports what an operator should know; pino and the console fit as they are, and `redactingLogger` puts
 * everything that is handed over through one redaction before. What a logger throws is ignored.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Context of a log line; `error` may hold an Error. */
export type LogFields = Readonly<Record<string, unknown>>
