import { fetchReceiver } from 'carillon/webhooks'

export function POST(request: Request): Promise<Response> {
  const secret = process.env.WEBHOOK_SECRET ?? ''
  const receive = fetchReceiver({ secret, handle: ({ event, data }) => console.log(event, data) })
  return receive(request)
}
