import type * as z from 'zod'
import { text } from './fields.ts'

/** An https URL of at most 2,048 characters without credentials, which a vendor or a device loads. */
export const httpsUrl: z.ZodType<string, string> = text(1, 2_048).refine(isHttpsUrl, {
  message: 'must be an https URL without credentials',
})

function isHttpsUrl(url: string): boolean {
  if (/[\s\p{Cc}]/u.test(url) || !URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return protocol === 'https:' && username === '' && password === ''
}
