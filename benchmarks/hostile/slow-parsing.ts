import { attack } from './lib/attack.ts'
import { largest } from './lib/client.ts'

/** Tags of a text: the bound, but for a few. */
const TAGS = 1_900

/** Texts of a length that mustache.js by itself parses slowly. */
const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  'white space in a comment': (size) => `x{{!x${'\n'.repeat(size)}x}}`,
  'text without tags': (size) => `x${' text'.repeat(size / 5)}`,
  'white space around tags': (size) =>
    `x${`${' '.repeat(size / TAGS)}{{#a}}\n${' '.repeat(size / TAGS)}{{/a}}\n`.repeat(TAGS / 2)}`,
  'tags in text': (size) => `{{a}}${'a'.repeat(size / TAGS)}`.repeat(TAGS),
}

/** Previews the texts that are the most work to parse. */
await attack({
  title: 'Templates that mustache.js by itself parses slowly',
  async prepare({ client, note }) {
    const bodies: object[] = []
    for (const [name, textOf] of Object.entries(SHAPES)) {
      const bodyOf = (size: number) => ({
        channel: 'email',
        subject: 'x',
        text: textOf(size),
        variables: { a: 'x' },
      })
      const { size, refused } = await largest(262_000, (size) =>
        client.ask({ method: 'POST', path: '/v1/template-previews', body: bodyOf(size) }),
      )
      note(`${name}: ${size} characters; larger ones: ${refused?.code ?? 'not refused'}`)
      bodies.push(bodyOf(size))
    }
    return bodies
  },
  run: ({ client, isOver }, bodies) =>
    client.flood(
      (number) => ({
        method: 'POST',
        path: '/v1/template-previews',
        body: bodies[number % bodies.length] as object,
      }),
      { requests: 120, isOver },
    ),
})
