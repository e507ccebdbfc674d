import type { AllOrganizations } from '../all-organizations.ts'
import type { SendInput } from '../core/accept/input.ts'
import type { BatchResult, SentNotification, ValidatedSend } from '../core/accept/model.ts'
import type { Explanation } from '../core/explain/model.ts'
import type { Identity } from '../core/limits/model.ts'
import type { NotificationRecord } from '../core/notification/model.ts'
import type { RescheduleInput } from '../core/notification/reschedule-input.ts'
import type { List } from '../core/records/list.ts'
import type { OpenApiDocument } from '../core/rest/openapi.ts'
import type { Open } from '../core/rest/schemas.ts'
import type { Attachments } from '../features/attachments/api.ts'
import type { UploadInput, UploadRecord } from '../features/attachments/model.ts'
import type { Organizations } from '../features/organizations/api.ts'
import type { Operations } from '../features/statistics/schemas.ts'
import type { NotificationsApi, Tenant } from '../tenant.ts'
import type { CallOptions } from './request.ts'

/** A list: `await` gives one page, `for await` the items of this page and all that follow. */
export interface Pages<Item> extends Promise<List<Item>>, AsyncIterable<Item> {}

/**
 * The methods of an API in code, over HTTP: each takes {@link CallOptions} after its own parameters. Codes of errors and names
 * of events are texts, because later versions of the service add some.
 */
export type Remote<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: infer Input) => Promise<infer Output>
    ? (...input: [...Input, options?: CallOptions | undefined]) => Answered<Output>
    : Remote<Api[Name]>
}

type Answered<Output> =
  Output extends List<infer Item>
    ? Pages<Open<Item>>
    : Promise<Output extends AsyncIterable<unknown> ? Output : Open<Output>>

export interface KeyedCallOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. A request with the same key is accepted once, within 24 hours. Default: a random one for
   * each call, so that its retries send nothing twice.
   */
  readonly idempotencyKey?: string | undefined
}

/** What differs from the methods in code. */
interface Own {
  send(message: SendInput, options?: KeyedCallOptions): Promise<Open<SentNotification>>
  /** Performs all checks of a send, and renders the message; stores and sends nothing. */
  validate(message: SendInput, options?: CallOptions): Promise<Open<ValidatedSend>>
  /** Accepts up to 10,000 notifications. Each is validated separately: an invalid one does not fail the others. */
  sendBatch(messages: readonly SendInput[], options?: KeyedCallOptions): Promise<Open<BatchResult>>
  /** Says of every gate in order what it decides about a message that is not sent. */
  explain(message: SendInput, options?: CallOptions): Promise<readonly Open<Explanation>[]>
  readonly notifications: Remote<Omit<NotificationsApi, 'cancel' | 'reschedule' | 'resend'>> & {
    /** Cancels a notification that waits, for its first attempt or for another one. */
    cancel(id: string, options?: CallOptions): Promise<Open<NotificationRecord>>
    /** Changes `sendAt` of a scheduled notification; null sends it now. */
    reschedule(id: string, change: RescheduleInput, options?: CallOptions): Promise<Open<NotificationRecord>>
    /** Sends the same message again as a new notification. */
    resend(id: string, options?: KeyedCallOptions): Promise<Open<SentNotification>>
  }
  readonly attachments: Remote<Pick<Attachments, 'delete'>> & {
    /** Stores a file for 24 hours. A text is its content in padded base64. */
    upload(
      content: string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob,
      file: UploadInput,
      options?: CallOptions,
    ): Promise<UploadRecord>
  }
}

/** The methods of an organization, over HTTP. */
export interface OrganizationClient extends Remote<Omit<Tenant, keyof Own | 'waitFor' | '~parts'>>, Own {}

/** A client of a REST API: for the organization of its key, and with an operator key for all. */
export interface Client extends OrganizationClient {
  /** The methods of one organization. An operator key may act for any, another key only for its own. */
  organization(id: string): OrganizationClient
  /** What operators see of all organizations together. */
  readonly allOrganizations: Remote<Omit<AllOrganizations, 'listen' | 'forget'>>
  /** For operator keys. */
  readonly organizations: Remote<Organizations>
  /** The name and permissions of the key. */
  identity(options?: CallOptions): Promise<Identity>
  /** The health of the service in detail, and what waits in it, for operator keys. */
  operations(options?: CallOptions): Promise<Open<Operations>>
  /** Whether the service accepts requests. */
  health(options?: CallOptions): Promise<{ readonly status: 'ok' | 'degraded' }>
  /** The OpenAPI document of the service. */
  openApi(options?: CallOptions): Promise<OpenApiDocument>
}
