/** Stands for the content of a file that a call from code named and that could not be read. */
export class UnreadableFile {
  readonly message: string

  /** @param cause the error of the file or stream */
  constructor(cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    this.message = `cannot be read: ${why.slice(0, 300)}`
  }
}
