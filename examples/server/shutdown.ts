import { constants } from 'node:os'
import { explain, say } from './print.ts'

/** Signals within this time count once: a terminal sends Ctrl-C to npm and to this process, and npm forwards it. */
const SAME_SIGNAL_MS = 1_000

export interface Closers {
  /** Adds a function to run at the end, last first. */
  push(close: () => Promise<void>): void
  /** Ends the process after an error: one message, exit code 1. */
  fail(error: unknown): Promise<void>
}

/** On SIGINT or SIGTERM closes everything in turn and exits with 0. A second signal exits at once. */
export function closeOnSignals(): Closers {
  const closers: (() => Promise<void>)[] = []
  let stoppedAt: number | undefined

  async function end(code: number): Promise<never> {
    for (const close of closers.reverse()) await close().catch((error) => console.error(explain(error)))
    if (code === 0) say('Stopped', 'everything accepted is stored')
    process.exit(code)
  }

  function stop(signal: 'SIGINT' | 'SIGTERM'): void {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now()
      console.log('')
      say('Stopping', `running deliveries have up to 10 s; ${signal} again exits at once`)
      void end(0)
    } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) {
      say('Ended', 'at once; running deliveries continue after the next start')
      process.exit(128 + constants.signals[signal])
    }
  }

  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return {
    push(close) {
      closers.push(close)
    },
    fail(error) {
      // A stop during the start makes the start fail, and is already running.
      if (stoppedAt !== undefined) return Promise.resolve()
      stoppedAt = performance.now()
      console.error(explain(error))
      return end(1)
    },
  }
}
