import { initial } from './0001-initial.ts'
import { claim } from './0002-claim.ts'
import { tracking } from './0003-tracking.ts'
import { acceptIn } from './0004-accept-in.ts'
import { start } from './0005-start.ts'
import { attachments } from './0006-attachments.ts'
import { claim2 } from './0007-claim-2.ts'
import { draw } from './0008-draw.ts'
import { insert } from './0009-insert.ts'
import { lookUps } from './0010-look-ups.ts'
import { settle } from './0011-settle.ts'
import { endpointEvents } from './0012-endpoint-events.ts'
import { settle2 } from './0013-settle-2.ts'
import { settle3 } from './0014-settle-3.ts'
import { claim3 } from './0015-claim-3.ts'
import { insert2 } from './0016-insert-2.ts'
import { grants } from './0017-grants.ts'
import { claim4 } from './0018-claim-4.ts'
import { deletions } from './0019-deletions.ts'
import { operatorKeys } from './0020-operator-keys.ts'
import { textAlternatives } from './0021-text-alternatives.ts'
import { versionTimes } from './0022-version-times.ts'
import { keyUses } from './0023-key-uses.ts'
import { waitingNotifications } from './0024-waiting-notifications.ts'

/**
 * In order and append-only: the schema's version is the number of applied migrations. Each only adds, so that processes
 * of the previous version keep working during and after it.
 */
export const migrations: readonly string[] = [
  initial,
  claim,
  tracking,
  acceptIn,
  start,
  attachments,
  claim2,
  draw,
  insert,
  lookUps,
  settle,
  endpointEvents,
  settle2,
  settle3,
  claim3,
  insert2,
  grants,
  claim4,
  deletions,
  operatorKeys,
  textAlternatives,
  versionTimes,
  keyUses,
  waitingNotifications,
]
