import { failureOfPlugin } from '../observe/plugin-calls.ts'
import type { LimitCheck, LimitDecision, LimitState } from '../ports/rate-limiter.ts'

/** @throws NotifierError `service_unavailable` if the answer is not a decision about all checks */
export function checkedDecision(
  method: string,
  checks: readonly LimitCheck[],
  answer: LimitDecision,
): LimitDecision {
  if (isDecision(answer, checks.length)) return answer
  const right = `{ allowed, states }, with { ${STATE.join(', ')} } for each of the ${checks.length} checks`
  throw failureOfPlugin(
    'rate limiter',
    new TypeError(`${method}() of the rate limiter must return ${right}.`),
  )
}

const NUMBERS = ['granted', 'remaining', 'resetInMs', 'retryAfterMs'] as const
const STATE = ['allowed', ...NUMBERS]

/** A plug-in in plain JavaScript may return anything. */
function isDecision(answer: Partial<LimitDecision> | null | undefined, checks: number): boolean {
  return (
    typeof answer?.allowed === 'boolean' &&
    Array.isArray(answer.states) &&
    answer.states.length === checks &&
    answer.states.every(isState)
  )
}

function isState(state: Partial<LimitState> | null | undefined): boolean {
  return (
    typeof state?.allowed === 'boolean' &&
    NUMBERS.every((name) => typeof state[name] === 'number' && state[name] >= 0)
  )
}
