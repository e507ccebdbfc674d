import type { Fact } from '../notification/facts.ts'
import type { NotificationFailure } from '../notification/notification.ts'
import type { NotificationJob } from './end-before.ts'

const MAY_HAVE_GONE = 'An earlier attempt may have reached the recipient.'

/**
 * The fact of a message that is no longer sent. One that an earlier attempt may have sent is not called skipped.
 *
 * @param mayHaveGone whether an attempt since the last retry has an unknown result
 */
export async function endingOf(
  job: NotificationJob,
  why: NotificationFailure,
  mayHaveGone: (job: NotificationJob) => Promise<boolean>,
): Promise<Fact> {
  if (why.decidedBy === undefined && why.code !== 'no_address') return { type: 'failed', ...why }
  const { attempts, earlierAttempts, recovered } = job
  if (attempts === earlierAttempts || !(recovered || (await mayHaveGone(job))))
    return { type: 'skipped', ...why }
  return { type: 'failed', code: 'delivery_unknown', message: `${why.message} ${MAY_HAVE_GONE}` }
}
