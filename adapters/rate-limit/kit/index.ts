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
} from '../../../src/limits/decide.ts'
export type { SlotsRecord } from '../../../src/limits/slots.ts'
export type { WindowRecord } from '../../../src/limits/window.ts'
