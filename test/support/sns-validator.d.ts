/** The package has no types of its own. */
declare module 'sns-validator' {
  class MessageValidator {
    constructor(hostPattern?: RegExp, encoding?: string)
    validate(
      message: Readonly<Record<string, unknown>>,
      done: (error: Error | null, message?: Readonly<Record<string, unknown>>) => void,
    ): void
  }
  export = MessageValidator
}
