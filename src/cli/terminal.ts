import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'
import { Exit, usage } from './exit.ts'

/** The process of the command line: its environment, streams and signals. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined }
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined }
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined }
  /** Aborts with the signal's name on SIGINT and SIGTERM, and with `EPIPE` when the reader of stdout leaves. */
  readonly signal: AbortSignal
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

/** Data. Waits until the reader has room. */
export async function print({ stdout, signal }: Terminal, line: string | Uint8Array): Promise<void> {
  if (stdout.write(typeof line === 'string' ? `${line}\n` : line) || signal.aborted) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stdout.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    stdout.on('drain', done)
    signal.addEventListener('abort', done)
  })
}

/** Everything but data. */
export function note({ stderr }: Terminal, line: string): void {
  stderr.write(`${line}\n`)
}

/** Colours a text for a terminal that shows colours. Terminals of tests are plain streams. */
export function styled(style: Style, line: string, stream: Writable): string {
  return styleText(style, line, { stream: stream as NodeJS.WriteStream, validateStream: true })
}

/**
 * Asks before something is lost. Without a terminal it needs `--yes`.
 *
 * @throws Exit `usage`, `interrupted`
 */
export async function confirm(terminal: Terminal, question: string, yes: boolean): Promise<void> {
  if (yes) return
  const { stdin, stderr, signal } = terminal
  if (stdin.isTTY !== true || stderr.isTTY !== true)
    throw usage(`${question} Without a terminal to ask on, this needs "--yes".`)
  const reader = createInterface({ input: stdin, output: stderr })
  try {
    // Rejects on Ctrl+C.
    const answer = await reader.question(`${question} [y/N] `, { signal }).catch(() => '')
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new Exit('interrupted', 'Nothing was changed.')
  } finally {
    reader.close()
  }
}

type Cell = string | number | null | undefined

/** Rows in columns, with a head. */
export async function printTable(
  terminal: Terminal,
  head: readonly string[],
  given: readonly (readonly Cell[])[],
): Promise<void> {
  const rows = given.map((row) => row.map((cell) => plain(cell)))
  for (const [at, line] of aligned(head, rows).entries())
    await print(terminal, at === 0 ? styled('dim', line, terminal.stdout) : line)
}

function aligned(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** Rejects on a signal, while work that takes none goes on. */
export function interruptible<Result>(work: Promise<Result>, { signal }: Terminal): Promise<Result> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ])
}

/** A foreign text on one line, without control characters. */
export function plain(value: unknown): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes them
  return String(value ?? '').replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
}
