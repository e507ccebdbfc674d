import { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'
import { assertOptionNames, FUNCTION } from '../core/errors/option-names.ts'
import type { WebhookDelivery, WebhookEvent } from './event.ts'
import type { WebhookHeaders } from './headers.ts'
import { createVerifier, VERIFY_OPTIONS, type Verified, type VerifyOptions } from './verify.ts'

/** Options of the receivers. */
export interface ReceiverOptions extends VerifyOptions {
  /** The endpoint's signing secret (`whsec_…`), or several during a rotation. */
  readonly secret: string | readonly string[]
  /**
   * Processes an event. The answer is 200 once it resolves, and 500 if it rejects; the sender then repeats the event.
   * The sender waits 5 seconds, so store the event here and process it later.
   */
  readonly handle: (event: WebhookEvent, delivery: WebhookDelivery) => Promise<void> | void
  /** Receives errors of `handle`. @default a process warning */
  readonly onError?: ((error: unknown, delivery: WebhookDelivery) => void) | undefined
  /** Maximum size of a body in bytes; a larger one is answered with 413. @default 1_048_576 (1 MiB) */
  readonly maxBodyBytes?: number | undefined
}

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/**
 * A receiver, independent of the framework: all checks are here. Express, Fastify, Koa and `Request` have a file each,
 * because each hides the raw body behind its parsers in another way and takes the answer in a different form.
 */
export interface Receiver {
  readonly maxBodyBytes: number
  /** @param read returns the raw body; its errors become an answer too */
  receive(headers: WebhookHeaders, read: () => Promise<string | Uint8Array>): Promise<Answer>
}

const MAX_BYTES = 1024 * 1024
const WARNING = 'CarillonWebhookWarning'

/** @throws NotifierError `invalid_configuration` */
export function createReceiver(options: ReceiverOptions): Receiver {
  assertOptionNames('A webhook receiver', options, {
    secret: true,
    handle: { ...FUNCTION, required: true },
    onError: FUNCTION,
    maxBodyBytes: {
      expected: 'a number of bytes above 0',
      holds: (value) => typeof value === 'number' && value > 0,
    },
    ...VERIFY_OPTIONS,
  })
  const { secret, handle, onError = warn, maxBodyBytes = MAX_BYTES } = options
  const verify = createVerifier(secret, options)
  return {
    maxBodyBytes,
    async receive(headers, read) {
      let verified: Verified
      try {
        verified = verify(await read(), headers)
      } catch (error) {
        return refusal(error)
      }
      const { event, id, timestamp } = verified
      try {
        await handle(event, { id, timestamp })
      } catch (error) {
        const delivery = { id, timestamp }
        // An exception or rejection of it must neither become the answer nor end the process.
        new Promise<void>((resolve) => resolve(onError(error, delivery))).catch(() => warn(error, delivery))
        return answerOf(new NotifierError('internal_server_error', { message: 'The event was not handled.' }))
      }
      return { status: 200, headers: {}, body: '' }
    },
  }
}

function refusal(error: unknown): Answer {
  if (!isNotifierError(error)) {
    const message = 'The connection was closed before the request body was complete.'
    return answerOf(new NotifierError('invalid_json', { message }))
  }
  // The fault is the application's own, so its operator must see it too.
  if (error.code === 'body_already_read') process.emitWarning(error.message, { type: WARNING })
  return answerOf(error)
}

function answerOf({ code, message, status }: NotifierError): Answer {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
  // The rest of the body is not read, so the connection cannot be reused.
  if (code === 'payload_too_large') headers.connection = 'close'
  return { status, headers, body: JSON.stringify({ error: { code, message } }) }
}

function warn(error: unknown, { id }: WebhookDelivery): void {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.emitWarning(`The webhook ${id} was not handled: ${reason}`, { type: WARNING })
}
