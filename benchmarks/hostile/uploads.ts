import { attack } from './lib/attack.ts'
import { type Answer, largest } from './lib/client.ts'

/** Uploads one file, and names it in many small mails: each may store its own copy. */
await attack({
  title: 'One upload in many mails',
  async prepare({ client, note }) {
    const upload = async (size: number): Promise<Answer> => {
      const answer = await client.ask({
        method: 'POST',
        path: '/v1/attachments?filename=a.bin',
        body: Buffer.alloc(size, 'x'),
        headers: { 'content-type': 'application/octet-stream' },
      })
      if (answer.status >= 400) return answer
      const { id } = JSON.parse(answer.text) as { id: string }
      const mailed = await client.ask({ ...mailWith(id), headers: { 'x-test-mode': 'true' } })
      await client.ask({ method: 'DELETE', path: `/v1/attachments/${id}` })
      return mailed
    }
    const { size, refused } = await largest(7 * 1024 * 1024, upload)
    const { text } = await client.ask({
      method: 'POST',
      path: '/v1/attachments?filename=a.bin',
      body: Buffer.alloc(size, 'x'),
      headers: { 'content-type': 'application/octet-stream' },
    })
    note(`an upload of ${(size / 1e6).toFixed(1)} MB; larger ones: ${refused?.code ?? 'not refused'}`)
    return (JSON.parse(text) as { id: string }).id
  },
  run: ({ client, isOver }, id) =>
    client.flood(
      (number) => (number % 3 === 2 ? { ...mailWith(id), headers: { 'x-test-mode': 'true' } } : mailWith(id)),
      {
        requests: 90,
        isOver,
      },
    ),
})

function mailWith(id: string) {
  return {
    method: 'POST',
    path: '/v1/notify',
    body: { channel: 'email', to: 'a@example.com', body: 'x', email: { attachments: [{ id }] } },
  } as const
}
