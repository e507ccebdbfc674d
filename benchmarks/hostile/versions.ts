import { attack } from './lib/attack.ts'
import { fillTemplate } from './lib/texts.ts'

/** Changes the subject of the largest template again and again: each version may store all its texts. */
await attack({
  title: 'Versions of a large template, by changes of its subject',
  async prepare({ client, note }) {
    // Three bytes each as stored.
    const { characters, locales } = await fillTemplate(client, 'large', (size) => '€'.repeat(size), 300_000)
    note(`a template of ${(characters / 1e6).toFixed(2)} million characters in ${locales} locales`)
  },
  run: ({ client, isOver }) =>
    client.flood(
      (number) => ({
        method: 'PATCH',
        path: '/v1/templates/large',
        body: { subject: `s${number % 2}-${number}` },
      }),
      { requests: 120, isOver },
    ),
})
