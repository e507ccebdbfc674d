import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A process that is restarted whenever it ends. */
export interface Supervised {
  readonly name: string
  /** SIGKILL. Resolves when the successor is ready. */
  kill(): Promise<void>
  /** SIGTERM, a graceful end. Resolves when the successor is ready. */
  restart(): Promise<void>
  /** Resolves when it is ready. */
  ready(): Promise<void>
  /** Ends it without a successor. */
  stop(): Promise<void>
}

const PAUSE_MS = 200
const PATIENCE_MS = 60_000

/**
 * Starts a program of this folder in a separate process with an IPC channel.
 *
 * @param how `detached`: the process and its children do not receive Ctrl-C
 */
export function startProgram(
  program: string,
  options: object = {},
  { detached = false }: { readonly detached?: boolean } = {},
): ChildProcess {
  const file = fileURLToPath(new URL(`${program}.ts`, import.meta.url))
  return spawn(process.execPath, [file, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, NODE_OPTIONS: '' },
    detached,
  })
}

/** @param print receives its output line by line */
export function supervise(
  name: string,
  program: string,
  options: object,
  print: (line: string) => void,
): Supervised {
  let child: ChildProcess
  let works: Promise<unknown>
  let stopped = false
  let successor = Promise.resolve()

  function launch(): void {
    child = startProgram(program, options)
    works = once(child, 'message').catch(() => {})
    const started = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => print(`${name}: ${text.trimEnd()}`))
    }
    successor = once(started, 'exit').then(async ([code, signal]) => {
      if (stopped) return
      if (code !== 0 && signal !== 'SIGKILL') {
        // It could not start, for example because the database is down. Waits a little before the next start.
        print(`${name}: ended with ${code ?? signal}`)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
      if (!stopped) launch()
    })
  }
  launch()

  async function ready(): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; ; ) {
      const asked = child
      const left = new Promise((resolve) => setTimeout(resolve, 100))
      if ((await Promise.race([works.then(() => true), left])) && asked === child && child.connected) return
      if (performance.now() > end) throw new Error(`${name} does not start: see --verbose.`)
    }
  }

  async function replace(signal: NodeJS.Signals): Promise<void> {
    const next = successor
    child.kill(signal)
    await next
    await ready()
  }

  return {
    name,
    ready,
    kill: () => replace('SIGKILL'),
    restart: () => replace('SIGTERM'),
    async stop() {
      stopped = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await gone
      clearTimeout(timer)
    },
  }
}
