import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { attack } from './lib/attack.ts'

/** Without a key, from a few addresses: bodies of reports of which the last byte does not come, against uploads. */
const ADDRESSES = 8
const BODIES_EACH = 16

await attack({
  title: 'Unfinished bodies without a key',
  victim: 'upload',
  leadMs: 3_000,
  async run({ port, isOver, note }) {
    const answers = new Map<string, number>()
    const hold = async (address: string): Promise<void> => {
      while (!isOver()) {
        const answer = await unfinished(port, address, isOver)
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
        await delay(1)
      }
    }
    const bodies = Array.from({ length: ADDRESSES * BODIES_EACH }, (_, nth) =>
      hold(`127.0.1.${1 + (nth % ADDRESSES)}`),
    )
    await Promise.all(bodies)
    const ends = [...answers].map(([answer, count]) => `${count} × ${answer}`).join(', ')
    note(`${BODIES_EACH} bodies of 1 MiB at once from each of ${ADDRESSES} addresses, each ended by: ${ends}`)
  },
})

/** Sends all but the last bytes. Returns how it ended. */
function unfinished(port: number, localAddress: string, isOver: () => boolean): Promise<string> {
  const size = 1_048_576
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    const check = setInterval(() => {
      if (isOver()) socket.destroy()
    }, 100)
    let answer = 'no answer'
    socket.on('error', () => {})
    socket.on('data', (data) => {
      answer = data.toString().slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
      socket.destroy()
    })
    socket.once('close', () => {
      clearInterval(check)
      resolve(isOver() ? 'the end of the attack' : answer)
    })
    socket.write(
      `POST /receipts/email/reporting HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${size}\r\n\r\n`,
    )
    socket.write(Buffer.alloc(size - 1, ' '))
  })
}
