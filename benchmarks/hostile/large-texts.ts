import { attack } from './lib/attack.ts'
import { type Answer, largest } from './lib/client.ts'
import { tags } from './lib/texts.ts'

/** Previews, lints and creates the text that is the most work to check. */
await attack({
  title: 'Previews and lints of large texts',
  async prepare({ client, note }) {
    const textOf = (size: number): string =>
      `<p>${tags(size, (nth) => `<a href="http://x.example/${nth}"><img src="${nth}">{{a}}</a>`, 9_000)}</p>`
    const template = (size: number) => ({ channel: 'email', subject: 'x', html: textOf(size) })
    const previewOf = (size: number) => ({ ...template(size), variables: { a: 'x' } })
    const lint = (size: number): Promise<Answer> =>
      client.ask({ method: 'POST', path: '/v1/template-lints', body: template(size) })
    const preview = (size: number): Promise<Answer> =>
      client.ask({ method: 'POST', path: '/v1/template-previews', body: previewOf(size) })
    const linted = await largest(900_000, lint)
    const previewed = await largest(900_000, preview)
    note(
      `lints of ${linted.size} and previews of ${previewed.size} characters; larger ones: ` +
        `${linted.refused?.code ?? 'not refused'}`,
    )
    return { linted: template(linted.size), previewed: previewOf(previewed.size) }
  },
  run: ({ client, isOver }, { linted, previewed }) =>
    client.flood(
      (number) =>
        (
          [
            { method: 'POST', path: '/v1/template-lints', body: linted },
            { method: 'POST', path: '/v1/template-previews', body: previewed },
            { method: 'POST', path: '/v1/templates', body: { ...linted, name: `t${number}` } },
          ] as const
        )[number % 3] as { method: 'POST'; path: string; body: object },
      { requests: 120, isOver },
    ),
})
