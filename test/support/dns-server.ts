import { createSocket } from 'node:dgram'

/** A DNS server on a free port of this machine. */
export interface DnsServer {
  /** As a resolver takes it. */
  readonly address: string
  close(): Promise<void>
}

const TYPES = { A: 1, TXT: 16, AAAA: 28 } as const

const RECORDS: Readonly<Record<number, (answer: string) => Buffer>> = {
  1: (address) => Buffer.from(address.split('.').map(Number)),
  16: (text) => {
    const parts = text.match(/.{1,255}/gs) ?? ['']
    return Buffer.concat(parts.flatMap((part) => [Buffer.from([part.length]), Buffer.from(part, 'latin1')]))
  },
  28: (address) => Buffer.from(address.split(':').join(''), 'hex'),
}

/**
 * @param answers by name, addresses of either family, IPv6 with all of its digits, and texts; null: no answer ever comes. Other
 *   names do not exist.
 */
export async function dnsServer(
  answers: Readonly<Record<string, readonly string[] | null>>,
): Promise<DnsServer> {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = read(question)
    const found = answers[name]
    if (found === null) return
    const records = (found ?? [])
      .filter((one) => typeOf(one) === type)
      .map((one) => record(type, RECORDS[type]?.(one) ?? Buffer.alloc(0)))
    const head = Buffer.from(question.subarray(0, 12))
    // An answer, recursive; 3: there is no such name.
    head.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, question.subarray(12, end), ...records]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function typeOf(answer: string): number {
  if (/^[\d.]+$/.test(answer)) return TYPES.A
  return /^[\da-f:]+$/.test(answer) ? TYPES.AAAA : TYPES.TXT
}

function read(question: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 }
}

/** About the name of the question, not to be kept. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
