/** Exit codes of the command line, as docs/reference/command-line.md has them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  configuration: 3,
  refused: 4,
  notFound: 5,
  tryAgain: 75,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command line with a code and a sentence for its reader. */
export class Exit extends Error {
  readonly code: ExitCode

  constructor(code: keyof typeof EXIT, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = EXIT[code]
  }
}

export function usage(message: string): Exit {
  return new Exit('usage', message)
}

/** The exit code for the HTTP status of an answer. */
export function exitOf(status: number): ExitCode {
  if (status < 400) return EXIT.done
  if (status === 404 || status === 410) return EXIT.notFound
  if ([408, 425, 429, 502, 503, 504].includes(status)) return EXIT.tryAgain
  return status < 500 ? EXIT.refused : EXIT.failed
}

/** An error as the command line reports it. */
interface Failure {
  readonly code: ExitCode
  readonly message: string
  /** The error's own code; absent: it has none. */
  readonly errorCode?: string
}

interface Coded {
  readonly code: string
  readonly message: string
  readonly status?: number
}

const OF_CODES: Readonly<Record<string, ExitCode>> = {
  invalid_configuration: EXIT.configuration,
  missing_peer: EXIT.configuration,
  unexpected_answer: EXIT.configuration,
  unreachable: EXIT.tryAgain,
  timeout: EXIT.tryAgain,
}

/** The exit code and the sentence for an error of a notifier, of the client or of the command line. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Exit) return error
  if (!isCoded(error)) return { code: EXIT.failed, message: messageOf(error) }
  const { code, message, status = 500 } = error
  return { code: OF_CODES[code] ?? exitOf(status), message: `${code}: ${message}`, errorCode: code }
}

/** Errors of a notifier may come from another copy of the package. */
function isCoded(error: unknown): error is Coded {
  return error instanceof Error && /^(?:NotifierError|CarillonError)$/.test(error.name) && 'code' in error
}

/** A line that names the page about an error code; empty if there is none. */
export async function seePage(errorCode: string): Promise<string> {
  const { pageOf } = await import('../core/errors/catalogue.ts')
  const page = pageOf(errorCode)
  return page === undefined ? '' : `\nSee ${page}`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
