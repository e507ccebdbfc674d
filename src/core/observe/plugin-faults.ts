import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'

/** Faults of plug-ins: calls that meet one reject with `service_unavailable`. */
export interface PluginFaults {
  /** The same plug-in, with its exceptions recorded. */
  watch<Plugin extends object>(part: string, plugin: Plugin): Plugin
  /** The error of a public method: `service_unavailable` for a fault of a plug-in, otherwise the error itself. */
  failureOf(error: unknown): unknown
}

/** `service_unavailable` with the fault as its cause, unless the plug-in threw a NotifierError. */
export function failureOfPlugin(part: string, error: unknown): unknown {
  if (isNotifierError(error)) return error
  const message = `The ${part} failed: see \`cause\`. Repeat the call later.`
  return new NotifierError('service_unavailable', { message, retryAfterMs: 1_000, cause: error })
}

export function createPluginFaults(): PluginFaults {
  const parts = new WeakMap<object, string>()

  function mark(part: string, error: unknown): unknown {
    const fault = typeof error === 'object' && error !== null ? error : new Error(String(error))
    parts.set(fault, part)
    return fault
  }

  function watchCall(part: string, call: (...args: unknown[]) => unknown): typeof call {
    const fail = (error: unknown): never => {
      throw mark(part, error)
    }
    return (...args) => {
      try {
        const answer = call(...args)
        return answer instanceof Promise ? answer.catch(fail) : answer
      } catch (error) {
        return fail(error)
      }
    }
  }

  function watch<Plugin extends object>(part: string, plugin: Plugin): Plugin {
    const watched = new Map<PropertyKey, { readonly value: unknown; readonly instead: unknown }>()
    // With an empty target: a proxy of a frozen object must return its values.
    return new Proxy({} as Plugin, {
      get(_, key) {
        const value: unknown = Reflect.get(plugin, key)
        if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return value
        const known = watched.get(key)
        if (known?.value === value) return known.instead
        const instead = typeof value === 'function' ? watchCall(part, value.bind(plugin)) : watch(part, value)
        watched.set(key, { value, instead })
        return instead
      },
    })
  }

  return {
    watch,
    failureOf(error) {
      const part = typeof error === 'object' && error !== null ? parts.get(error) : undefined
      return part === undefined ? error : failureOfPlugin(part, error)
    },
  }
}
