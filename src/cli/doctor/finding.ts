/** The result of one check. */
export interface Finding {
  readonly part: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** Null: there is nothing to do. */
  readonly remedy: string | null
}

export function ok(part: string, message: string): Finding {
  return { part, result: 'ok', message, remedy: null }
}

export function warning(part: string, message: string, remedy: string): Finding {
  return { part, result: 'warning', message, remedy }
}

export function failed(part: string, message: string, remedy: string): Finding {
  return { part, result: 'failed', message, remedy }
}
