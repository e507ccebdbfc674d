import { parseArgs } from 'node:util'

export interface Settings {
  /** Duration of the kills under load. */
  readonly seconds: number
  /** Requests per second. Every twentieth is a batch of twenty. */
  readonly rate: number
  /** True: kill PostgreSQL and Redis too. */
  readonly servers: boolean
  /** Determines the victims and the moments. */
  readonly seed: number
  /** True: show the processes' output. */
  readonly verbose: boolean
}

const USAGE = `npm run example:production -- [options]

  --seconds <n>   how long processes are killed under load (default 30)
  --rate <n>      requests per second (default 100)
  --servers       also kill PostgreSQL and Redis
  --seed <n>      repeat the kills of an earlier run
  --verbose       show what the processes print`

/** @throws Error with the usage */
export function readSettings(args: readonly string[]): Settings {
  try {
    return settingsIn(args)
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function settingsIn(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '30' },
      rate: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      servers: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  })
  return {
    seconds: wholeNumber('seconds', values.seconds),
    rate: wholeNumber('rate', values.rate),
    seed: wholeNumber('seed', values.seed),
    servers: values.servers,
    verbose: values.verbose,
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (/^\d{1,9}$/.test(text) && (value > 0 || name === 'seed')) return value
  throw new Error(`--${name} must be a whole number above 0; it is ${JSON.stringify(text)}.`)
}
