import { attack } from './lib/attack.ts'
import { type Answer, largest } from './lib/client.ts'

/** Stores messages whose number formats consist of as many tokens as are allowed. */
await attack({
  title: 'Messages with long number formats',
  async prepare({ client, note }) {
    // Each one is read as if it were the only one.
    const messageOf = (tokens: number, nth: number): string => `${nth} {n, number, ::${'. '.repeat(tokens)}}`
    const messagesOf = (tokens: number, count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, nth) => [`k${nth}`, messageOf(tokens, nth)] as const),
      )
    const put = (tokens: number, count: number): Promise<Answer> =>
      client.ask({
        method: 'PUT',
        path: '/v1/messages/en',
        body: { messages: messagesOf(tokens, count) },
      })
    const { size: tokens, refused } = await largest(1_600, (size) => put(size, 1))
    const { size: count } = await largest(Math.floor(300_000 / (2 * tokens)), (size) => put(tokens, size))
    note(`${count} messages of ${tokens} tokens; longer ones: ${refused?.code ?? 'not refused'}`)
    return (put: number) => ({
      messages: { ...messagesOf(tokens, count), k0: messageOf(tokens, 1_000 + put) },
    })
  },
  run: ({ client, isOver }, bodyOf) =>
    client.flood((number) => ({ method: 'PUT', path: '/v1/messages/en', body: bodyOf(number) }), {
      requests: 120,
      isOver,
    }),
})
