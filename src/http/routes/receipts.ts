import type { ReceiptSource } from '../../services/receipts/records.ts'
import type { Service } from '../../services/service.ts'
import { receiptReply } from '../schemas/service.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

function sourceOf({ organization, channel = '', provider = '' }: RequestContext['params']): ReceiptSource {
  return { organizationId: organization, channel, provider }
}

async function take({ request, params, bytes }: RequestContext, service: Service): Promise<HandlerResult> {
  const { method, path, query } = request
  const { contentType, body } = await service.receipts.take(sourceOf(params), {
    method,
    target: query === '' ? path : `${path}?${query}`,
    host: request.header('host'),
    headers: request.headers(),
    body: bytes,
  })
  return { text: { contentType, content: body } }
}

const common = {
  tag: 'Receipts',
  method: 'POST',
  permission: 'public',
  limit: 'receipts',
  status: 200,
  unknown: 'not_found',
  errors: ['not_found', 'invalid_receipt_signature'],
  raw: true,
  beforeBody: (params: RequestContext['params'], service: Service) =>
    service.receipts.assertTaken(sourceOf(params)),
  response: receiptReply,
  handler: take,
} as const

export const receiptRoutes: readonly Route[] = [
  {
    ...common,
    operation: 'postReceipt',
    summary: 'Take in what a provider reports about messages; it proves itself by its signature',
    paths: ['/receipts/{channel}/{provider}'],
  },
  {
    ...common,
    operation: 'postOrganizationReceipt',
    summary: "Take in what an organization's own provider reports",
    paths: ['/receipts/{organization}/{channel}/{provider}'],
  },
]
