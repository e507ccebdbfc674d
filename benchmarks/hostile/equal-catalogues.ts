import { attack } from './lib/attack.ts'
import { type Answer, largest } from './lib/client.ts'

/** Stores the same large catalogue again and again: an equal one need not be stored. */
await attack({
  title: 'A large catalogue that is put again without a change',
  async prepare({ client, note }) {
    const messagesOf = (size: number): Record<string, string> => {
      const each = 1_900
      const count = Math.ceil(size / each)
      return Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, 'x'.repeat(each - 10)]))
    }
    const put = (size: number): Promise<Answer> =>
      client.ask({ method: 'PUT', path: '/v1/messages/en', body: { messages: messagesOf(size) } })
    const { size, refused } = await largest(520_000, put)
    note(`a catalogue of ${size} characters; larger ones: ${refused?.code ?? 'not refused'}`)
    return { messages: messagesOf(size) }
  },
  run: ({ client, isOver }, body) =>
    client.flood(() => ({ method: 'PUT', path: '/v1/messages/en', body }), { requests: 120, isOver }),
})
