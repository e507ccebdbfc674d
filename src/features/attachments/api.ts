import type { UploadContent, UploadInput, UploadRecord } from './model.ts'

/** Files that are uploaded before the messages that carry them. */
export interface Attachments {
  /**
   * Stores a file that mails name: `email: { attachments: [{ id }] }`. It is stored once, no matter how many mails name
   * it. For 24 hours more mails can name it; it is kept as long as a stored mail names it.
   *
   * @param content bytes, which the call copies; padded base64 without line breaks; or a stream of bytes or text, which the
   *   call reads to its end
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `payload_too_large` above the option
   *   `attachments.maxBytes`, `storage_quota_exceeded` if it exceeds the storage budget of the organization,
   *   `not_found` for an unknown organization
   *
   * @example
   * const { id } = await notifier.attachments.upload(await readFile('invoice.pdf'), {
   *   filename: 'invoice.pdf',
   *   contentType: 'application/pdf',
   * })
   * await notifier.send({ to: 'ada@example.com', template: 'invoice', email: { attachments: [{ id }] } })
   */
  upload(content: UploadContent, file: UploadInput): Promise<UploadRecord>
  /**
   * Removes an upload. Stored mails that name it keep it; further ones cannot name it.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * await notifier.attachments.delete('att_1234')
   */
  delete(id: string): Promise<void>
}
