import { isNotifierError } from 'carillon'
import { runningNotifier } from '@/notifier'

export async function POST(request: Request): Promise<Response> {
  const to = String(new URL(request.url).searchParams.get('to'))
  try {
    const notifier = await runningNotifier()
    return Response.json(await notifier.send({ channel: 'email', to, subject: 'Welcome', body: 'Hello' }))
  } catch (error) {
    if (!isNotifierError(error)) throw error
    return Response.json({ code: error.code, message: error.message }, { status: error.status })
  }
}
