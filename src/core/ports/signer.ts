/** Signs webhook events: Standard Webhooks 1.0.0, symmetric scheme `v1`. */
export interface WebhookSigner {
  /** A new `whsec_…` secret. */
  newSecret(): string
  /**
   * @param id the `webhook-id`: the same for all deliveries of an event; contains no `.`
   * @param timestamp epoch seconds of this attempt
   * @param secrets `whsec_…`, newest first. Each one signs, so that receivers can rotate.
   * @returns the headers `webhook-id` and `webhook-timestamp`, and `webhook-signature` if there is a secret
   */
  headers(id: string, timestamp: number, body: string, secrets: readonly string[]): Record<string, string>
}
