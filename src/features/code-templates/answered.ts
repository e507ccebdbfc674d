import { NotifierError } from '../../core/errors/notifier-error.ts'
import { within } from '../../core/loop/within.ts'
import type { Clock } from '../../core/ports/clock.ts'

/** Timeout of a schema, a function or the rendering of an element. */
const ANSWER_MS = 10_000

/** The application's code in a template. */
export interface CodePart {
  readonly template: string
  /** The definition's field. */
  readonly field: string
  /** For people, to begin a sentence. */
  readonly what: string
}

/**
 * Waits for code of the application, at most {@link ANSWER_MS}. Without a promise it sets no timer.
 *
 * @throws NotifierError `template_error` after the timeout
 */
export async function answered<Answer>(
  answer: Answer | PromiseLike<Answer>,
  { template, field, what }: CodePart,
  clock: Clock,
): Promise<Answer> {
  if (!isThenable(answer)) return answer
  const work = Promise.resolve(answer)
  if (await within(work, ANSWER_MS, clock)) return work
  throw new NotifierError('template_error', {
    message: `${what} of the template "${template}" did not answer within ${ANSWER_MS} ms. Give what it waits for a shorter timeout.`,
    details: { template, field, timeoutMs: ANSWER_MS },
  })
}

function isThenable<Answer>(answer: Answer | PromiseLike<Answer>): answer is PromiseLike<Answer> {
  return typeof (answer as Partial<PromiseLike<Answer>> | null | undefined)?.then === 'function'
}
