/** By it an HTTP adapter reaches its notifier. Opaque: applications have no use for it. */
export interface Engine {
  /** Version of the package that made it. An adapter of another version refuses it. */
  readonly version: string
}

/** A notifier, whatever its types, as HTTP adapters take it. */
export interface Served {
  readonly engine: Engine
}
