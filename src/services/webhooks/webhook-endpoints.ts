import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { SPEC_EVENT_TYPES } from '../../domain/facts.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { parseInput } from '../../domain/input/parse.ts'
import { webhookEndpointInput } from '../../domain/input/webhook-endpoint.ts'
import type { OutgoingHttp } from '../../ports/outgoing.ts'
import type { WebhookSigner } from '../../ports/signer.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../ports/storage/webhook-endpoints.ts'
import type { Notifier } from '../notifier.ts'
import type { Organizations } from '../organizations/organizations.ts'
import type { WebhookEndpointRecord } from '../records.ts'
import { listOf, organizationOf, owned, pageRequest } from '../scope.ts'
import type { SecretBox } from '../secrets.ts'

/** The webhook endpoint use cases of a notifier. `box` is known once the notifier has started. */
export function createWebhookEndpoints(
  storage: Storage,
  ids: IdGenerator,
  organizations: Organizations,
  outgoing: OutgoingHttp,
  signer: WebhookSigner,
  box: () => SecretBox,
): Notifier['webhooks'] {
  return {
    async create(input, scope) {
      const parsed = parseInput(webhookEndpointInput, input)
      const refusal = outgoing.refuses(parsed.url)
      if (refusal !== null)
        throw new NotifierError('blocked_address', { message: refusal, details: { field: 'url' } })
      const organizationId = await organizations.existing(scope)
      const secret = signer.newSecret()
      const endpoint = await storage.webhookEndpoints.create({
        id: ids.random('wh'),
        organizationId,
        url: parsed.url,
        events: parsed.events ?? SPEC_EVENT_TYPES,
        successStatus: parsed.successStatus ?? '200',
        secrets: [box().seal(secret)],
      })
      return { ...view(endpoint), secret }
    },
    async get(id, scope) {
      return view(owned(await storage.webhookEndpoints.get(id), scope, 'not_found'))
    },
    async list(query) {
      const request = pageRequest(query)
      return listOf(await storage.webhookEndpoints.list(organizationOf(query), request), request, view)
    },
    async delete(id, scope) {
      owned(await storage.webhookEndpoints.get(id), scope, 'not_found')
      if (!(await storage.webhookEndpoints.delete(id))) throw new NotifierError('not_found')
    },
  }
}

function view(endpoint: WebhookEndpoint): WebhookEndpointRecord {
  const { id, url, events, successStatus, status, disabledReason, createdAt } = endpoint
  return {
    id,
    url,
    events,
    successStatus,
    status,
    disabledReason,
    createdAt: new Date(createdAt).toISOString(),
  }
}
