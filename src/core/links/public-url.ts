import { wrong } from '../input/option-checks.ts'

/** The option `publicUrl` without a trailing slash. @throws NotifierError `invalid_configuration` */
export function publicUrlOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  const plain = url !== null && url.username === '' && url.password === ''
  // The value becomes part of links verbatim. A URL parser would accept text that mail programs do not.
  if (!plain || !/^https?:\/\/(?!\/)[^\s\p{Cc}\p{Cf}\\?#]+$/u.test(value)) {
    throw wrong(
      'publicUrl',
      'an http:// or https:// address without white space, credentials, query or fragment',
    )
  }
  return value.replace(/\/+$/, '')
}
