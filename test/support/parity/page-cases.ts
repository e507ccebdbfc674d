import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import type { Call } from '../http-client.ts'
import { kindOf } from '../kinds.ts'
import { HASHES } from '../person-hashes.ts'
import { at, type Case, mail, notify, post } from './case.ts'
import { SECRET } from './world.ts'

const receipt = (body: string, signature: string | string[], type: string): Call =>
  post('/receipts/email/mail?a=%20b', body, { 'x-signature': signature, 'content-type': type })
export const receipts: Case[] = [
  {
    title: 'a receipt as a form',
    call: receipt('To=%2B49&Body=gr\u00fc\u00df', ['right', 'again'], 'application/x-www-form-urlencoded'),
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'a receipt in JSON, white space and all',
    call: receipt('[ 1 ,\n2 ]', 'right, again', 'application/json'),
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'a receipt of no known type',
    call: receipt('\u0000\u0001', 'right, again', 'application/x-unheard-of'),
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'a forged receipt',
    call: receipt('x', 'wrong', 'text/plain'),
    status: 401,
    code: 'invalid_receipt_signature',
    key: null,
    raw: true,
  },
  {
    title: 'a provider that asks for its address',
    call: { path: '/receipts/email/mail?hub.mode=subscribe&a=%20b&token=right' },
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'somebody else who asks for it',
    call: { path: '/receipts/email/mail?token=wrong' },
    status: 401,
    code: 'invalid_receipt_signature',
    key: null,
    raw: true,
  },
]

const signer = createLinkSigner([SECRET])
const oneClick = 'List-Unsubscribe=One-Click'
const plain = { 'content-type': 'text/plain' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const targetOf = (id: string) =>
  JSON.stringify([
    'org_default',
    'email',
    HASHES.address(kindOf('email'), 'reader@example.com'),
    'default',
    id,
  ])
const unsubscribe = (more: Omit<Call, 'path'> = {}) =>
  at('reader', (id) => `/unsubscribe?t=${signer.sign('unsubscribe', targetOf(id))}`, more)
const preferences = (more: Omit<Call, 'path'> = {}) =>
  at('reader', (id) => `/preferences?t=${signer.sign('preferences', targetOf(id))}`, more)
export const pages: Case[] = [
  {
    title: 'send to who unsubscribes',
    call: notify({ ...mail, to: 'reader@example.com', email: { unsubscribe: true } }),
    status: 201,
    save: 'reader',
  },
  ...(
    [
      ['ask to unsubscribe', unsubscribe(), 200],
      ['HEAD of it', unsubscribe({ method: 'HEAD' }), 200],
      ['unsubscribe without saying so', unsubscribe({ method: 'POST', body: 'a=b', headers: form }), 400],
      ['unsubscribe', unsubscribe({ method: 'POST', body: oneClick, headers: form }), 200],
      ['unsubscribe again', unsubscribe({ method: 'POST', body: oneClick, headers: form }), 200],
      ['the preferences', preferences(), 200],
      ['HEAD of the preferences', preferences({ method: 'HEAD' }), 200],
      ['save preferences', preferences({ method: 'POST', body: 'was=&on=', headers: form }), 303],
      ['save preferences as text', preferences({ method: 'POST', body: 'was=&on=', headers: plain }), 415],
      ['save no preferences', preferences({ method: 'POST', body: 'a=b', headers: form }), 422],
      ['a link for another purpose', at('reader', (id) => `/unsubscribe?t=${signer.sign('open', id)}`), 404],
      ['the picture of a mail', at('reader', (id) => `/open?t=${signer.sign('open', id)}`), 200],
      [
        'HEAD of the picture',
        at('reader', (id) => `/open?t=${signer.sign('open', id)}`, { method: 'HEAD' }),
        200,
      ],
      [
        'a link of a mail',
        at('reader', (id) => `/click?t=${signer.sign('click', `${id}\nhttps://example.com/?a=1&b=2`)}`),
        302,
      ],
      [
        'a link that leads to no page',
        at('reader', (id) => `/click?t=${signer.sign('click', `${id}\njavascript:0`)}`),
        404,
      ],
      ['a link that was cut off', { path: '/unsubscribe?t=bm90aWZfMQ.x' }, 404],
    ] as const
  ).map(([title, call, status]) => ({ title, call, status, key: null })),
  {
    title: 'send to who has unsubscribed: accepted, and skipped',
    call: notify({ ...mail, to: 'reader@example.com' }),
    status: 201,
  },
]
