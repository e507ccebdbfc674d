import type { HostileClient } from './client.ts'

/** Names of locales, one for each variant or catalogue. */
export const LOCALES: readonly string[] = ['de', 'en', 'es', 'fr', 'it', 'nl', 'pt', 'ru'].flatMap(
  (language) => ['AT', 'BE', 'CA', 'CH', 'DE', 'FR', 'GB', 'NL'].map((region) => `${language}-${region}`),
)

/** Texts below this share of the wanted size are not worth another request. */
const LEAST_SHARE = 1 / 64

/**
 * Creates a template, and adds texts in other locales until none fits.
 *
 * @param textOf a text of about so many characters; `place` makes it differ
 * @param most largest size to try for each text
 * @returns what was stored, in characters and locales
 */
export async function fillTemplate(
  client: HostileClient,
  name: string,
  textOf: (size: number, place: number) => string,
  most: number,
): Promise<{ readonly characters: number; readonly locales: number; readonly refusedWith: string | null }> {
  let size = most
  let characters = 0
  let refusedWith: string | null = null
  const fits = async (place: number, store: (text: string) => ReturnType<HostileClient['ask']>) => {
    for (; size >= Math.max(1, most * LEAST_SHARE); size = Math.floor(size / 2)) {
      const text = textOf(size, place)
      const answer = await store(text)
      if (answer.status < 400) {
        characters += text.length
        return true
      }
      refusedWith = answer.code
    }
    return false
  }
  const isCreated = await fits(0, (text) =>
    client.ask({
      method: 'POST',
      path: '/v1/templates',
      body: { name, channel: 'email', subject: 'x', text },
    }),
  )
  if (!isCreated) throw new Error(`No template could be created: ${refusedWith}`)
  let locales = 1
  for (const locale of LOCALES.slice(0, 49)) {
    const isStored = await fits(locales, (text) =>
      client.ask({
        method: 'PATCH',
        path: `/v1/templates/${name}`,
        body: { locales: { [locale]: { text } } },
      }),
    )
    if (!isStored) break
    locales += 1
  }
  return { characters, locales, refusedWith }
}

/** A text of about so many characters that consists of tags. @param tagOf the nth tag */
export function tags(size: number, tagOf: (nth: number) => string, most = 10_000): string {
  const parts: string[] = []
  for (let length = 0; length < size && parts.length < most; ) {
    const tag = tagOf(parts.length)
    parts.push(tag)
    length += tag.length
  }
  return parts.join('')
}
