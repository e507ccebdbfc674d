/** A request to an endpoint without its body. */
export interface WebhookRequestRecord {
  /** The endpoint's address at that time. */
  readonly url: string
  /**
   * By lower-case name. Without `webhook-signature`, a credential with which the request could be repeated while its
   * timestamp is fresh, without trace context, and without headers of every HTTP request (`host`, `content-length`).
   */
  readonly headers: Readonly<Record<string, string>>
}
