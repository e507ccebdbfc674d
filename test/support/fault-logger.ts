import type { LogFields, Logger } from '../../src/core/ports/logger.ts'

/** Keeps the fields of errors, and of nothing else. */
export function faultLogger(faults: unknown[]): Logger {
  const ignore = (): void => {}
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_message, fields?: LogFields) => faults.push(fields),
  }
}
