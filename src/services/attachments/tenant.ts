/** Files that are uploaded before the messages that carry them. */
export interface Attachments {
  /**
   * Stores a file for 24 hours. Mails name it: `email: { attachments: [{ id }] }`. Each gets its own copy at the accept, so
   * that an accepted mail does not depend on the upload.
   *
   * @param content bytes, which the call copies; padded base64 without line breaks; or a stream of bytes or text, which the
   *   call reads to its end
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `payload_too_large` above the option
   *   `attachments.maxBytes`, `attachment_limit_reached` if the organization has too many or too large uploads, `not_found`
   *   for an unknown organization
   */
  upload(content: UploadContent, file: UploadInput): Promise<UploadRecord>
  /** Removes an upload. Accepted mails keep their copies. @throws NotifierError `not_found`, `organization_mismatch` */
  delete(id: string): Promise<void>
}

export type UploadContent = string | Uint8Array | ArrayBuffer | AsyncIterable<Uint8Array | string>

export interface UploadInput {
  /** File name without a path, at most 255 characters. */
  readonly filename: string
  /** Media type, for example `application/pdf`. */
  readonly contentType: string
}

/** An uploaded file. */
export interface UploadRecord extends UploadInput {
  /** `att_…` */
  readonly id: string
  /** Size in bytes. */
  readonly size: number
  /** When it ends: ISO 8601 UTC. */
  readonly expiresAt: string
}
