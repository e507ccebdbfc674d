export {
  consume,
  endsAt,
  type LimitRecord,
  newRecord,
  type PauseRecord,
  pause,
  peek,
  refund,
  release,
  renew,
} from '../../../src/core/limits/check-limits.ts'
export type { SlotsRecord } from '../../../src/core/limits/slots.ts'
export type { WindowRecord } from '../../../src/core/limits/window.ts'
export type {
  LimitCheck,
  LimitDecision,
  LimitState,
  PauseCheck,
  SlotCheck,
  WindowCheck,
} from '../../../src/core/ports/rate-limiter.ts'
