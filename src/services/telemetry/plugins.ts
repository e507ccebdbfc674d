import type { Clock } from '../../ports/clock.ts'
import type { Telemetry, TelemetrySource } from '../../ports/telemetry.ts'
import { faultsOf } from '../faults-of.ts'
import { inTime, OPEN_MS } from '../within.ts'

/** The plug-ins' beginning and end. */
export interface Plugins {
  /** Starts those that have not been; a start that failed is tried again by the next. */
  start(): Promise<void>
  /** Stops those that were started; a fault of one keeps no other running. */
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
          // Also one that came too late for its start is stopped.
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
