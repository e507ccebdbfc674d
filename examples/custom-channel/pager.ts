import { createHmac } from 'node:crypto'
import { defineChannel, NotifierError, type Provider } from 'carillon'
import type { ParsedReceipts, ReceiptRequest } from 'carillon/provider-kit'
import { dedupeKey, providerHttp, type ReadOutcome, refuse, sameText, textMember } from 'carillon/provider-kit'
import * as z from 'zod'

/** In the text of a page, `#` rings and `*` ends it. A backslash escapes them. */
export const pager = defineChannel({
  name: 'pager',
  recipient: 'a pager number of 4 to 10 digits',
  checkRecipient: (to) => (/^\d(?:-?\d){3,9}$/.test(to) ? null : {}),
  canonical: (to) => to.replaceAll('-', ''),
  escape: (value) => value.replace(/[\\#*]/g, '\\$&'),
  parts: z.strictObject({
    beeps: z.int().min(1).max(9).optional().describe('How often the pager beeps. Default 1.'),
  }),
  assertText({ body }) {
    if (body.length > 240)
      throw new NotifierError('message_too_large', { message: 'A page has at most 240 characters. Shorten it.' })
  },
})

const readOutcome: ReadOutcome = (answer) => {
  const id = textMember(answer.json, 'id')
  if (answer.status === 201 && id !== undefined) return { kind: 'accepted', providerMessageId: id }
  return refuse(answer, { code: textMember(answer.json, 'error') })
}

export function acmePager({ url, key }: { url: string; key: string }): Provider<typeof pager> {
  const http = providerHttp({ maxConnections: 10, timeoutMs: 10_000, secrets: [key] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    kind: pager,
    name: 'acme-pager',
    send({ to, body, pager: { beeps = 1 } = {} }, { idempotencyKey, signal }) {
      const page = JSON.stringify({ to, body, beeps, key: idempotencyKey })
      return http.send({ url: `${url}/pages`, headers, body: page, signal }, readOutcome)
    },
    parseReceipts: async (request) => read(request, key),
    open: async ({ proxyFor }) => http.through(proxyFor),
    close: () => http.close(),
  }
}

function read({ headers, body }: ReceiptRequest, key: string): ParsedReceipts {
  const expected = createHmac('sha256', key).update(body).digest('hex')
  if (!sameText(headers['acme-signature'] ?? '', expected))
    return { kind: 'refused', why: 'signature', message: 'The signature is wrong.' }
  try {
    const { id, page, unassigned } = JSON.parse(Buffer.from(body).toString())
    const fact = { type: unassigned ? 'undelivered' : 'delivered', providerMessageId: page } as const
    const suppress = unassigned ? ({ suppress: { reason: 'hard_bounce' } } as const) : {}
    return { kind: 'receipts', receipts: [{ dedupeKey: dedupeKey(id), fact, ...suppress }] }
  } catch {
    return { kind: 'refused', why: 'malformed', message: 'The body is not a report.' }
  }
}
