import { settings } from '../../texts/settings.ts'
import { Copyable } from '../../ui/copy.tsx'
import type { CreatedKey } from './key.ts'

const said = settings.keys
const { api } = document.documentElement.dataset

/** A first request with a new key. Left out where the dashboard does not know the address of the REST API. */
export function TryKey({ permission, secret }: Pick<CreatedKey, 'permission' | 'secret'>) {
  if (api === undefined) return null
  const sends = permission !== 'Read Only'
  const base = new URL(api, location.origin).href.replace(/\/$/, '')
  const key = `-H 'Authorization: Bearer ${secret}'`
  const message = JSON.stringify({ channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hello' })
  const line = sends
    ? `curl ${base}/v1/notify ${key} -H 'Content-Type: application/json' -H 'X-Test-Mode: true' -d '${message}'`
    : `curl ${base}/v1/me ${key}`
  return (
    <>
      <p>{sends ? said.tryToSend : said.tryToRead}</p>
      <Copyable value={line} label={said.tryLine} />
    </>
  )
}
