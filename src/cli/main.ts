import { VERSION } from '../core/lifecycle/version.ts'
import { CONFIG, type Command, GENERAL, SERVICE } from './command.ts'
import { COMMANDS } from './commands.ts'
import { didYouMean } from './did-you-mean.ts'
import { EXIT, type ExitCode, failureOf, seePage, usage } from './exit.ts'
import { parse } from './flags.ts'
import { helpOf, rows } from './help.ts'
import { note, print, styled, type Terminal } from './terminal.ts'

/** Runs one command line, and returns its exit code. */
export async function main(terminal: Terminal, argv: readonly string[]): Promise<ExitCode> {
  const { signal } = terminal
  try {
    const code = await run(terminal, argv)
    return signal.aborted ? codeOf(signal) : (code ?? EXIT.done)
  } catch (error) {
    if (signal.aborted) return codeOf(signal)
    const { code, message, errorCode } = failureOf(error)
    const see = errorCode === undefined ? '' : await seePage(errorCode)
    note(terminal, `${styled('red', 'carillon:', terminal.stderr)} ${message}${see}`)
    return code
  }
}

/** A reader that leaves has what it wants. */
function codeOf({ reason }: AbortSignal): ExitCode {
  return reason === 'SIGINT' ? EXIT.interrupted : EXIT.done
}

async function run(terminal: Terminal, argv: readonly string[]): Promise<ExitCode | undefined> {
  const [first] = argv
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    await print(terminal, overview(terminal))
    return first === undefined ? EXIT.usage : undefined
  }
  if (first === '--version' || first === '-v') return print(terminal, VERSION).then(() => undefined)
  const [command, rest] = find(argv)
  if ('open' in command) return (await command.open())(terminal, rest)
  const service = { service: SERVICE, notifier: CONFIG, nothing: {} }[command.needs]
  if (rest.includes('--help') || rest.includes('-h')) {
    const groups = [
      ['Flags', command.flags ?? {}],
      ['Service', service],
      ['General', GENERAL],
    ] as const
    await print(terminal, helpOf({ ...command, groups }, terminal.stdout))
    return
  }
  const flags = parse(rest, { ...command.flags, ...service, ...GENERAL }, command.arguments ?? [])
  const missing = (command.arguments ?? [])[flags.positionals.length]
  if (missing !== undefined && missing.required !== false)
    throw usage(`<${missing.name}> is missing: carillon ${command.name} <${missing.name}>.`)
  return (await command.load())({ terminal, flags })
}

/** The command with the most words that the arguments begin with. */
function find(argv: readonly string[]): [Command, readonly string[]] {
  for (const words of [2, 1]) {
    const command = COMMANDS.find(({ name }) => name === argv.slice(0, words).join(' '))
    if (command !== undefined) return [command, argv.slice(words)]
  }
  const [first = '', second = ''] = argv
  const within = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  if (within.length > 0 && (second === '' || second.startsWith('-')))
    throw usage(
      `"carillon ${first}" needs one of ${within.map((name) => name.slice(first.length + 1)).join(', ')}.`,
    )
  const typed = within.length > 0 ? `${first} ${second}` : first
  const names = within.length > 0 ? within : COMMANDS.flatMap(({ name }) => [name, name.split(' ')[0] ?? ''])
  throw usage(`There is no command "${typed}".${didYouMean(typed, names)} "carillon --help" lists them.`)
}

function overview({ stdout }: Terminal): string {
  return [
    'Operates Carillon: a notifier in this folder, or a service elsewhere.',
    '',
    `${styled('bold', 'Usage:', stdout)} carillon <command> [flags]`,
    '',
    styled('bold', 'Commands:', stdout),
    ...rows(COMMANDS.map(({ name, about }) => [name, about])),
    '',
    '"carillon <command> --help" shows the flags of one. docs/reference/command-line.md explains exit codes.',
  ].join('\n')
}
