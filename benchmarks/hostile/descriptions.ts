import { attack } from './lib/attack.ts'
import { fillTemplate, tags } from './lib/texts.ts'

/** Changes the description of a template with as many tags as can be stored, in all locales. */
await attack({
  title: 'Descriptions of a template with many tags in many locales',
  async prepare({ client, note }) {
    const dense = (size: number) => tags(size, (nth) => `{{${String.fromCharCode(97 + (nth % 26))}}}`, 9_900)
    const { characters, locales } = await fillTemplate(client, 'dense', dense, 49_500)
    note(`a template of ${(characters / 1e6).toFixed(2)} million characters, all tags, in ${locales} locales`)
  },
  run: ({ client, isOver }) =>
    client.flood(
      (number) => ({
        method: 'PATCH',
        path: '/v1/templates/dense',
        body: { description: `The description number ${number}` },
      }),
      { requests: 120, isOver },
    ),
})
