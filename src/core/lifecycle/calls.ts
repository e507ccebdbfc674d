import type { NotifierError } from '../errors/notifier-error.ts'
import { failureOf } from '../observe/plugin-calls.ts'
import { excess } from './excess.ts'

/** The layer between the callers of an API and its methods. */
export interface Calls {
  /**
   * The same methods, those of nested objects included. They refuse calls while the notifier does not run and calls with
   * excess arguments. An exception of a plug-in becomes `service_unavailable`.
   */
  guard<Methods extends object>(methods: Methods, rules?: CallRules): Methods
  /** Resolves when no call is under way. */
  ended(): Promise<void>
}

export interface CallRules {
  /** Names of the methods whose failures are reported. */
  readonly reported?: readonly string[]
}

export interface CallsOptions {
  /** Why all calls are refused; null: they are not. */
  notRunning(): NotifierError | null
  /** Why calls are refused, for maintenance included; null: they are not. */
  refusal(): NotifierError | null
  /** Receives the failures of the methods that are reported, refused calls included. */
  failed(method: string, error: unknown): void
}

type AnyMethod = (...args: never[]) => Promise<unknown>

const CALLABLE_UNDER_MAINTENANCE = new WeakSet<object>()

/** Marks methods that are callable under maintenance, too, because they store nothing then. Returns them. */
export function underMaintenance<Methods extends object>(methods: Methods): Methods {
  for (const method of Object.values<object>(methods as Record<string, object>))
    CALLABLE_UNDER_MAINTENANCE.add(method)
  return methods
}

export function createCalls({ notRunning, refusal, failed }: CallsOptions): Calls {
  let underWay = 0
  let noneLeft = (): void => {}

  function end(): void {
    underWay -= 1
    if (underWay === 0) noneLeft()
  }

  function answered(answer: unknown): unknown {
    end()
    return answer
  }

  function guarded(name: string, method: AnyMethod, rules: CallRules): AnyMethod {
    const refusalNow = CALLABLE_UNDER_MAINTENANCE.has(method) ? notRunning : refusal
    const reported = rules.reported?.includes(name) === true
    function threw(error: unknown): never {
      end()
      const failure = failureOf(error)
      if (reported) failed(name, failure)
      throw failure
    }
    return (...args) => {
      const refused = refusalNow() ?? excess(name, method.length, args)
      if (refused !== null) {
        if (reported) failed(name, refused)
        return Promise.reject(refused)
      }
      underWay += 1
      return method(...args).then(answered, threw)
    }
  }

  function guard<Methods extends object>(methods: Methods, rules: CallRules = {}): Methods {
    const members = Object.entries<AnyMethod | object>(methods as Record<string, object>).map(
      ([name, member]) => [
        name,
        typeof member === 'function' ? guarded(name, member as AnyMethod, rules) : guard(member, rules),
      ],
    )
    return Object.fromEntries(members)
  }

  return {
    guard,
    async ended() {
      if (underWay > 0) await new Promise<void>((resolve) => (noneLeft = resolve))
    },
  }
}
