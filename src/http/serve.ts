import type { Engine, Served } from '../core/lifecycle/engine.ts'
import { createHttpApi, type HttpApi } from './api.ts'
import type { HttpApiOptions } from './options.ts'

/** An engine with an HTTP application other than the REST API. */
export interface ServingEngine extends Engine {
  serve(options: HttpApiOptions): HttpApi
}

/**
 * What an HTTP adapter mounts: the REST API of a notifier, or its dashboard.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function serve(served: Served, options: HttpApiOptions = {}): HttpApi {
  const engine = served?.engine as Partial<ServingEngine> | undefined
  return engine?.serve === undefined ? createHttpApi(served, options) : engine.serve(options)
}
