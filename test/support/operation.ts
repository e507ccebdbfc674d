import { expect } from 'vitest'
import { ROUTES } from '../../src/routes.ts'
import type { Answer, Call } from './http-client.ts'

/** The answer to an operation, which must succeed as the table of routes promises. */
export async function succeeded(
  api: (options: Call) => Promise<Answer>,
  name: string,
  options: Call,
): Promise<Answer> {
  const route = ROUTES.find(({ operation }) => operation === name)
  const answer = await api({ method: route?.method ?? '', ...options })
  expect(answer.status, answer.text).toBe(route?.status)
  expect(route?.response.safeParse(answer.json).error).toBeUndefined()
  expect(answer.headers['x-request-id']).toMatch(/^req_[\w-]{22}$/)
  return answer
}
