import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import type { Held, SoakOptions } from '../programs/soak.ts'

const directory = temporaryDirectory()
const seconds = Number(process.env.CARILLON_SOAK_SECONDS ?? 0)

/** Of one phase: so small that a few bytes for each notification show, when the phases are long. */
const COUNT = seconds > 0 ? 2_000 : 300
/** The first ones fill caches and let the runtime compile; of the others none may hold more than the one before. */
const WARM = 2
const PHASES = WARM + Math.max(3, Math.ceil(seconds / 10))
/** What the runtime itself moves by from one phase to the next. */
const NOISE_BYTES = 400_000

it(
  'a process that works on and on holds the same memory, sockets, timers and files',
  async () => {
    const options: SoakOptions = { database: join(directory, 'soak.db'), phases: PHASES, count: COUNT }
    const program = runProgram('soak', options, ['--expose-gc'])
    expect(await program.ended, program.errors.join('\n')).toBe(0)
    const phases = program.lines
      .filter((line) => line.startsWith('phase '))
      .map((line): Held => JSON.parse(line.slice('phase '.length)))
    expect(phases.length).toBe(PHASES)
    const warm = phases.slice(WARM)
    const [first, last] = [warm[0], warm.at(-1)]
    if (first === undefined || last === undefined) throw new Error('no phases')
    const shown = JSON.stringify(phases)
    const done = (warm.length - 1) * COUNT
    expect(last.delivered - first.delivered, shown).toBeGreaterThanOrEqual(done)
    expect(last.posted - first.posted, shown).toBeGreaterThanOrEqual(2 * done)
    // A connection that was idle for long is closed, and opened again: before the last phase there were as many once.
    const before = phases.slice(0, -1)
    expect(last.resources, shown).toBeLessThanOrEqual(Math.max(...before.map(({ resources }) => resources)))
    expect(last.descriptors, shown).toBeLessThanOrEqual(
      Math.max(...before.map(({ descriptors }) => descriptors)),
    )
    expect(last.heap - first.heap, shown).toBeLessThan(NOISE_BYTES)
    expect(last.external - first.external, shown).toBeLessThan(NOISE_BYTES)
  },
  120_000 + seconds * 10_000,
)
