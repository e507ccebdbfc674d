import { type PushKind, push } from '../../../src/core/channels/push.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { fcmOutcome, refusesAccess } from './errors.ts'
import { composeFcm, faultOf, REGISTRATION_TOKEN } from './message.ts'
import { type FcmOptions, type FcmServiceAccount, resolveFcmOptions } from './options.ts'
import { googleToken } from './token.ts'

export type { FcmOptions, FcmServiceAccount }

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'

/**
 * Firebase Cloud Messaging (HTTP v1) with a service account. A message's `subject` is the title. The app receives
 * `push.data`.
 *
 * FCM sends no receipts, so the status ends at `sent`. It does not deduplicate, but a second message of a notification
 * has the same tag and replaces the first on the device.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const push = fcm({ serviceAccount: JSON.parse(await readFile('service-account.json', 'utf8')) })
 * const notifier = createNotifier({ channels: { push } })
 */
export function fcm(options: FcmOptions): Provider<PushKind> {
  const resolved = resolveFcmOptions(options)
  const { name, baseUrl, projectId, account, timeoutMs, maxConcurrent, maxPerSecond, onAmbiguous, retry } =
    resolved
  const http = providerHttp({ maxConnections: maxConcurrent, timeoutMs, secrets: [] })
  const token = googleToken(http, account, SCOPE)
  const url = `${baseUrl}/v1/projects/${encodeURIComponent(projectId)}/messages:send`

  return {
    name,
    kind: push,
    maxConcurrent,
    maxPerSecond,
    // A message may wait for the token before its own deadline starts.
    timeoutMs: 2 * timeoutMs + 1_000,
    onAmbiguous,
    retry,
    accepts: (to) => REGISTRATION_TOKEN.test(to),

    async send(message, context) {
      const fault = faultOf(message)
      if (fault !== null) return fault
      const access = await token.get(context.signal)
      if (access.kind !== 'token') return access
      return http.send(
        {
          url,
          headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: composeFcm(resolved, message, context) }),
          signal: context.signal,
        },
        (answer) => {
          const renewed = refusesAccess(answer) && token.refused(access.token)
          return fcmOutcome(answer, access.token, renewed)
        },
      )
    },

    open: async ({ proxyFor }) => http.through(proxyFor),

    async check() {
      const access = await token.get(AbortSignal.timeout(timeoutMs))
      if (access.kind === 'token') return
      const why = access.kind === 'ambiguous' ? access.reason : access.message
      throw new NotifierError(access.code ?? 'provider_error', { message: `FCM cannot be used: ${why}` })
    },

    close: () => http.close(),
  }
}
