import type { Notifier } from 'carillon'
import configured from '@/carillon.config'

declare global {
  var notifierOfThisProcess: Promise<Notifier> | undefined
}

/** The running notifier, for route handlers, server actions and `instrumentation.ts`. */
export function runningNotifier(): Promise<Notifier> {
  globalThis.notifierOfThisProcess ??= start().catch((error) => {
    globalThis.notifierOfThisProcess = undefined // so that the next call tries again
    throw error
  })
  return globalThis.notifierOfThisProcess
}

async function start(): Promise<Notifier> {
  const notifier = configured()
  await notifier.start()
  if (process.env.NEXT_MANUAL_SIG_HANDLE) {
    for (const signal of ['SIGTERM', 'SIGINT'])
      process.once(signal, () => notifier.stop().finally(() => process.exit()))
  }
  return notifier
}
