import type { Feature } from '../../core/feature.ts'
import type { KeyVerification, OperatorKeys } from './api.ts'
import type { Served } from './routes.ts'
import { createApiKeys } from './service.ts'

/** The keys of callers over HTTP. */
export const apiKeys: Feature<
  Served & { readonly apiKeys: KeyVerification; readonly operatorKeys: OperatorKeys }
> = { name: 'api-keys', create: (core) => ({ api: createApiKeys(core) }) }
