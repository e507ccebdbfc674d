import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Asked, GO, type Judge, type JudgeContext, type NamedJudge, type Verdict } from './verdict.ts'

/** Says of each message whether it may go, in order: at the accept, and before each attempt. */
export type Gate = (asked: readonly Asked[], context: JudgeContext) => Promise<readonly Verdict[]>

/** Messages about which a judge is asked at once. */
const AT_ONCE = 2_000

/**
 * The gate that asks judges. The first that refuses or skips a message decides; else the message waits for the latest time.
 *
 * @param judges in order of precedence
 */
export function createGate(judges: readonly NamedJudge[]): Gate {
  async function judge(asked: readonly Asked[], context: JudgeContext): Promise<readonly Verdict[]> {
    // All ask before the first answers. A second rejection must not go unhandled, so all are awaited together.
    const answers = await Promise.all(judges.map((each) => answerOf(each, asked, context)))
    return asked.map((_, at) => strongest(answers, at))
  }

  return async (asked, context) => {
    if (asked.length <= AT_ONCE) return judge(asked, context)
    const verdicts: Verdict[] = []
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      if (at > 0) await nextTurn()
      verdicts.push(...(await judge(asked.slice(at, at + AT_ONCE), context)))
    }
    return verdicts
  }
}

async function answerOf(
  { name, judge }: NamedJudge,
  ...given: Parameters<Judge>
): Promise<readonly Verdict[]> {
  const verdicts = await judge(...given)
  const [asked] = given
  // A missing answer must not count as permission.
  if (verdicts.length !== asked.length)
    throw new Error(`The judge of "${name}" gave ${verdicts.length} answers to ${asked.length} messages.`)
  return verdicts
}

function strongest(answers: readonly (readonly Verdict[])[], at: number): Verdict {
  let verdict = GO
  for (const answer of answers) {
    const said = answer[at]
    if (said === undefined || said.kind === 'go') continue
    if (said.kind !== 'wait') return said
    if (verdict.kind !== 'wait' || said.until > verdict.until) verdict = said
  }
  return verdict
}
