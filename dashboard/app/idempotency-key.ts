import { useRef } from 'preact/hooks'
import { randomKey } from './random-key.ts'

/** One key for one message: sent again after a lost answer, it is delivered once. */
export function useIdempotencyKey(): (message: unknown) => { readonly 'Idempotency-Key': string } {
  const last = useRef({ json: '', key: '' })
  return (message) => {
    const json = JSON.stringify(message)
    if (last.current.json !== json) last.current = { json, key: randomKey() }
    return { 'Idempotency-Key': last.current.key }
  }
}
