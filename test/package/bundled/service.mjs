// A service as an application bundles it: a channel of its own, a provider over HTTP, the REST API and the dashboard.
import { createNotifier, defineChannel, defineTemplates } from 'carillon'
import { dashboard } from 'carillon/dashboard'
import { notifierFetch } from 'carillon/fetch'
import { postmark } from 'carillon/postmark'
import { sqlite } from 'carillon/sqlite'

/** @type {string[]} */
const pages = []
const pager = defineChannel({
  name: 'pager',
  recipient: 'a pager number',
  checkRecipient: (to) => (/^\d{4}$/.test(to) ? null : {}),
})

const notifier = createNotifier({
  storage: sqlite({ file: ':memory:' }),
  channels: {
    pager: {
      kind: pager,
      name: 'own',
      async send({ to, body }) {
        pages.push(`${to}: ${body}`)
        return { kind: 'accepted' }
      },
    },
    email: postmark({
      serverToken: 'token',
      from: 'acme@example.com',
      baseUrl: process.env.POSTMARK_URL,
    }),
  },
  templates: defineTemplates({
    welcome: { channel: 'email', subject: 'Welcome', html: '<p>Hello <b>{{name}}</b></p>' },
  }),
})

const connection = { remoteAddress: '127.0.0.1', encrypted: false }
const rest = notifierFetch(notifier, { prefix: '/api', https: 'off' })
const pagesOfDashboard = notifierFetch(dashboard(notifier), { prefix: '/dashboard', https: 'off' })

/** @type {Promise<string> | undefined} */
let key

async function start() {
  await notifier.start()
  await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
  const { apiKeys } = notifier.organization('org_acme')
  return (await apiKeys.create({ name: 'test', permission: 'Full Access' })).secret
}

/** @param {Request} request */
export async function answer(request) {
  key ??= start()
  const secret = await key
  const { pathname } = new URL(request.url)
  if (pathname === '/key') return new Response(secret)
  if (pathname === '/pages') return Response.json(pages)
  return (
    (await rest(request, connection)) ??
    (await pagesOfDashboard(request, connection)) ??
    new Response('Not Found', { status: 404 })
  )
}

export async function stop() {
  await notifier.stop()
}
