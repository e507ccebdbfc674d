/** Where Carillon reports what an operator should know. Never receives a secret or a message's content. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Context of a log line; `error` may hold an Error. */
export type LogFields = Readonly<Record<string, unknown>>
