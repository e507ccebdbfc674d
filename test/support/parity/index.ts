import { expressHarnesses } from './express.ts'
import { fastifyHarness } from './fastify.ts'
import { fetchHarness } from './fetch.ts'
import type { Harness } from './harness.ts'
import { koaHarnesses } from './koa.ts'
import { nodeHarness } from './node.ts'

export const HARNESSES: readonly Harness[] = [
  nodeHarness,
  ...expressHarnesses,
  fastifyHarness,
  ...koaHarnesses,
  fetchHarness,
]
