import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What a load process is told: one request, sent over and over. */
export interface Load {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Keep-alive connections, each with one request under way. */
  readonly connections: number
  readonly requests: number
}

export interface LoadGenerator {
  /** Posts; gives how many were answered with 2xx, and rejects when any was not. */
  run(load: Load): Promise<number>
  stop(): void
}

/** Load from a process of its own, so that only the server's work is in the server's process. */
export function startLoad(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)))
  return {
    async run(load) {
      const answer = once(child, 'message')
      child.send(load)
      const [result] = (await answer) as [{ answered: number; fault: string | null }]
      if (result.fault !== null) throw new Error(`The load failed: ${result.fault}`)
      return result.answered
    },
    stop: () => child.disconnect(),
  }
}
