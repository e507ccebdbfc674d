import { onTestFinished } from 'vitest'
import type { OutgoingHttp, PostRequest } from '../../src/core/ports/outgoing.ts'
import { type GuardedHttpOptions, guardedHttp } from '../../src/outgoing/guarded-http.ts'

export function outgoing(options: GuardedHttpOptions = {}): OutgoingHttp {
  const http = guardedHttp({ allow: ['127.0.0.0/8'], allowHttp: true, ...options })
  onTestFinished(http.close)
  return http
}

export async function closedAfterTest<Closable extends { close(): Promise<void> }>(
  starting: Promise<Closable>,
): Promise<Closable> {
  const receiver = await starting
  onTestFinished(receiver.close)
  return receiver
}

export const request = (url: string, more: Partial<PostRequest> = {}): PostRequest => ({
  organizationId: 'org_a',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"secret":"in the body"}',
  // Longer than a test may take: only what a test shortens can end by its deadline.
  timeoutMs: 600_000,
  ...more,
})

/** For servers that never answer: short enough to wait for, long enough for a slow machine to connect. */
export const SOON = 800

/** Resolves names with these answers in turn, the last one for ever. */
export function resolver(...answers: string[][]) {
  const asked: string[] = []
  return {
    asked,
    lookup: (host: string) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? []
      asked.push(host)
      return Promise.resolve(answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
    },
  }
}
