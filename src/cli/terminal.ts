import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'

/** What a process gives to the command line. */
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

/** A text of others on one line, without what steers a terminal. */
export function plain(value: unknown): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return String(value ?? '').replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
}
