import type { ExitCode } from './exit.ts'
import type { Argument, Flags, Parsed } from './flags.ts'
import type { Terminal } from './terminal.ts'

interface Described {
  /** One word or two. */
  readonly name: string
  readonly about: string
  readonly arguments?: readonly Argument[]
  readonly examples: readonly string[]
}

/** One command as data: dispatch, help and documentation read the same table. */
export type Command = ClosedCommand | OpenCommand

interface ClosedCommand extends Described {
  readonly flags?: Flags
  /** `service`: a notifier here or a service elsewhere. `notifier`: only one here. `nothing`: neither. */
  readonly needs: 'service' | 'notifier' | 'nothing'
  /** Loaded when the command runs. */
  readonly load: () => Promise<Run>
}

/** Its flags depend on its arguments. */
interface OpenCommand extends Described {
  readonly open: () => Promise<(terminal: Terminal, argv: readonly string[]) => Promise<ExitCode | undefined>>
}

/** Undefined: done. */
export type Run = (call: Call) => Promise<ExitCode | undefined>

export interface Call {
  readonly terminal: Terminal
  readonly flags: Parsed
}

export const CONFIG: Flags = {
  config: { value: 'file', about: 'Configuration. Default: carillon.config.{ts,mts,js,mjs}, here or above.' },
}
export const SERVICE: Flags = {
  ...CONFIG,
  url: { value: 'url', about: 'A service elsewhere; its key is in CARILLON_API_KEY.' },
  organization: {
    value: 'id',
    about: 'The organization. Default: that of the key, or org_default; "*": all.',
  },
}
export const GENERAL: Flags = {
  json: { about: 'Print JSON as the REST API answers it, one object a line.' },
  help: { about: 'Show this help.' },
}

/** Of commands that ask first. */
export const YES: Flags = { yes: { about: 'Do not ask.' } }
