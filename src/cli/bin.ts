#!/usr/bin/env node
import { EXIT } from './exit.ts'
import { main } from './main.ts'

const ended = new AbortController()

function end(reason: string): void {
  // A second signal does not wait.
  if (ended.signal.aborted) process.exit(EXIT.interrupted)
  ended.abort(reason)
}

process.on('SIGINT', () => end('SIGINT'))
process.on('SIGTERM', () => end('SIGTERM'))
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (!ended.signal.aborted) ended.abort(code)
})

const { env, stdin, stdout, stderr } = process
const code = await main(
  { env, cwd: process.cwd(), stdin, stdout, stderr, signal: ended.signal },
  process.argv.slice(2),
)
await new Promise<void>((resolve) => {
  if (stdout.writableLength === 0 || stdout.destroyed) resolve()
  else stdout.write('', () => resolve())
})
// What the configuration opened may still be open.
process.exit(code)
