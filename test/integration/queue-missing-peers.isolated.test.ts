import { registerHooks } from 'node:module'
import { Cluster, Redis } from 'ioredis'
import { afterAll, expect, it } from 'vitest'
import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'

// As Node.js itself reports a package that is not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const name = /(?:^|node_modules\/)(bullmq|graphile-worker)(?:\/|$)/.exec(specifier)?.[1]
    if (name === undefined) return next(specifier, context)
    const error = new Error(`Cannot find package '${name}' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

it.each([
  ['bullmq', () => bullmqQueue({ url: 'redis://127.0.0.1:1' })],
  ['graphile-worker', () => graphileWorkerQueue({ connectionString: 'postgres://127.0.0.1:1/none' })],
] as const)('a queue without %s says at the start what to install', async (name, create) => {
  const queue = create()
  await expect(queue.open()).rejects.toMatchObject({
    code: 'missing_peer',
    message: `The package "${name}" is not installed. Run: npm install ${name}`,
  })
  await queue.close()
})

it.each([
  [() => bullmqQueue({}), 'url'],
  [() => bullmqQueue({ url: 'http://localhost' }), 'url'],
  [() => bullmqQueue({ url: 'redis://:p#w@localhost' }), 'url'],
  [() => bullmqQueue({ client: new Redis({ lazyConnect: true, keyPrefix: 'app:' }) }), 'client'],
  [() => bullmqQueue({ client: new Cluster([], { lazyConnect: true }) as unknown as Redis }), 'client'],
  [() => bullmqQueue({ url: 'redis://localhost', name: 'a:b' }), 'name'],
  [() => bullmqQueue({ url: 'redis://localhost', prefix: '' }), 'prefix'],
  [() => bullmqQueue({ url: 'redis://localhost', concurrency: 0 }), 'concurrency'],
  [() => graphileWorkerQueue({}), 'pool'],
  [() => graphileWorkerQueue({ connectionString: 'mysql://x' }), 'connectionString'],
  [() => graphileWorkerQueue({ connectionString: 'postgres://a:p#w@x' }), 'connectionString'],
  [() => graphileWorkerQueue({ connectionString: 'postgres://x', task: '' }), 'task'],
  [() => graphileWorkerQueue({ connectionString: 'postgres://x', pollMs: 0.5 }), 'pollMs'],
] as const)('a wrong option is named (%#)', (create, option) => {
  expect(create).toThrow(expect.objectContaining({ code: 'invalid_configuration', details: { option } }))
})
