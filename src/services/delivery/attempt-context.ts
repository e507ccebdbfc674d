import type { SendContext } from '../../ports/channel.ts'
import type { Stop } from './stop.ts'

/**
 * What a channel is told of one attempt. Its signal is made for a channel that looks at it. A class, because an accessor that
 * all have in common costs a tenth of one of each object's own; its own property, because contexts may be spread.
 */
class AttemptContext {
  static readonly #signal = {
    enumerable: true,
    get(this: AttemptContext): AbortSignal {
      return this.#stop.signal()
    },
  }
  declare readonly signal: AbortSignal
  readonly notificationId: string
  readonly organizationId: string
  readonly attempt: number
  readonly idempotencyKey: string
  readonly createdAt: number
  readonly logger: SendContext['logger']
  readonly #stop: Stop

  constructor(about: Omit<SendContext, 'signal'>, stop: Stop) {
    this.notificationId = about.notificationId
    this.organizationId = about.organizationId
    this.attempt = about.attempt
    this.idempotencyKey = about.idempotencyKey
    this.createdAt = about.createdAt
    this.logger = about.logger
    this.#stop = stop
    Object.defineProperty(this, 'signal', AttemptContext.#signal)
  }
}

export function createAttemptContext(about: Omit<SendContext, 'signal'>, stop: Stop): SendContext {
  return new AttemptContext(about, stop)
}
