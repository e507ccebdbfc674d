import { type ChildProcess, fork } from 'node:child_process'
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describeMachine, median, record, withFolder } from '../../lib/measure.ts'
import { createClient, type HostileClient } from './client.ts'
import type { ServerCommand, Started } from './server-process.ts'
import type { Measured, VictimCommand, VictimWork } from './victim-process.ts'

/** A tenant with a key of the plan `free` that tries to slow down another one. */
export interface Attack<Prepared> {
  readonly title: string
  /** What the other tenant does meanwhile. Default: sends mails. */
  readonly victim?: VictimWork
  /** How long the attack runs before the first request of the other tenant. Default: 0. */
  readonly leadMs?: number
  /** What takes time only, without the plan's limit on requests. */
  prepare?(world: World): Promise<Prepared>
  /** The attack. It ends by itself, or when `world.isOver()`. */
  run(world: World, prepared: Prepared): Promise<void>
}

export interface World {
  readonly client: HostileClient
  readonly port: number
  /** The file of the storage. */
  readonly file: string
  readonly key: string
  /** True: everything is measured. */
  isOver(): boolean
  /** Adds a line to the report: what the attack does. */
  note(line: string): void
}

const IDLE_MS = 3_000
/** How long the other tenant is measured during the attack: as long as the plan allows a burst of requests. */
const DURING_MS = 10_000

/**
 * Runs an attack against a server in its own process, on SQLite in a file and Express, and prints the median time of
 * another tenant before and during it. The first argument of the program is the folder of the built package, so that
 * other versions can be measured. Default: this repository's `dist`. With `CARILLON_HOSTILE_PROFILE`, a folder, the
 * server writes a profile of its processor time there.
 */
export async function attack<Prepared>(plan: Attack<Prepared>): Promise<void> {
  const dist = resolve(process.argv[2] ?? fileURLToPath(new URL('../../../dist', import.meta.url)))
  await withFolder(async (folder) => {
    const file = join(folder, 'notifications.db')
    const profile = process.env.CARILLON_HOSTILE_PROFILE
    const server = startChild<ServerCommand>(
      'server-process.ts',
      profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile],
    )
    const victim = startChild<VictimCommand>('victim-process.ts')
    try {
      await measure(plan, { dist, file, server, victim })
    } finally {
      await Promise.all([victim.stop(), server.stop()])
    }
  })
}

interface Parts {
  readonly dist: string
  readonly file: string
  readonly server: Child<ServerCommand>
  readonly victim: Child<VictimCommand>
}

async function measure<Prepared>(
  plan: Attack<Prepared>,
  { dist, file, server, victim }: Parts,
): Promise<void> {
  const { title, victim: work = 'send' } = plan
  const {
    port,
    attacker,
    victim: other,
  } = await server.ask<Started>({
    do: 'start',
    settings: { dist, file },
  })
  const client = createClient(port, attacker.key)
  const notes: string[] = []
  let isOver = false
  const world: World = {
    client,
    port,
    file,
    key: attacker.key,
    isOver: () => isOver,
    note: (line) => notes.push(line),
  }
  const prepared = (await plan.prepare?.(world)) as Prepared
  await server.ask({ do: 'plan', organizationId: attacker.organizationId, plan: 'free' })
  client.forget()
  await delay(1_000)
  const begin: VictimCommand = { do: 'begin', settings: { port, key: other.key, work } }
  await victim.ask(begin)
  await delay(IDLE_MS)
  const idle = await victim.ask<Measured>({ do: 'end' })
  const before = storedBytes(file)
  await server.ask({ do: 'forget-stalls' })
  const began = performance.now()
  const running = plan.run(world, prepared)
  await Promise.race([running, delay(plan.leadMs ?? 0)])
  await victim.ask(begin)
  let tookMs = Number.NaN
  running.then(
    () => (tookMs = performance.now() - began),
    () => {},
  )
  await delay(DURING_MS)
  // The attack goes on until the last request is answered.
  const during = await victim.ask<Measured>({ do: 'end' })
  isOver = true
  await Promise.race([running, delay(DURING_MS)])
  const stallMs = await server.ask<number>({ do: 'stall' })
  const grown = storedBytes(file) - before
  client.close()
  print({ title, work, idle, during, stallMs, grown, tookMs, client, notes })
}

interface Result {
  readonly title: string
  readonly work: VictimWork
  readonly idle: Measured
  readonly during: Measured
  readonly stallMs: number
  readonly grown: number
  readonly tookMs: number
  readonly client: HostileClient
  readonly notes: readonly string[]
}

function print(result: Result): void {
  const { title, work, idle, during, client, notes } = result
  const calm = median(idle.ms)
  const harmed = median(during.ms)
  const ratio = harmed / calm
  const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
  console.log(describeMachine())
  console.log(`\n${title}`)
  for (const line of notes) console.log(`  ${line}`)
  console.log(`  requests of the attack: ${client.summary()}`)
  console.log(
    `  it took ${Number.isNaN(result.tookMs) ? 'more time than was measured' : ms(result.tookMs)}, stored ${(result.grown / 1e6).toFixed(1)} MB`,
  )
  console.log(`  longest stall of the event loop: ${ms(result.stallMs)}`)
  console.log(
    `  another tenant's ${work}, p50: ${ms(calm)} idle, ${ms(harmed)} during the attack, ` +
      `${ratio.toFixed(1)} times (${during.failed} of ${during.ms.length} failed; p95 ${ms(at(idle.ms, 0.95))} and ${ms(at(during.ms, 0.95))})`,
  )
  record({ title, name: `${work} under attack`, value: harmed, unit: 'ms (p50)', floor: 'idle', ratio })
}

function at(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN
}

/** The files of the storage. */
function storedBytes(file: string): number {
  return ['', '-wal'].reduce(
    (sum, suffix) => sum + (statSync(`${file}${suffix}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

interface Child<Command> {
  ask<Answer>(command: Command): Promise<Answer>
  stop(): Promise<void>
}

function startChild<Command>(program: string, execArgv: readonly string[] = []): Child<Command> {
  const child: ChildProcess = fork(fileURLToPath(new URL(program, import.meta.url)), {
    execArgv: [...execArgv],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const waiting = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>()
  let asked = 0
  child.on('message', ({ id, answer, error }: { id: number; answer?: never; error?: string }) => {
    if (error === undefined) waiting.get(id)?.resolve(answer as never)
    else waiting.get(id)?.reject(new Error(error))
    waiting.delete(id)
  })
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`${program} has ended.`))
  })
  return {
    ask<Answer>(command: Command) {
      asked += 1
      const id = asked
      return new Promise<Answer>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.send({ id, command } as never)
      })
    },
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
