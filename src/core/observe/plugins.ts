import { inTime, OPEN_MS } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { Telemetry, TelemetrySource } from '../ports/telemetry.ts'
import { faultsOf } from './faults-of.ts'

/** Starts and stops the telemetry plug-ins. */
export interface Plugins {
  /** Starts those that are not started; the next call repeats a failed start. */
  start(): Promise<void>
  /** Stops the started ones, even if one fails. */
  stop(): Promise<void>
}

export function createPlugins(
  plugins: readonly Telemetry[],
  source: TelemetrySource,
  clock: Clock,
  onError: (error: unknown) => void,
): Plugins {
  const started = new Set<Telemetry>()
  return {
    async start() {
      for (const plugin of plugins) {
        if (started.has(plugin)) continue
        const start = async (): Promise<void> => {
          await plugin.start?.(source)
          // One that started too late is stopped, too.
          started.add(plugin)
        }
        await inTime(`telemetry plug-in "${plugin.name}"`, start, OPEN_MS, clock)
      }
    },
    async stop() {
      const stopping = [...started].map(async (plugin) => {
        try {
          await plugin.stop?.()
        } catch (error) {
          faultsOf(`telemetry plug-in "${plugin.name}"`, onError)(error)
        }
      })
      started.clear()
      await Promise.all(stopping)
    },
  }
}
