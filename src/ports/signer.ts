/** Signs what receivers verify: Standard Webhooks 1.0.0, symmetric scheme `v1`. */
export interface WebhookSigner {
  /** A new `whsec_…` secret. */
  newSecret(): string
  /**
   * @param id the `webhook-id`: constant over all deliveries of one event; contains no `.`
   * @param timestamp epoch seconds of this attempt
   * @param secrets `whsec_…`; every one signs, newest first, so that receivers can rotate
   * @returns the headers `webhook-id`, `webhook-timestamp` and, unless there is no secret, `webhook-signature`
   */
  headers(id: string, timestamp: number, body: string, secrets: readonly string[]): Record<string, string>
}
