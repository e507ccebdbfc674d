import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fcm } from '../../adapters/channels/fcm/send.ts'
import { ses } from '../../adapters/channels/ses/send.ts'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { webhook } from '../../adapters/channels/webhook/send.ts'
import { sms } from '../../src/core/channels/built-in.ts'
import { perOrganization } from '../../src/core/channels/channel-option.ts'
import type { SmsKind } from '../../src/core/channels/sms.ts'
import type { Outcome } from '../../src/core/notification/outcome.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { proxyFrom } from '../../src/outgoing/proxy.ts'
import { apnsProvider, apnsServer, sendPush } from '../support/apns.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { eventually } from '../support/eventually.ts'
import { FCM_TOKEN, testAccount } from '../support/fcm-server.ts'
import { certificate } from '../support/localhost-certificate.ts'
import { startMailServer } from '../support/mail-server.ts'
import { closedAfterTest, outgoing, request } from '../support/outgoing.ts'
import { proxyServer } from '../support/proxy-server.ts'
import { closedPort, httpReceiver, httpsReceiver, type Receiver } from '../support/receivers.ts'
import { ACCOUNT, sidOf } from '../support/twilio.ts'

// Providers have no option for authorities: their servers are public.
beforeAll(() => setDefaultCACertificates([...getCACertificates(), certificate]))

const TEXT = { to: '+14155550123', subject: null, body: 'Hi', format: 'text' } as const
const PASSWORD = 'hunter 2:ü'
const WITH_PASSWORD = `user:${encodeURIComponent(PASSWORD)}@`

const texts = (): Promise<Receiver> =>
  closedAfterTest(
    httpsReceiver((response) => {
      response.writeHead(201).end(JSON.stringify({ sid: sidOf(1), status: 'queued' }))
    }),
  )

/** Only the proxy knows the name. */
function twilioAt({ port }: Receiver, host = 'api.example.test'): Provider<SmsKind> {
  const provider = twilio({
    accountSid: ACCOUNT,
    authToken: 'x'.repeat(32),
    from: '+14155550100',
    baseUrl: `https://${host}:${port}`,
  })
  onTestFinished(() => provider.close?.())
  return provider
}

function failureOf(outcome: Outcome) {
  if (outcome.kind !== 'retry') throw new Error(`The outcome is ${outcome.kind}.`)
  return outcome
}

async function opened(provider: Provider, proxy: string): Promise<Provider> {
  await provider.open?.({ proxyFor: proxyFrom(proxy) })
  return provider
}

async function started(options: NotifierOptions) {
  const notifier = createNotifier(options)
  notifier.on('error', () => {})
  onTestFinished(() => notifier.stop({ timeoutMs: 0 }))
  await notifier.start()
  return notifier
}

describe('the option "proxy"', () => {
  it('leads the requests of providers through the proxy, and not those to addresses that users choose', async () => {
    const [server, proxy] = [await texts(), await proxyServer({ credentials: `user:${PASSWORD}` })]
    const hook = await closedAfterTest(httpReceiver((response) => response.end()))
    const notifier = await started({
      channels: {
        sms: twilioAt(server),
        webhook: webhook({ allow: ['127.0.0.0/8'], allowHttp: true }),
      },
      webhooks: { allow: ['127.0.0.0/8'], allowHttp: true },
      proxy: `http://${WITH_PASSWORD}127.0.0.1:${proxy.port}`,
    })
    const to = `http://127.0.0.1:${hook.port}`
    await notifier.webhooks.create({ url: `${to}/events`, events: ['notification.sent'] })
    await notifier.send({ channel: 'sms', to: TEXT.to, body: 'Hi' })
    await notifier.send({ channel: 'webhook', to: `${to}/message`, body: 'Hi' })
    await eventually(() => server.requests.length === 1 && hook.requests.length === 3)
    expect(proxy.asked).toEqual([`api.example.test:${server.port}`])
  })

  it('holds for the providers of organizations', async () => {
    const [server, proxy] = [await texts(), await proxyServer()]
    const notifier = await started({
      channels: { sms: perOrganization(sms, () => twilioAt(server)) },
      proxy: { url: `http://127.0.0.1:${proxy.port}`, noProxy: ['localhost'] },
    })
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    await notifier.organization('org_a').send({ channel: 'sms', to: TEXT.to, body: 'Hi' })
    await eventually(() => server.requests.length === 1)
    expect(proxy.asked).toEqual([`api.example.test:${server.port}`])
  })

  it.each([
    [{ proxy: 'socks5://u:hunter2@proxy.example.net' }, 'proxy'],
    [{ proxy: { url: 'http://u:hunter2@proxy', noproxy: [] } }, 'proxy.noproxy'],
    [{ proxy: { url: 'http://u:hunter2@proxy', noProxy: 'localhost' } }, 'proxy.noProxy'],
    [{ proxy: 7 }, 'proxy'],
  ])('is checked: %j', async (option, named) => {
    const create = () => createNotifier({ channels: {}, ...option } as never)
    expect(create).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining(`"${named}"`),
      }),
    )
    expect(create).not.toThrow(/hunter2/)
  })
})

describe('the proxy of the environment', () => {
  function environment(port: number, more: Readonly<Record<string, string>> = {}): void {
    onTestFinished(() => void vi.unstubAllEnvs())
    const variables = { NODE_USE_ENV_PROXY: '1', https_proxy: `http://127.0.0.1:${port}`, ...more }
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  }

  it('leads there without a notifier, too', async () => {
    const [server, proxy] = [await texts(), await proxyServer()]
    environment(proxy.port)
    expect(await twilioAt(server).send(TEXT, sendContext())).toMatchObject({ kind: 'accepted' })
    expect(proxy.asked).toEqual([`api.example.test:${server.port}`])
  })

  it('is named as ignored, with the host, if nothing can be reached without it', async () => {
    environment(1, { NODE_USE_ENV_PROXY: '' })
    const port = await closedPort()
    const send = () => twilioAt({ port } as Receiver, '127.0.0.1').send(TEXT, sendContext())
    const failure = `No connection could be made to 127.0.0.1:${port} (ECONNREFUSED).`
    const remedy = 'https_proxy has no effect: set NODE_USE_ENV_PROXY=1, or use the option "proxy".'
    expect(failureOf(await send()).message).toBe(`${failure} ${remedy}`)
    environment(1, { NODE_USE_ENV_PROXY: '', https_proxy: '' })
    expect(failureOf(await send()).message).toBe(failure)
  })

  it.each(['127.0.0.1:1', 'socks5://u:hunter2@proxy'])(
    'is not read where the option is given: %s',
    async (wrong) => {
      const [server, proxy] = [await texts(), await proxyServer()]
      environment(1, { https_proxy: wrong })
      const notifier = await started({
        channels: { sms: twilioAt(server) },
        proxy: `http://127.0.0.1:${proxy.port}`,
      })
      await notifier.send({ channel: 'sms', to: TEXT.to, body: 'Hi' })
      await eventually(() => server.requests.length === 1)
      expect(proxy.asked).toEqual([`api.example.test:${server.port}`])
    },
  )

  it('that is no URL ends the creation of a notifier, and a message without a notifier', async () => {
    const [server, apple] = [await texts(), await apnsServer()]
    environment(1, { https_proxy: 'socks5://u:hunter2@proxy' })
    const message = expect.stringContaining('"https_proxy" must be the URL of an HTTP proxy')
    const sms = twilioAt(server)
    expect(() => createNotifier({ channels: { sms } })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', message }),
    )
    const outcomes = [await sms.send(TEXT, sendContext()), await sendPush(apnsProvider(apple.origin))]
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        kind: 'retry',
        code: 'provider_unavailable',
        scope: 'provider',
        message,
      })
      expect(JSON.stringify(outcome)).not.toContain('hunter2')
    }
    expect(server.connections).toBe(0)
  })

  it('is not used for the hosts in NO_PROXY', async () => {
    const [server, proxy] = [await texts(), await proxyServer()]
    environment(proxy.port, { no_proxy: 'localhost' })
    const notifier = await started({ channels: { sms: twilioAt(server, 'localhost') } })
    await notifier.send({ channel: 'sms', to: TEXT.to, body: 'Hi' })
    await eventually(() => server.requests.length === 1)
    expect(proxy.asked).toEqual([])
  })

  it('is not used for addresses that users choose', async () => {
    const proxy = await proxyServer()
    environment(proxy.port, { http_proxy: `http://127.0.0.1:${proxy.port}` })
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      status: 200,
    })
    expect(proxy.asked).toEqual([])
  })
})

describe('a proxy', () => {
  it('may speak TLS, and its connections are kept', async () => {
    const [server, proxy] = [await texts(), await proxyServer({ secure: true })]
    const provider = await opened(twilioAt(server), `https://localhost:${proxy.port}`)
    for (const _ of [1, 2]) {
      expect(await provider.send(TEXT, sendContext())).toMatchObject({ kind: 'accepted' })
      await pause(10)
    }
    expect(proxy.asked).toEqual([`api.example.test:${server.port}`])
  })

  it.each([
    [407, 'The proxy answered 407: its URL needs the right user name and password.'],
    [403, 'The proxy answered 403 and connects nothing to api.example.test:'],
    [502, 'The proxy answered 502 and connects nothing to api.example.test:'],
  ])('that refuses with %i lets the message be sent later', async (status, message) => {
    const [server, proxy] = [await texts(), await proxyServer({ status })]
    const provider = await opened(twilioAt(server), `http://u:hunter2@127.0.0.1:${proxy.port}`)
    const outcome = await provider.send(TEXT, sendContext())
    expect(outcome).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
      message: expect.stringContaining(message),
    })
    expect(JSON.stringify(outcome)).not.toContain('hunter2')
    expect(server.connections).toBe(0)
  })

  it('that is down lets the message be sent later', async () => {
    const server = await texts()
    const port = await closedPort()
    const provider = await opened(twilioAt(server), `http://u:hunter2@127.0.0.1:${port}`)
    expect(await provider.send(TEXT, sendContext())).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      message: `The proxy 127.0.0.1:${port} cannot be used (ECONNREFUSED).`,
    })
  })

  it.each([
    ['http', true, 'If it speaks TLS, its URL begins with https://.'],
    ['https', false, 'If it speaks no TLS, its URL begins with http://.'],
  ])('that does not speak %s is named, with the remedy', async (scheme, secure, remedy) => {
    const [server, proxy] = [await texts(), await proxyServer({ secure })]
    const provider = await opened(twilioAt(server), `${scheme}://u:hunter2@localhost:${proxy.port}`)
    const { message } = failureOf(await provider.send(TEXT, sendContext()))
    expect(message).toMatch(
      new RegExp(`^The proxy localhost:${proxy.port} cannot be used \\(\\w+\\)\\. ${remedy}$`),
    )
  })

  it('does not vouch for the server', async () => {
    const [server, proxy] = [await texts(), await proxyServer()]
    const provider = await opened(twilioAt(server, 'api.example.org'), `http://127.0.0.1:${proxy.port}`)
    expect(await provider.send(TEXT, sendContext())).toMatchObject({
      kind: 'retry',
      message: `No connection could be made to api.example.org:${server.port} (ERR_TLS_CERT_ALTNAME_INVALID).`,
    })
    expect(server.requests).toEqual([])
  })
})

describe('through a proxy', () => {
  it('APNs is reached, over HTTP/2', async () => {
    const [server, proxy] = [await apnsServer(), await proxyServer()]
    const provider = apnsProvider(`https://push.example.test:${server.port}`)
    await opened(provider, `http://127.0.0.1:${proxy.port}`)
    expect(await sendPush(provider)).toMatchObject({ kind: 'accepted' })
    expect(proxy.asked).toEqual([`push.example.test:${server.port}`])
  })

  it('APNs is tried again if the proxy refuses', async () => {
    const [server, proxy] = [await apnsServer(), await proxyServer({ status: 407 })]
    const provider = await opened(apnsProvider(server.origin), `http://127.0.0.1:${proxy.port}`)
    expect(await sendPush(provider)).toMatchObject({
      kind: 'retry',
      message: 'The proxy answered 407: its URL needs the right user name and password.',
    })
  })

  it('FCM is reached, and where its tokens come from', async () => {
    const [tokens, server, proxy] = [
      await closedAfterTest(
        httpsReceiver((response) =>
          response.end('{"access_token":"t","expires_in":3600,"token_type":"Bearer"}'),
        ),
      ),
      await closedAfterTest(
        httpsReceiver((response) => response.end('{"name":"projects/demo-project/messages/1"}')),
      ),
      await proxyServer(),
    ]
    const serviceAccount = testAccount(`https://tokens.example.test:${tokens.port}`).file
    const provider = fcm({ serviceAccount, baseUrl: `https://fcm.example.test:${server.port}` })
    onTestFinished(() => provider.close?.())
    await opened(provider, `http://127.0.0.1:${proxy.port}`)
    expect(await provider.send({ ...TEXT, to: FCM_TOKEN }, sendContext())).toMatchObject({
      kind: 'accepted',
    })
    expect(proxy.asked).toEqual([`tokens.example.test:${tokens.port}`, `fcm.example.test:${server.port}`])
  })

  it('Amazon SES is reached', async () => {
    const [server, proxy] = [
      await closedAfterTest(
        httpsReceiver((response) => {
          response.setHeader('content-type', 'application/json').end('{"MessageId":"1"}')
        }),
      ),
      await proxyServer(),
    ]
    const provider = ses({
      region: 'eu-central-1',
      from: 'a@example.org',
      credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'x' },
      baseUrl: `https://email.example.test:${server.port}`,
    })
    onTestFinished(() => provider.close?.())
    await opened(provider, `http://127.0.0.1:${proxy.port}`)
    expect(await provider.send(mailMessage(), sendContext())).toMatchObject({ kind: 'accepted' })
    expect(proxy.asked).toEqual([`email.example.test:${server.port}`])
  })
})

describe('the option "proxy" of smtp', () => {
  const mailer = (port: number, proxy: string): Provider => {
    const provider = smtp({ host: 'mail.example.test', port, from: 'a@example.org', proxy })
    onTestFinished(() => provider.close?.())
    return provider
  }

  it('leads to the mail server', async () => {
    const [server, proxy] = [await startMailServer(), await proxyServer({ credentials: `user:${PASSWORD}` })]
    onTestFinished(server.close)
    const provider = mailer(server.port, `http://${WITH_PASSWORD}127.0.0.1:${proxy.port}`)
    expect(await provider.send(mailMessage(), sendContext())).toMatchObject({ kind: 'accepted' })
    expect(server.inbox).toHaveLength(1)
    expect(proxy.asked).toEqual([`mail.example.test:${server.port}`])
    await provider.check?.()
  })

  it('lets a mail be sent later that the proxy refuses', async () => {
    const proxy = await proxyServer({ status: 403 })
    const outcome = await mailer(587, `http://u:hunter2@127.0.0.1:${proxy.port}`).send(
      mailMessage(),
      sendContext(),
    )
    expect(outcome).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      message: expect.stringContaining(
        'The proxy answered 403 and connects nothing to mail.example.test:587.',
      ),
    })
    expect(JSON.stringify(outcome)).not.toContain('hunter2')
  })

  it('must be a URL of an HTTP proxy', () => {
    expect(() => mailer(25, 'socks5://u:hunter2@proxy')).toThrow(/"proxy": must be the URL of an HTTP proxy/)
  })
})
