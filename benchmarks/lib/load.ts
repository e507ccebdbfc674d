import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One request for a load process to repeat. */
export interface Load {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Keep-alive connections with one pending request each. */
  readonly connections: number
  readonly requests: number
}

export interface LoadGenerator {
  /** Posts. Returns the number of 2xx answers; rejects after any other. */
  run(load: Load): Promise<number>
  stop(): void
}

/** Generates load in a separate process, so that the server's process contains only its own work. */
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
