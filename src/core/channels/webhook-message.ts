/** A notification of the webhook channel: what its provider posts to the recipient. */
export interface WebhookMessageEvent {
  readonly event: 'webhook.message'
  readonly data: {
    /** The notification's id, equal to the header `webhook-id`: the same for every attempt. */
    readonly id: string
    readonly subject: string | null
    /** The text; an object if the text is a JSON object. */
    readonly body: string | Readonly<Record<string, unknown>>
    /** Time of the accept, ISO 8601 UTC: the same for every attempt. */
    readonly timestamp: string
  }
}
