import { type NotifierFetch, notifierFetch } from 'carillon/fetch'
import { runningNotifier } from '@/notifier'

const connection = { remoteAddress: '127.0.0.1', encrypted: false }
const https = process.env.NODE_ENV === 'development' ? 'off' : 'require'
let api: NotifierFetch | undefined

async function handle(request: Request): Promise<Response> {
  const notifier = await runningNotifier()
  api ??= notifierFetch(notifier, { prefix: '/notifications', https, trustedProxies: ['loopback'] })
  return (await api(request, connection)) ?? new Response('Not Found', { status: 404 })
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT }
