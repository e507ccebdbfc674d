import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What receives, in a process of its own, so that only the sender's work is in the sender's process. */
export interface Sink {
  readonly port: number
  /** Resolves when `count` more messages have been taken. To be called before they are sent. */
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
