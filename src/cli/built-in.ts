import { BUILT_IN } from '../core/channels/built-in.ts'
import { openApiDocument } from '../http/openapi/document.ts'
import { ROUTES } from '../routes.ts'
import { type CallableOperation, operationsOf } from './operations.ts'

/** Those of any service of this version. The package has them as data: computing them takes most of the time of a help. */
export const OPERATIONS: readonly CallableOperation[] = operationsOf(
  openApiDocument(
    ROUTES,
    { channels: [...BUILT_IN], inputs: {} },
    { errorFormat: 'nested', strictBody: false },
  ),
)
