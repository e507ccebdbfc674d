import * as z from 'zod'
import type { HandlerResult, RequestContext, Route, Tag } from '../../core/rest/route.ts'
import type { ReceiptArrival, ReceiptReply, ReceiptSource } from './model.ts'
import type { Receipts } from './service.ts'

/** The methods of a notifier that the handlers use. */
export type Served = { readonly receipts: Receipts }

const TAG: Tag = { name: 'Receipts', description: 'Reports of providers.' }

function sourceOf({ organization, channel = '', provider = '' }: RequestContext['params']): ReceiptSource {
  return { organizationId: organization, channel, provider }
}

function arrivalOf({ request, bytes }: RequestContext): ReceiptArrival {
  const { method, path, query } = request
  return {
    method,
    target: query === '' ? path : `${path}?${query}`,
    host: request.header('host'),
    headers: request.headers(),
    body: bytes,
  }
}

function resultOf({ contentType, body }: ReceiptReply): HandlerResult {
  return { text: { contentType, content: body } }
}

const common = {
  tag: TAG,
  permission: 'public',
  needsNoKey: 'the provider authenticates its reports',
  // A provider sends as many reports as there are messages.
  limit: null,
  anyQuery: true,
  status: 200,
  unknown: 'not_found',
  errors: ['not_found', 'invalid_receipt_signature'],
  // What the provider expects; each provider defines it.
  response: z.string(),
  mediaType: '*/*',
  pathParameters: {
    organization: "Identifier of the provider's organization.",
    channel: 'Channel of the provider.',
    provider: 'Name of the provider.',
  },
} as const

const taking = {
  ...common,
  method: 'POST',
  raw: true,
  beforeBody: (params: RequestContext['params'], notifier: Served) =>
    notifier.receipts.assertTaken(sourceOf(params)),
  handler: async (context: RequestContext, { receipts }: Served) =>
    resultOf(await receipts.take(sourceOf(context.params), arrivalOf(context))),
} as const

const confirming = {
  ...common,
  method: 'GET',
  errors: [...common.errors, 'method_not_allowed'],
  handler: async (context: RequestContext, { receipts }: Served) =>
    resultOf(await receipts.confirm(sourceOf(context.params), arrivalOf(context))),
} as const

const SHARED = ['/receipts/{channel}/{provider}']
const OWN = ['/receipts/{organization}/{channel}/{provider}']

export const receiptRoutes: readonly Route<Served>[] = [
  {
    ...taking,
    operation: 'postReceipt',
    summary: 'Receive the reports of a provider about messages',
    paths: SHARED,
  },
  {
    ...taking,
    operation: 'postOrganizationReceipt',
    summary: "Receive the reports of an organization's own provider",
    paths: OWN,
  },
  {
    ...confirming,
    operation: 'confirmReceipts',
    summary: 'Answer the verification request that a provider sends before its reports',
    paths: SHARED,
  },
  {
    ...confirming,
    operation: 'confirmOrganizationReceipts',
    summary: "Answer the verification request of an organization's own provider",
    paths: OWN,
  },
]
