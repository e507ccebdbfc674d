import { type Coalesced, coalesce } from '../../../src/core/loop/coalesce.ts'
import type { LimitCheck } from '../../../src/core/ports/rate-limiter.ts'
import type { Connection } from './connection.ts'
import { redisKey, tagOf } from './keys.ts'

/** One operation. The operations of one turn of the event loop share a run; see run-script.ts. */
export interface Call {
  readonly verb: 'consume' | 'peek' | 'refund' | 'pause' | 'renew' | 'release'
  readonly keys: readonly CallKey[]
  /** Identifies calls with the same verb, keys and values. */
  readonly name: string
  readonly tokens: readonly string[]
  values(): readonly string[]
}

export type CallKey = Pick<LimitCheck, 'kind' | 'key'>

/** Result of a call. */
export type Result = Reply | { readonly error: unknown }

/** The words of a reply to equal calls, and the position of this call among them. */
export interface Reply {
  readonly words: readonly string[]
  readonly index: number
  readonly count: number
}

export interface CallsServices {
  readonly connection: Connection
  readonly prefix: string
  /** True: keys with different tags can lie on different nodes. */
  isCluster(): boolean
  /** Milliseconds. Empty: the server's clock. */
  time(): string
}

/** Redis is blocked while a script runs. */
const MOST_IN_RUN = 256

export function createCalls({ connection, prefix, isCluster, time }: CallsServices): Coalesced<Call, Result> {
  /** Returns the results at the indexes of their calls. */
  async function run(sets: readonly Alike[]): Promise<Result[]> {
    const keys = sets.flatMap(({ first }) => first.keys.map(({ kind, key }) => redisKey(prefix, kind, key)))
    const args = sets.flatMap(({ first, positions, tokens }) => {
      const values = [...first.values(), ...tokens]
      return [
        first.verb,
        String(first.keys.length),
        String(positions.length),
        String(values.length),
        ...values,
      ]
    })
    const outcome = await connection.run(keys, [time(), ...args]).then(
      (replies) => ({ replies: replies as readonly string[] }),
      (error: unknown) => ({ error }),
    )
    const results: Result[] = []
    for (const [set, { positions }] of sets.entries()) {
      if ('error' in outcome) for (const position of positions) results[position] = outcome
      else share(outcome.replies[set] ?? '! no reply', positions, results)
    }
    return results
  }

  // Each call awaits only its own run: a server that hangs delays neither other runs nor later calls.
  const begin = coalesce<Call, { readonly results: Promise<Result[]>; readonly position: number }>(
    async (calls) => {
      const begun: { results: Promise<Result[]>; position: number }[] = []
      for (const sets of runsOf(alike(calls), isCluster())) {
        const results = run(sets)
        for (const position of sets.flatMap(({ positions }) => positions))
          begun[position] = { results, position }
      }
      return begun
    },
    { maxWeight: MOST_IN_RUN },
  )

  return async function ask(call) {
    const { results, position } = await begin(call)
    return (await results)[position] as Result
  }
}

/** Calls with one name. */
interface Alike {
  readonly first: Call
  /** Their indexes among all calls. */
  readonly positions: number[]
  readonly tokens: string[]
}

function alike(calls: readonly Call[]): Alike[] {
  const sets = new Map<string, Alike>()
  for (const [position, call] of calls.entries()) {
    const name = `${call.verb} ${call.name}`
    let set = sets.get(name)
    if (set === undefined) {
      set = { first: call, positions: [], tokens: [] }
      sets.set(name, set)
    }
    set.positions.push(position)
    set.tokens.push(...call.tokens)
  }
  return [...sets.values()].sort((left, right) => orderOf(left) - orderOf(right))
}

/** Releases and pauses run before decisions of the same turn. */
function orderOf({ first: { verb } }: Alike): number {
  return verb === 'consume' || verb === 'peek' ? 1 : 0
}

/** Groups the sets that one node can run. */
function runsOf(sets: readonly Alike[], isCluster: boolean): readonly (readonly Alike[])[] {
  if (!isCluster) return [sets]
  const runs = new Map<string, Alike[]>()
  for (const set of sets) {
    const tag = tagOf(set.first.keys[0]?.key ?? '')
    const run = runs.get(tag)
    if (run === undefined) runs.set(tag, [set])
    else run.push(set)
  }
  return [...runs.values()]
}

function share(reply: string, positions: readonly number[], results: Result[]): void {
  if (reply.startsWith('!')) {
    const error = new Error(reply.slice(1).trim())
    for (const position of positions) results[position] = { error }
    return
  }
  const words = reply.split(' ')
  for (const [index, position] of positions.entries())
    results[position] = { words, index, count: positions.length }
}
