import type { Reporting } from '../../service.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from './observer.ts'

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
