import { parseArgs } from 'node:util'
import { didYouMean } from './did-you-mean.ts'
import { usage } from './exit.ts'

export interface Flag {
  readonly about: string
  /** Placeholder of its value. Absent: the flag has none. */
  readonly value?: string
  /** True: may be given several times. */
  readonly many?: true
  /** True: `--flag.name value` sets one property. */
  readonly object?: true
  readonly required?: boolean
}

/** Flags by their names in kebab case. */
export type Flags = Readonly<Record<string, Flag>>

export interface Argument {
  readonly name: string
  readonly about: string
  readonly required?: boolean
  /** True: takes all that follow. */
  readonly many?: true
}

export interface Parsed {
  readonly positionals: readonly string[]
  /** Text of a flag. Undefined: not given. */
  text(name: string): string | undefined
  /** Texts of a flag that may be repeated. */
  texts(name: string): readonly string[]
  /** False also if not given. */
  on(name: string): boolean
  /** What was given, in order. `path` are the properties in `--flag.name`. */
  readonly given: readonly Given[]
}

export interface Given {
  readonly name: string
  readonly path: readonly string[]
  readonly value: string | boolean
}

const SECRETS = /^(?:key|api-key|apikey|secret|password|token|operator-key)$/

/** `templateId` and `template-id` are one flag. */
export function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
}

/** @throws Exit `usage` */
export function parse(argv: readonly string[], flags: Flags, takes: readonly Argument[]): Parsed {
  const args = withKebabNames(argv)
  const options = Object.fromEntries(
    args.flatMap((arg) => {
      const name = /^--([a-z][\w-]*)/.exec(arg)?.[1] ?? ''
      const whole = /^--([a-z][^=]*)/.exec(arg)?.[1] ?? ''
      const flag = flags[name]
      return flag === undefined
        ? []
        : [[whole, { type: flag.value === undefined ? 'boolean' : 'string' }] as const]
    }),
  )
  const { tokens } = parseArgs({
    args,
    options: { ...options, h: { type: 'boolean' } },
    strict: false,
    tokens: true,
  })
  const given: Given[] = []
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind === 'option') given.push(givenOf(token, flags))
  }
  assertOnce(given, flags)
  assertCount(positionals, takes)
  const of = (name: string) => given.filter((each) => each.name === name).map(({ value }) => value)
  return {
    positionals,
    given,
    text: (name) => of(name).at(-1)?.toString(),
    texts: (name) => of(name).map(String),
    on: (name) => of(name).at(-1) === true,
  }
}

function withKebabNames(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.map((arg, at) => {
    if (end !== -1 && at >= end) return arg
    return arg.replace(/^--[A-Za-z][\w-]*/, (name) => `--${kebab(name.slice(2))}`)
  })
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function givenOf({ name: whole, rawName, value, inlineValue }: OptionToken, flags: Flags): Given {
  const [name = '', ...path] = whole === 'h' ? ['help'] : whole.split('.')
  const flag = flags[name]
  const turnedOff = flags[name.replace(/^no-/, '')]
  if (flag === undefined && turnedOff !== undefined && turnedOff.value === undefined)
    return { name: name.replace(/^no-/, ''), path, value: false }
  if (flag === undefined) throw unknownFlag(name, rawName, flags)
  if (path.length > 0 && flag.object !== true)
    throw usage(`--${name} is no object, so that "${rawName}" sets nothing.`)
  if (flag.value === undefined) {
    if (value !== undefined && value !== 'true' && value !== 'false')
      throw usage(`--${name} is on or off: give "--${name}" or "--no-${name}".`)
    return { name, path, value: value !== 'false' }
  }
  if (value === undefined) throw usage(`--${name} needs a value: --${name} <${flag.value}>.`)
  if (inlineValue !== true && /^-./.test(value) && !/^-\d/.test(value))
    throw usage(`--${name} needs a value. Write "--${name}=${value}" if it is "${value}".`)
  return { name, path, value }
}

function unknownFlag(name: string, rawName: string, flags: Flags) {
  if (SECRETS.test(name)) {
    return usage(
      `There is no flag "--${name}": other users of this machine see arguments, and shells store them. ` +
        'Put the key of a remote service in the environment variable CARILLON_API_KEY.',
    )
  }
  return usage(`There is no flag "${rawName}" here.${didYouMean(name, Object.keys(flags), '--')}`)
}

function assertOnce(given: readonly Given[], flags: Flags): void {
  const seen = new Set<string>()
  for (const { name, path } of given) {
    const whole = [name, ...path].join('.')
    if (seen.has(whole) && flags[name]?.many !== true && flags[name]?.value !== undefined)
      throw usage(`--${whole} is given twice.`)
    seen.add(whole)
  }
}

function assertCount(positionals: readonly string[], takes: readonly Argument[]): void {
  if (positionals.length <= takes.length || takes.at(-1)?.many === true) return
  const [extra] = positionals.slice(takes.length)
  throw usage(`"${extra}" is one argument too many.`)
}
