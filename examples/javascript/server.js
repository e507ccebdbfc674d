import { createServer } from 'node:http'
import { isNotifierError } from 'carillon'
import { notifierHandler } from 'carillon/node'
import notifier, { mailbox } from './carillon.config.js'
import { welcome } from './welcome.js'

const api = notifierHandler(notifier, { prefix: '/notifications', https: 'allow-loopback' })
const mails = notifierHandler(mailbox, { prefix: '/mailbox' })

/** @param {string} url */
async function signUp(url) {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  if (pathname !== '/sign-up') return new Response('Not Found', { status: 404 })
  const [name, email] = [String(searchParams.get('name')), String(searchParams.get('email'))]
  try {
    return Response.json(await welcome(notifier, { name, email }), { status: 201 })
  } catch (error) {
    if (!isNotifierError(error)) return new Response('Internal Server Error', { status: 500 })
    return Response.json({ code: error.code, message: error.message }, { status: error.status })
  }
}

const server = createServer((req, res) => {
  const own = async () => {
    const answer = await signUp(req.url ?? '/')
    res.writeHead(answer.status).end(await answer.text())
  }
  api(req, res, () => mails(req, res, own)) // each calls the next for other paths
})

await notifier.start()
server.listen(3000)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => notifier.stop()))
