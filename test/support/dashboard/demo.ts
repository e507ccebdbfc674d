import type { Notifier } from '../../../src/index.ts'

/** Ids of what a demonstration shows in detail. */
export interface Demo {
  readonly notification: string
  readonly template: string
  readonly endpoint: string
}

const PEOPLE = ['ada', 'grace', 'linus', 'margaret', 'barbara', 'edsger', 'donald', 'katherine']

/** For the notifier: the endpoint of the demonstration is on this machine, and does not answer. */
export const DEMO_WEBHOOKS = { allow: ['127.0.0.1/32'], allowHttp: true }

/** Fills an organization with what a shop would have. `name` is put into every text that people write. */
export async function plantDemo(notifier: Notifier, name = 'Acme'): Promise<Demo> {
  await notifier.organizations.create({ id: 'org_acme', name, plan: 'starter' })
  const acme = notifier.organization('org_acme')
  const welcome = await acme.templates.create({
    name: 'welcome',
    channel: 'email',
    subject: `Welcome to ${name}, {{name}}`,
    description: `The first mail of ${name}`,
    html: `<h1 style="font-family:sans-serif;color:#2f4fd0">Welcome, {{name}}</h1>\n<p>Your account at ${name} is ready.</p>\n<p><a href="https://acme.example/start">Get started</a></p>\n`,
  })
  await acme.templates.update('welcome', { subject: `Welcome, {{name}}` })
  await acme.templates.create({
    name: 'password-reset',
    channel: 'email',
    subject: 'Reset your password',
    text: 'Hello {{name}},\n\nreset your password: {{url}}\n',
  })
  await acme.templates.create({ name: 'code', channel: 'sms', body: `${name}: your code is {{code}}` })
  for (const [index, permission] of (['Write', 'Full Access', 'Read Only'] as const).entries()) {
    const names = ['Production', 'Deployment', 'Reporting']
    await acme.apiKeys.create({ name: `${names[index]} ${name}`, permission })
  }
  const endpoint = await acme.webhooks.create({ url: 'http://127.0.0.1:9876/events' })
  let notification = ''
  for (const [index, person] of PEOPLE.entries()) {
    const bounces = index % 3 === 2
    const to = `${bounces ? 'bounce.' : ''}${person}@example.com`
    const { id } = await acme.send({ channel: 'email', to, template: 'welcome', variables: { name: person } })
    if (bounces) notification = id
  }
  await acme.send({
    channel: 'email',
    to: 'later@example.com',
    subject: `See you tomorrow, says ${name}`,
    body: 'Hi',
    sendAt: new Date(Date.now() + 86_400_000),
  })
  const quietHours = { zone: 'Europe/Vienna', windows: [{ from: '22:00', to: '07:00' }] }
  await acme.categories.create({ id: 'news', name: `News of ${name}`.slice(0, 100), quietHours })
  await acme.preferences.change(
    { recipient: `user of ${name}` },
    { quietHours: false, categories: { news: false } },
  )
  await acme.suppressions.add({ channel: 'email', to: 'former@example.com' })
  await acme.waitFor(notification, { timeoutMs: 30_000 })
  return { notification, template: welcome.id, endpoint: endpoint.id }
}
