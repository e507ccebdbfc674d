import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Which rows of a list are selected. */
export interface Selection {
  readonly shown: readonly string[]
  /** Those that are selected and shown. */
  readonly ids: ReadonlySet<string>
  /** True: also all that match and are not shown yet. */
  readonly whole: boolean
  /** The checkbox of all rows. */
  readonly head: { current: HTMLInputElement | null }
  /** `range`: with all rows from the one before. */
  choose(id: string, on: boolean, range: boolean): void
  chooseShown(on: boolean): void
  chooseWhole(): void
  /** Clears the selection, and gives the focus to the checkbox of all rows. */
  clear(): void
}

interface Chosen {
  readonly key: string
  readonly ids: ReadonlySet<string>
  readonly whole: boolean
}

/**
 * The selection of a list.
 *
 * @param key what the list shows: a change clears the selection
 */
export function useSelection(key: string, shown: readonly string[]): Selection {
  const chosen = useSignal<Chosen>({ key, ids: new Set(), whole: false })
  const head = useRef<HTMLInputElement>(null)
  const last = useRef('')
  const whole = chosen.value.key === key && chosen.value.whole
  const named = chosen.value.key === key ? chosen.value.ids : new Set()
  const ids = new Set(whole ? shown : shown.filter((id) => named.has(id)))

  function set(now: Iterable<string>, all = false): void {
    chosen.value = { key, ids: new Set(now), whole: all }
  }

  return {
    shown,
    ids,
    whole,
    head,
    choose(id, on, range) {
      const [from, to] = [range ? shown.indexOf(last.current) : -1, shown.indexOf(id)]
      const span = from === -1 ? [id] : shown.slice(Math.min(from, to), Math.max(from, to) + 1)
      set(on ? [...ids, ...span] : [...ids].filter((one) => !span.includes(one)))
      last.current = id
    },
    chooseShown: (on) => set(on ? shown : []),
    chooseWhole: () => set([], true),
    clear() {
      set([])
      // The pressed button is gone by then.
      setTimeout(() => head.current?.focus())
    },
  }
}
