import { fastifyBullmqRival } from '../rivals/fastify-bullmq.ts'
import { carillonStack } from './carillon.ts'
import type { Ask } from './member.ts'

/** One process of a stack, controlled by messages. */

const [kind = '', postgres = '', redis = ''] = process.argv.slice(2)
const stack = (kind === 'carillon' ? carillonStack : fastifyBullmqRival)({ postgres, redis })
let delivered = 0
let expected = Number.POSITIVE_INFINITY
let complete = (): void => {}

function count(): void {
  delivered += 1
  if (delivered >= expected) complete()
}

async function answer(ask: Ask): Promise<unknown> {
  switch (ask.do) {
    case 'serve':
      return stack.serve(ask.key)
    case 'batch':
      return stack.batch(ask.count)
    case 'work':
      return stack.work(count)
    case 'rest':
      return stack.rest()
    case 'delivered':
      return delivered
    case 'expect':
      expected = delivered + ask.count
      return new Promise<void>((resolve) => {
        complete = () => {
          expected = Number.POSITIVE_INFINITY
          resolve()
        }
      })
    case 'cpu': {
      const { user, system } = process.cpuUsage()
      return user + system
    }
    case 'close':
      await stack.close()
      return process.exit()
  }
}

process.on('message', async ({ id, ask }: { id: number; ask: Ask }) => {
  try {
    const value = await answer(ask)
    if (process.connected) process.send?.({ id, value })
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
