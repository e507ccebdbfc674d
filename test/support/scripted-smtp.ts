import type { Socket } from 'node:net'
import { type Receiver, tcpReceiver } from './receivers.ts'

/**
 * Moments of an SMTP conversation; `begun` is the first content after DATA, `content` the dot that ends it, `after` comes at
 * once when that has been answered.
 */
export type SmtpMoment =
  | 'greeting'
  | 'ehlo'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'begun'
  | 'content'
  | 'after'

/** A reply without its line end; or what else a server can do. */
export type SmtpAct = string | 'HANG' | 'DROP' | 'RESET'

export type SmtpScript = Partial<Record<SmtpMoment, SmtpAct>>

export interface ScriptedSmtp extends Receiver {
  /** Every line that clients sent, content included, in order. */
  readonly lines: string[]
  /** Mails that were accepted. */
  readonly mails: { readonly addressees: readonly string[]; readonly source: string }[]
  /** Resolves when the server has reached a moment at which it hangs. */
  hanging(): Promise<void>
  /** Changes what happens from now on. */
  play(script: SmtpScript): void
}

const FRIENDLY: Record<Exclude<SmtpMoment, 'begun' | 'after'>, string> = {
  greeting: '220 mail.example.test ESMTP',
  ehlo: '250-mail.example.test\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME',
  auth: '235 2.7.0 Authentication successful',
  mail: '250 2.1.0 Ok',
  rcpt: '250 2.1.5 Ok',
  data: '354 End data with <CR><LF>.<CR><LF>',
  content: '250 2.0.0 Ok: queued as 4XyZ',
}

/** A mail server that says exactly what a test wants, at once; everything else as a friendly one would. */
export async function scriptedSmtp(script: SmtpScript = {}): Promise<ScriptedSmtp> {
  const lines: string[] = []
  const mails: ScriptedSmtp['mails'] = []
  let current = script
  const waiting: (() => void)[] = []
  let hangs = 0

  function act(socket: Socket, moment: SmtpMoment): void {
    const what = current[moment] ?? (moment === 'begun' || moment === 'after' ? undefined : FRIENDLY[moment])
    if (what === undefined) return
    if (what === 'HANG') {
      hangs += 1
      for (const resolve of waiting.splice(0)) resolve()
    } else if (what === 'DROP') socket.end()
    else if (what === 'RESET') socket.resetAndDestroy()
    else socket.write(`${what}\r\n`)
  }

  const receiver = await tcpReceiver((socket) => {
    let inContent = false
    let begun = false
    let rest = ''
    let addressees: string[] = []
    let content: string[] = []
    act(socket, 'greeting')
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const complete = (rest + chunk).split('\r\n')
      rest = complete.pop() ?? ''
      for (const line of complete) {
        lines.push(line)
        if (inContent) {
          if (!begun) act(socket, 'begun')
          begun = true
          if (line === '.') {
            inContent = false
            begun = false
            if ((current.content ?? '2').startsWith('2'))
              mails.push({ addressees, source: content.join('\r\n') })
            act(socket, 'content')
            act(socket, 'after')
          } else {
            content.push(line.replace(/^\.\./, '.'))
          }
          continue
        }
        const verb = line.slice(0, 4).toUpperCase()
        if (verb === 'EHLO' || verb === 'HELO') act(socket, 'ehlo')
        else if (verb === 'AUTH') act(socket, 'auth')
        else if (verb === 'MAIL') {
          addressees = []
          act(socket, 'mail')
        } else if (verb === 'RCPT') {
          addressees.push(/<(.*)>/.exec(line)?.[1] ?? '')
          act(socket, 'rcpt')
        } else if (verb === 'DATA') {
          act(socket, 'data')
          content = []
          inContent = (current.data ?? '354').startsWith('3')
        } else if (verb === 'RSET') socket.write('250 Ok\r\n')
        else if (verb === 'QUIT') socket.end('221 Bye\r\n')
        else if (verb === 'STAR') socket.write('502 5.5.1 Command not implemented\r\n')
      }
    })
  })
  return Object.assign(receiver, {
    lines,
    mails,
    hanging: () => (hangs > 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
    play(next: SmtpScript) {
      current = next
    },
  })
}
