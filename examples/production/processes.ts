import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A process that is started again whenever it ends. */
export interface Supervised {
  readonly name: string
  /** SIGKILL: it does not know what has hit it. Resolves when its successor works. */
  kill(): Promise<void>
  /** SIGTERM: it ends in peace. Resolves when its successor works. */
  restart(): Promise<void>
  /** Resolves when it works. */
  ready(): Promise<void>
  /** Ends it for good. */
  stop(): Promise<void>
}

const PAUSE_MS = 200
const PATIENCE_MS = 60_000

/**
 * Starts a program of this folder as a process of its own, with a channel to its parent.
 *
 * @param how `detached`: a Ctrl-C is not for it, nor for what it starts
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

/** @param print gets what it prints, line by line */
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
        // It could not start: the database may be away. What starts it again waits a little, as all of them do.
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
