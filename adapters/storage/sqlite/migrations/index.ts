import { initial } from './0001-initial.ts'
import { outages } from './0002-outages.ts'
import { resends } from './0003-resends.ts'
import { webhookEndpoints } from './0004-webhook-endpoints.ts'
import { suppressions } from './0005-suppressions.ts'
import { smsCountries } from './0006-sms-countries.ts'
import { traces } from './0007-traces.ts'
import { retention } from './0008-retention.ts'
import { tracking } from './0009-tracking.ts'
import { attachments } from './0010-attachments.ts'
import { endpointEvents } from './0011-endpoint-events.ts'
import { states } from './0012-states.ts'
import { waitingEvents } from './0013-waiting-events.ts'
import { grants } from './0014-grants.ts'
import { deletions } from './0015-deletions.ts'
import { operatorKeys } from './0016-operator-keys.ts'
import { textAlternatives } from './0017-text-alternatives.ts'
import { versionTimes } from './0018-version-times.ts'
import { keyUses } from './0019-key-uses.ts'
import { waitingNotifications } from './0020-waiting-notifications.ts'

/**
 * In order and append-only: the schema's version is the number of applied migrations. Columns are added at the end, so
 * that older processes can continue with their prepared `SELECT *`. If older processes would store wrong data, a
 * migration must make their claims fail: they then deliver nothing until they are restarted.
 */
export const migrations: readonly string[] = [
  initial,
  outages,
  resends,
  webhookEndpoints,
  suppressions,
  smsCountries,
  traces,
  retention,
  tracking,
  attachments,
  endpointEvents,
  states,
  waitingEvents,
  grants,
  deletions,
  operatorKeys,
  textAlternatives,
  versionTimes,
  keyUses,
  waitingNotifications,
]
