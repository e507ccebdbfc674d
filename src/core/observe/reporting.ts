import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from './observer.ts'

/** Logs and metrics of an HTTP adapter. */
export interface Reporting {
  /** The application's logger with redaction. Null: none. */
  readonly logger: Logger | null
  /**
   * Counts an answered request of the REST API.
   *
   * @returns call it once, with the operation of the route or `unknown`, and the status
   */
  requestBegan(): (route: string, status: number) => void
}

/** @param logger null: the application has none */
export function createReporting(logger: Logger | null, observer: Observer, clock: Clock): Reporting {
  return {
    logger,
    requestBegan() {
      const began = clock.monotonic()
      return (route, status) =>
        observer.record({ type: 'request', route, status, durationMs: clock.monotonic() - began })
    },
  }
}
