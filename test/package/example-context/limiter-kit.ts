import type { LimitCheck, LimitRecord } from 'carillon/limiter-kit'

export declare const checks: readonly LimitCheck[]
export declare const record: LimitRecord
export declare const records: Map<string, LimitRecord>
export declare function recordOf(check: LimitCheck): Promise<LimitRecord>
