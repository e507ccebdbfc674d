import { isErrorCode } from '../errors/catalogue.ts'
import type { EarlierMessage, PartsRefusal } from '../ports/provider.ts'
import type { ConfiguredProvider } from './providers.ts'

/** Checks with providers which messages they can deliver. Wrong answers are reported once a minute. */
export interface ProviderChecks {
  /** Whether a provider reaches a recipient. An `accepts()` that throws or returns no boolean counts as false. */
  accepts(provider: ConfiguredProvider, to: string): boolean
  /**
   * Why a provider cannot carry the parts of a message; null: it can, or there are none. A `refuses()` that throws or
   * returns neither null nor a reason counts as a refusal.
   */
  refusalOf(provider: ConfiguredProvider, to: string, parts: unknown): PartsRefusal | null
  /** The thread of a message that a provider accepted. Null: unknown; also if `threadIdOf()` throws or returns no text. */
  threadIdOf(provider: ConfiguredProvider, earlier: EarlierMessage): string | null
}

const UNKNOWN: PartsRefusal = {
  code: 'invalid_content',
  message: 'The provider could not decide whether it can carry this message.',
}

const CONSEQUENCES = {
  accepts: 'the recipient counts as refused',
  refuses: 'the message counts as refused',
  threadIdOf: 'the message joins no thread',
}

/** @param report receives the faults of providers, by a key for each provider */
export function createProviderChecks(report: (key: string, error: Error) => void): ProviderChecks {
  function fault(
    method: keyof typeof CONSEQUENCES,
    { name, channel, organizationId }: ConfiguredProvider,
    why: string,
    cause?: unknown,
  ): void {
    const message = `The ${method}() of the provider "${name}" (${channel}) ${why}, so ${CONSEQUENCES[method]}.`
    report(`${channel} ${name} ${organizationId}`, new Error(message, { cause }))
  }

  return {
    accepts(provider, to) {
      if (provider.plugin.accepts === undefined) return true
      try {
        const answer: unknown = provider.plugin.accepts(to)
        if (typeof answer === 'boolean') return answer
        disarm(answer)
        fault('accepts', provider, 'must answer true or false, not a promise')
      } catch (error) {
        fault('accepts', provider, 'threw', error)
      }
      return false
    },
    refusalOf(provider, to, parts) {
      if (parts === undefined || provider.plugin.refuses === undefined) return null
      try {
        const answer: unknown = provider.plugin.refuses(parts, to)
        if (answer === null) return null
        const refusal = soundRefusal(answer)
        if (refusal !== null) return refusal
        disarm(answer)
        fault('refuses', provider, 'must answer null or a code and a message, not a promise')
      } catch (error) {
        fault('refuses', provider, 'threw', error)
      }
      return UNKNOWN
    },
    threadIdOf(provider, earlier) {
      try {
        const answer: unknown = provider.plugin.threadIdOf?.(earlier) ?? null
        if (answer === null || typeof answer === 'string') return answer
        disarm(answer)
        fault('threadIdOf', provider, 'must answer null or a text, not a promise')
      } catch (error) {
        fault('threadIdOf', provider, 'threw', error)
      }
      return null
    },
  }
}

/** An unhandled rejection would end the process. */
function disarm(answer: unknown): void {
  Promise.resolve(answer).catch(() => {})
}

function soundRefusal(answer: unknown): PartsRefusal | null {
  const { code, message, field } = Object(answer) as Readonly<Record<string, unknown>>
  if (!isErrorCode(code) || typeof message !== 'string') return null
  return { code, message, ...(typeof field === 'string' ? { field } : {}) }
}
