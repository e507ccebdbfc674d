import { attack } from './lib/attack.ts'
import { fillTemplate, LOCALES, tags } from './lib/texts.ts'

/** Lists missing translations of templates with as many keys, in as many locales, as can be stored. */
await attack({
  title: 'Missing translations of many keys in many locales',
  async prepare({ client, note }) {
    let catalogues = 0
    for (const locale of LOCALES.slice(0, 60)) {
      const put = {
        method: 'PUT',
        path: `/v1/messages/${locale}`,
        body: { messages: { known: 'x' } },
      } as const
      if ((await client.ask(put)).status < 400) catalogues += 1
    }
    let keys = 0
    for (let template = 0; template < 4; template += 1) {
      const keysOf = (size: number, place: number) =>
        tags(size, (nth) => `{{@k${(template * 50 + place) * 10_000 + nth}}}`, 9_500)
      const stored = await fillTemplate(client, `keys-${template}`, keysOf, 110_000)
      keys += stored.characters / 11
    }
    note(`${catalogues} catalogues, four templates with about ${Math.round(keys)} keys`)
  },
  run: ({ client, isOver }) =>
    client.flood(() => ({ method: 'GET', path: '/v1/missing-translations' }), { requests: 10, isOver }),
})
