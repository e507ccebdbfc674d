import { apiKeys } from './api-keys/index.ts'
import { attachments } from './attachments/index.ts'
import { audit } from './audit/index.ts'
import { categories } from './categories/index.ts'
import { custody } from './custody/index.ts'
import { delays } from './delays/index.ts'
import { failures } from './failures/index.ts'
import { languages } from './languages/index.ts'
import { layouts } from './layouts/index.ts'
import { lint } from './lint/index.ts'
import { organizations } from './organizations/index.ts'
import { preferences } from './preferences/index.ts'
import { receipts } from './receipts/index.ts'
import { recipients } from './recipients/index.ts'
import { refusals } from './refusals/index.ts'
import { retention } from './retention/index.ts'
import { sessions } from './sessions/index.ts'
import { statistics } from './statistics/index.ts'
import { suppressions } from './suppressions/index.ts'
import { tracking } from './tracking/index.ts'
import { webhookEvents } from './webhook-events/index.ts'

/**
 * The features that add records and methods to a notifier, each in the folder of its name. Their routes are in
 * src/routes.ts. Each comes after those that it uses; of those that judge messages, the first that says no decides. The
 * sources of texts that features are made of are joined in src/authoring.ts: those of code-templates, languages and
 * layouts. The removal of old data is started by create-notifier.ts.
 */
export const FEATURES: readonly [
  typeof delays,
  typeof suppressions,
  typeof categories,
  typeof recipients,
  typeof preferences,
  typeof apiKeys,
  typeof attachments,
  typeof audit,
  typeof custody,
  typeof failures,
  typeof languages,
  typeof layouts,
  typeof lint,
  typeof organizations,
  typeof receipts,
  typeof refusals,
  typeof retention,
  typeof sessions,
  typeof statistics,
  typeof tracking,
  typeof webhookEvents,
] = [
  delays,
  suppressions,
  categories,
  recipients,
  preferences,
  apiKeys,
  attachments,
  audit,
  custody,
  failures,
  languages,
  layouts,
  lint,
  organizations,
  receipts,
  refusals,
  retention,
  sessions,
  statistics,
  tracking,
  webhookEvents,
]
