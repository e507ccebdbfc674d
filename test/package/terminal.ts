import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const run = promisify(execFile)
const ENVIRONMENT = {
  ...process.env,
  NODE_OPTIONS: '',
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
}

/** Runs a command of a shell to its end. */
export async function runInShell(
  command: string,
  cwd: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return await run('sh', ['-c', command], { cwd, env: ENVIRONMENT })
}

/** A command that runs in a terminal of its own. */
export interface Terminal {
  printed(): string
  /** Presses Ctrl+C. Resolves with the code or the signal by which the command has ended. */
  interrupt(): Promise<number | NodeJS.Signals>
}

export function openTerminal(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Terminal {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    env: { ...ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl+C reaches all processes of a group.
    detached: true,
  })
  const printed: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const kill = (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal)
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) kill('SIGKILL')
  })
  return {
    printed: () => printed.join(''),
    interrupt() {
      kill('SIGINT')
      return ended
    },
  }
}
