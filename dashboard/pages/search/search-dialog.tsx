import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { navigateTo } from '../../app/router.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type Found, find } from './find.ts'

const said = texts.search
const PAUSE_MS = 250
const LEAST = 2

/** Searches as its reader types, and leads to what it finds. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const typed = useSignal('')
  /** What was found, and for what. */
  const found = useSignal<{ readonly text: string; readonly items: readonly Found[] } | null>(null)
  const control = useRef(new AbortController())
  const list = useRef<HTMLUListElement>(null)
  const text = typed.value.trim()

  async function search(wanted: string): Promise<readonly Found[]> {
    control.current.abort()
    control.current = new AbortController()
    const items = await find(wanted, control.current.signal)
    found.value = { text: wanted, items }
    return items
  }
  useEffect(() => {
    if (text.length < LEAST) return
    const timer = setTimeout(() => void search(text).catch(() => {}), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  useEffect(() => () => control.current.abort(), [])

  async function go(): Promise<void> {
    if (text === '') return
    const items = found.peek()?.text === text ? (found.peek()?.items ?? []) : await search(text)
    const [first] = items
    if (first === undefined) return
    onClose()
    await navigateTo(first.href)
  }

  function move({ key }: KeyboardEvent): boolean {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key]
    const links = [...(list.current?.querySelectorAll('a') ?? [])]
    if (step === undefined || links.length === 0) return false
    const at = links.indexOf(document.activeElement as HTMLAnchorElement) + step
    if (at < 0) list.current?.closest('dialog')?.querySelector('input')?.focus()
    else links[Math.min(at, links.length - 1)]?.focus()
    return true
  }

  const items = text.length < LEAST ? [] : (found.value?.items ?? [])
  const isDone = found.value !== null && found.value.text === text
  return (
    <Dialog title={said.title} onClose={onClose}>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault()
          void go().catch(() => {})
        }}
        onKeyDown={(event) => {
          if (move(event)) event.preventDefault()
        }}
      >
        <TextField
          label={said.label}
          hint={said.hint}
          value={typed.value}
          autoFocus
          spellcheck={false}
          autoComplete="off"
          maxLength={1_000}
          onValue={(value) => {
            typed.value = value
          }}
        />
        <ul ref={list} class="found">
          {items.map(({ icon, title, hint, href }) => (
            <li key={href}>
              <a class="found-link" href={href} onClick={onClose}>
                <Icon name={icon} />
                <span>
                  <span class="long">{title}</span>
                  {hint === undefined ? null : <span class="hint">{hint}</span>}
                </span>
              </a>
            </li>
          ))}
        </ul>
        <p class="hint" role="status">
          {text.length >= LEAST && isDone && items.length === 0 ? said.nothing(text) : ''}
        </p>
      </form>
    </Dialog>
  )
}
