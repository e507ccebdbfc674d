/** The part of a notifier that HTTP adapters use. Opaque to applications. */
export interface NotifierInternals {
  /** Version of the package that made it. Adapters of another version refuse it. */
  readonly version: string
}

/** A notifier of any type, for HTTP adapters. */
export interface Served {
  readonly internals: NotifierInternals
}
