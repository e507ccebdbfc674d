/** A text that someone wrote to a number or account of the application. */
export interface ReceivedMessage {
  /** The same for every repetition of the provider's report. */
  readonly id: string
  /** The organization that owns the provider instance; `org_default` for a shared one. */
  readonly organizationId: string
  readonly channel: string
  /** Name of the provider instance. */
  readonly provider: string
  /** The writer, in the spelling of the provider. */
  readonly from: string
  /** What it was written to: a number of the application. Null: the provider does not say. */
  readonly to: string | null
  /** At most 4,096 UTF-16 characters; longer ones are cut. */
  readonly text: string
  /** `stop` or `start`: the text opted out or in, which has been applied. */
  readonly consent: 'stop' | 'start' | null
}

/** Someone wrote to a number or account of the application. */
export interface MessageReceivedEvent {
  readonly event: 'message.received'
  readonly data: ReceivedMessage & {
    /** Time of recording, ISO 8601 UTC. */
    readonly timestamp: string
  }
}

/**
 * The event of a received message.
 *
 * @param now the storage's time in epoch milliseconds
 *
 * @example
 * const event = receivedEvent(received, now)
 */
export function receivedEvent(message: ReceivedMessage, now: number): MessageReceivedEvent {
  return { event: 'message.received', data: { ...message, timestamp: new Date(now).toISOString() } }
}

/**
 * The stable `webhook-id` of such an event.
 *
 * @example
 * const webhookId = receivedEventId(receivedEvent(received, now))
 */
export function receivedEventId({ data }: MessageReceivedEvent): string {
  return `evt_${data.id}`
}
