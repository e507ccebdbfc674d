import { attack } from './lib/attack.ts'
import { fillTemplate } from './lib/texts.ts'

/** Asks for the largest answers: lists with their texts, and comparisons of versions without an equal line. */
await attack({
  title: 'Lists of large templates and comparisons of their versions',
  async prepare({ client, note }) {
    const lines = (size: number, place: number) =>
      Array.from({ length: Math.floor(size / 8) }, (_, nth) => `${place}${nth.toString(36).padStart(5, '0')}`)
        .join('\n')
        .slice(0, size)
    let characters = 0
    for (let nth = 0; nth < 6; nth += 1)
      characters += (await fillTemplate(client, `long-${nth}`, lines, 500_000)).characters
    const other = (size: number) => ({
      method: 'PATCH' as const,
      path: '/v1/templates/long-0',
      body: { text: lines(size, 7) },
    })
    for (let size = 500_000; (await client.ask(other(size))).status >= 400 && size > 100; ) size /= 2
    const { text } = await client.ask({ method: 'GET', path: '/v1/templates/long-0' })
    const { version } = JSON.parse(text) as { version: number }
    note(`six templates of ${(characters / 1e6).toFixed(1)} million characters, one with ${version} versions`)
    return version
  },
  run: ({ client, isOver }, version) =>
    client.flood(
      (number) => ({
        method: 'GET',
        path:
          number % 2 === 0 ? '/v1/templates?limit=100' : `/v1/templates/long-0/versions/1/compare/${version}`,
      }),
      { requests: 120, isOver },
    ),
})
