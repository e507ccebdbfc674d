import { isNotifierError, type NotifierError } from '../errors/notifier-error.ts'
import type { RecordReads } from '../records/record-stores.ts'
import type { ParsedBatch } from './batch.ts'
import type { ParsedSend } from './input.ts'

/**
 * Fills messages in before they are validated: each named upload with its `filename`, `contentType` and `size`. Called
 * once for a message or a batch.
 *
 * @returns for each draft, in order, the whole message, or why there is none. Undefined: there is nothing to fill in
 */
export type Complete = (
  drafts: readonly ParsedSend[],
  organizationId: string,
  records: RecordReads,
) => Promise<readonly (ParsedSend | NotifierError)[]> | undefined

/** Undefined: there is nothing to fill in. @throws NotifierError `unknown_attachment`, `invalid_parameter` */
export function completed(
  draft: ParsedSend,
  organizationId: string,
  records: RecordReads,
  complete: Complete | undefined,
): Promise<ParsedSend> | undefined {
  return complete?.([draft], organizationId, records)?.then(([whole = draft]) => {
    if (isNotifierError(whole)) throw whole
    return whole
  })
}

/** Like {@link completed}. A message that cannot be completed gets its own error. */
export function completedBatch(
  parsed: ParsedBatch,
  organizationId: string,
  records: RecordReads,
  complete: Complete | undefined,
): Promise<ParsedBatch> | undefined {
  const draftsOf = () => parsed.inputs.map(([, input]) => input)
  return complete?.(draftsOf(), organizationId, records)?.then((answers) => {
    const errors = parsed.errors.copy()
    const inputs = parsed.inputs.flatMap(([index, draft], at) => {
      const whole = answers[at] ?? draft
      if (!isNotifierError(whole)) return [[index, whole] as const]
      errors.add(index, whole)
      return []
    })
    return { ...parsed, inputs, errors }
  })
}

/** Each hook gets what those before it have made of the messages, without those that cannot be completed. */
export function inTurn(hooks: readonly Complete[]): Complete | undefined {
  return hooks.reduceRight<Complete | undefined>(
    (later, hook) => (later === undefined ? hook : followed(hook, later)),
    undefined,
  )
}

function followed(first: Complete, second: Complete): Complete {
  return (drafts, organizationId, records) => {
    const begun = first(drafts, organizationId, records)
    if (begun === undefined) return second(drafts, organizationId, records)
    return begun.then(async (answers) => {
      const all = drafts.map((draft, at) => answers[at] ?? draft)
      const sound = all.flatMap<ParsedSend>((one) => (isNotifierError(one) ? [] : one))
      const rest = sound.length === 0 ? undefined : await second(sound, organizationId, records)
      if (rest === undefined) return all
      const whole = rest.values()
      return all.map((one) => (isNotifierError(one) ? one : (whole.next().value ?? one)))
    })
  }
}
