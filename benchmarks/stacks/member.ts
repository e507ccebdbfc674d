import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Servers } from './stack.ts'

/** Commands for a process of a stack. */
export type Ask =
  | { readonly do: 'serve'; readonly key: string | null }
  | { readonly do: 'batch'; readonly count: number }
  /** Answered after this many more deliveries. */
  | { readonly do: 'expect'; readonly count: number }
  | { readonly do: 'work' | 'rest' | 'delivered' | 'cpu' | 'close' }

/** A process of a stack. */
export interface Member {
  ask<Answer>(ask: Ask): Promise<Answer>
  close(): Promise<void>
}

export function startMember(kind: 'carillon' | 'rival', { postgres, redis }: Servers): Member {
  const file = fileURLToPath(new URL('process.ts', import.meta.url))
  const child: ChildProcess = fork(file, [kind, postgres, redis])
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let last = 0
  child.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(value)
    else asked?.reject(new Error(`A process of the ${kind} stack failed: ${error}`))
  })
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`A process of the ${kind} stack has ended.`))
  })
  return {
    ask<Answer>(ask: Ask) {
      last += 1
      const id = last
      return new Promise<Answer>((resolve, reject) => {
        waiting.set(id, { resolve: (value) => resolve(value as Answer), reject })
        child.send({ id, ask })
      })
    },
    async close() {
      const gone = once(child, 'exit')
      child.send({ id: 0, ask: { do: 'close' } })
      await gone
    },
  }
}
