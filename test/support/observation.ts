import type { ProcessEvent, ProcessListeners } from '../../src/core/notification/process-event.ts'
import { createObserver, type Observer } from '../../src/core/observe/observer.ts'
import type { TelemetryFact } from '../../src/core/observe/telemetry.ts'

/** Keeps what is recorded and told. */
export function observation(): {
  readonly observer: Observer
  readonly listeners: ProcessListeners
  readonly facts: TelemetryFact[]
  readonly told: ProcessEvent[]
} {
  const facts: TelemetryFact[] = []
  const told: ProcessEvent[] = []
  const observer = createObserver(
    (fact) => facts.push(fact),
    [],
    () => {},
  )
  return { observer, listeners: { wants: () => true, tell: (event) => told.push(event) }, facts, told }
}
