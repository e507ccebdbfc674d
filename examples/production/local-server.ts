// Runs a server on this machine and removes it when the parent dies: node local-server.ts <options as JSON>
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { given } from './child.ts'

export interface LocalServerOptions {
  readonly name: 'PostgreSQL' | 'Redis'
}

/** Also detects a parent that dies while the server starts. */
const gone = new Promise<void>((resolve) => {
  if (process.connected) process.once('disconnect', resolve)
  else resolve()
})

/** The parent may be gone. */
function tell(message: unknown): void {
  process.send?.(message, () => {})
}

async function open(): Promise<{
  readonly url: string
  crash(): Promise<void>
  start(): Promise<void>
  remove(): Promise<void>
}> {
  if (given<LocalServerOptions>().name === 'Redis') {
    const server = await startRedis()
    return { ...server, crash: server.kill }
  }
  // Without fsync: this example crashes processes, not the machine.
  const server = await startPostgres()
  return { ...server, crash: () => server.stop('immediate') }
}

const server = await open()

async function crash(awayMs: number): Promise<void> {
  await server.crash()
  await new Promise((resolve) => setTimeout(resolve, awayMs))
  await server.start()
}

let work = Promise.resolve()
process.on('message', (awayMs: number) => {
  work = crash(awayMs).then(
    () => tell('back'),
    (error) => tell(String(error)),
  )
})
tell(server.url)

await gone
await work
await server.remove()
process.exit()
