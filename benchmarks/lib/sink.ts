import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A receiver in a separate process, so that the sender's process contains only its own work. */
export interface Sink {
  readonly port: number
  /** Resolves when `count` more messages have arrived. Call it before they are sent. */
  expect(count: number): Promise<void>
  stop(): void
}

export async function startSink(protocol: 'http' | 'smtp'): Promise<Sink> {
  const child = fork(fileURLToPath(new URL(`${protocol}-sink-process.ts`, import.meta.url)))
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    async expect(count) {
      const complete = once(child, 'message')
      child.send(count)
      await complete
    },
    stop: () => void child.kill(),
  }
}
