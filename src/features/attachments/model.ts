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
  /** Until when mails can name it: ISO 8601 UTC. */
  readonly expiresAt: string
}
