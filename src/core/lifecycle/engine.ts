/** The access of HTTP adapters to a notifier. Opaque to applications. */
export interface Engine {
  /** Version of the package that made it. Adapters of another version refuse it. */
  readonly version: string
}

/** A notifier of any type, for HTTP adapters. */
export interface Served {
  readonly engine: Engine
}
