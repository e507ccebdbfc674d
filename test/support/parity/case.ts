import type { Call } from '../http-client.ts'
import type { Harness } from './harness.ts'
import type { World } from './world.ts'

/** One request of the suite, sent to every host in the same order. */
export interface Case {
  readonly title: string
  readonly call: Call | ((world: World) => Call)
  readonly status: number
  /** In an error body. */
  readonly code?: string
  /** Whose key goes with it; null: none. Default `full`. */
  readonly key?: keyof World['keys'] | null
  /** Keeps the `id` of the answer under this name. */
  readonly save?: string
  /** A parser of the application would answer it itself, or see something else than is there. */
  readonly raw?: true
  /** Frameworks with this way of their own do not let it through. */
  readonly unless?: NonNullable<Harness['ownWays']>[number]
  /** Answered by the application: then only status and body are the same. */
  readonly host?: true
  readonly before?: (world: World) => unknown
}

export const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }

export const json = { 'content-type': 'application/json' }
export const text = JSON.stringify(mail)

export function post(path: string, body: unknown, headers: Call['headers'] = {}): Call {
  return { method: 'POST', path, body, headers }
}

export const notify = (body: unknown, headers?: Call['headers']): Call => post('/v1/notify', body, headers)
export const at = (name: string, path: (id: string) => string, more: Omit<Call, 'path'> = {}) => {
  return ({ saved }: World): Call => ({ ...more, path: path(saved.get(name) ?? 'nothing-saved') })
}

export function known(path: string, status: number, code?: string, more: Partial<Case> = {}): Case {
  return { title: `GET ${path.slice(0, 60)}`, call: { path }, status, ...(code ? { code } : {}), ...more }
}
