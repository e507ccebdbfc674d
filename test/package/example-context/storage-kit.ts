import type { MessageReceivedEvent } from 'carillon'
import type {
  AcceptRequest,
  AcceptRow,
  ClaimedJob,
  EndpointAttempt,
  EndpointHealth,
  EndpointRow,
  Fact,
  FactColumns,
  FactState,
  LaneDemand,
  Notification,
  OrganizationValue,
  OwnProviderEvent,
  PageRequest,
  RecordKind,
  WebhookEndpoint,
} from 'carillon/storage-kit'
import type { ClientBase } from 'pg'

export declare const accepted: AcceptRow
export declare const attempt: EndpointAttempt
export declare const client: ClientBase
export declare const columns: FactColumns
export declare const endpoint: WebhookEndpoint
export declare const event: OwnProviderEvent
export declare const facts: readonly Fact[]
export declare const found: readonly string[]
export declare const health: EndpointHealth
export declare const ids: readonly string[]
export declare const jobs: readonly ClaimedJob[]
export declare const kind: RecordKind<{ readonly name: string }>
export declare const kinds: readonly RecordKind[]
export declare const named: readonly string[]
export declare const notification: Notification
export declare const notifications: readonly Notification[]
export declare const now: number
export declare const organization: OrganizationValue
export declare const page: PageRequest
export declare const quota: { readonly limit: number }
export declare const received: MessageReceivedEvent['data']
export declare const request: AcceptRequest & { readonly lanes: readonly LaneDemand[] }
export declare const row: EndpointRow
export declare const seq: number
export declare const seqs: readonly number[]
export declare const state: FactState
export declare const used: number

/** Reads or writes with SQL. */
export declare function query<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>
export declare function dueJobsOf(lane: string): { readonly organizationId: string; readonly high: boolean }[]
export declare function isRefusal(error: unknown): boolean
export declare function isStored(ids: readonly string[]): Promise<boolean>
export declare function publish(event: object): void
