import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

export interface Tab<Name extends string> {
  readonly name: Name
  readonly label: string
  /** Rendered while the tab is open. */
  readonly content: () => ComponentChildren
}

/** Parts of which one is shown at a time. Arrow keys, Home and End move between them. */
export function Tabs<Name extends string>({
  label,
  tabs,
  value,
  onValue,
}: {
  readonly label: string
  readonly tabs: readonly Tab<Name>[]
  readonly value: Name
  readonly onValue: (name: Name) => void
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const at = Math.max(
    0,
    tabs.findIndex(({ name }) => name === value),
  )
  const open = tabs[at]
  if (open === undefined) return null

  function move(event: KeyboardEvent): void {
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
    if (target === undefined) return
    event.preventDefault()
    const next = (target + tabs.length) % tabs.length
    const tab = tabs[next]
    if (tab === undefined) return
    onValue(tab.name)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }

  return (
    <div class="tabs">
      <div ref={list} class="tab-list" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, label: title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === open.name}
            aria-controls={`${id}-panel`}
            tabIndex={name === open.name ? 0 : -1}
            onClick={() => onValue(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        key={open.name}
        class="tab-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${open.name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a panel without controls must be reached by the keyboard, to be scrolled.
        tabIndex={0}
      >
        {open.content()}
      </div>
    </div>
  )
}
