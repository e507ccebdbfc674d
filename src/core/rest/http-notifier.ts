import type * as z from 'zod'
import type { KeyRecord } from '../access/verify-key.ts'
import type { Audit } from '../audit/audit.ts'
import type { NotifierInternals } from '../lifecycle/notifier-internals.ts'
import type { Admissions } from '../limits/model.ts'
import type { Processor } from '../loop/processor.ts'
import type { Reporting } from '../observe/reporting.ts'

interface Keys {
  /** @throws NotifierError `invalid_api_key`, `expired_api_key` */
  verify(secret: string): Promise<KeyRecord>
}

/** What the REST core itself uses of a notifier; the handlers of routes use the rest. */
export interface HttpNotifier extends NotifierInternals {
  readonly apiKeys: Keys
  readonly operatorKeys: Keys
  readonly organizations: {
    /** @throws NotifierError `not_found` */
    get(id: string): Promise<{ readonly deleting: boolean }>
  }
  health(): Promise<{ readonly status: 'ok' | 'degraded' | 'unavailable' }>
  readonly limits: Admissions
  readonly reporting: Reporting
  readonly processor: Processor
  /** Makes a caller the author of what a function changes. */
  readonly onBehalfOf: Audit['onBehalfOf']
  /** Named inputs with the fields of the notifier's channels, instead of those in the table of routes. */
  readonly inputs: Readonly<Record<string, z.ZodType>>
  /** Names of the known channels. */
  readonly channels: readonly string[]
}
