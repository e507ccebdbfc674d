import { Registry } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { prometheusMetrics } from '../../adapters/telemetry/prometheus.ts'
import { createNotifier, email, type Notifier, perOrganization } from '../../src/index.ts'
import { verifyWebhook, type WebhookEvent } from '../../src/webhook-receiver/index.ts'
import { eventually } from '../support/eventually.ts'
import { httpReceiver } from '../support/receivers.ts'
import { type ScriptedSmtp, scriptedSmtp } from '../support/scripted-smtp.ts'

const message = { channel: 'email', subject: 'Hi', text: 'Hi' } as const
const WRONG_PASSWORD = { auth: '535 5.7.8 Username and password not accepted' }

async function mailServer(): Promise<ScriptedSmtp> {
  const server = await scriptedSmtp()
  onTestFinished(() => server.close())
  return server
}

/** What the endpoint of an organization receives about providers. */
async function told(notifier: Notifier, organizationId: string): Promise<() => WebhookEvent[]> {
  const receiver = await httpReceiver((response) => response.end())
  onTestFinished(() => receiver.close())
  const url = `http://127.0.0.1:${receiver.port}/`
  const events = ['provider.paused', 'provider.resumed'] as const
  const { secret } = await notifier.organization(organizationId).webhooks.create({ url, events })
  return () => receiver.requests.map(({ body, headers }) => verifyWebhook(body, headers, secret))
}

it('a wrong password is told to its organization alone, once per pause, and named in the metrics', async () => {
  const servers = new Map([
    ['org_acme', await mailServer()],
    ['org_beta', await mailServer()],
  ])
  const acme = servers.get('org_acme') as ScriptedSmtp
  acme.play(WRONG_PASSWORD)
  const register = new Registry()
  const others = smtp({ host: '127.0.0.1', port: (await mailServer()).port, from: 'shop@example.org' })
  const notifier = createNotifier({
    channels: {
      email: perOrganization(
        email,
        (organizationId) => {
          const server = servers.get(organizationId)
          if (server === undefined) return null
          const auth = { user: 'mailer', pass: 'correct horse' }
          return smtp({ host: '127.0.0.1', port: server.port, from: 'no-reply@example.org', auth })
        },
        others,
      ),
    },
    delivery: { pollMs: 50, maxPauseMs: 1_000 },
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    telemetry: prometheusMetrics({ register }),
  })
  onTestFinished(() => notifier.stop())
  await notifier.start()
  const pauses: unknown[] = []
  notifier.on('provider.paused', (event) => void pauses.push(event))
  for (const id of servers.keys()) await notifier.organizations.create({ id, name: id })
  const [toAcme, toBeta, toDefault] = await Promise.all(
    ['org_acme', 'org_beta', 'org_default'].map((id) => told(notifier, id)),
  )
  const own = notifier.organization('org_acme')
  const waiting = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) => own.send({ ...message, to: `${name}@example.com` })),
  )
  for (const id of ['org_beta', 'org_default']) {
    const sent = await notifier.organization(id).send({ ...message, to: 'ada@example.com' })
    expect(await notifier.organization(id).waitFor(sent.id)).toMatchObject({ status: 'sent' })
  }

  const [paused] = await eventually(() => (toAcme?.().length === 0 ? undefined : toAcme?.()))
  expect(paused).toEqual({
    event: 'provider.paused',
    data: {
      id: expect.stringMatching(/^prov_/),
      channel: 'email',
      provider: 'smtp',
      organizationId: 'org_acme',
      timestamp: expect.stringMatching(/Z$/),
      code: 'provider_auth_failed',
      message: expect.stringContaining('5.7.8'),
      forMs: 1_000,
    },
  })
  const gauge = async (): Promise<string[]> =>
    (await register.metrics()).split('\n').filter((line) => line.startsWith('carillon_provider_paused{'))
  const line = (organization: string, value: number): string =>
    `carillon_provider_paused{channel="email",provider="smtp",organization="${organization}"} ${value}`
  await eventually(async () => ((await gauge()).includes(line('org_acme', 1)) ? true : undefined))
  expect((await gauge()).sort()).toEqual([line('', 0), line('org_acme', 1)])

  acme.play({})
  for (const { id } of waiting) expect(await own.waitFor(id)).toMatchObject({ status: 'sent' })
  const all = await eventually(() => {
    const events = toAcme?.() ?? []
    return events.at(-1)?.event === 'provider.resumed' ? events : undefined
  })
  expect(all.slice(0, -1)).toEqual(pauses)
  expect(all.at(-1)).toMatchObject({ data: { provider: 'smtp', organizationId: 'org_acme' } })
  expect(await gauge()).toEqual([line('', 0)])
  expect([toBeta?.(), toDefault?.()]).toEqual([[], []])
})
