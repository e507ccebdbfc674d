import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { texts } from '../texts/index.ts'
import { Icon } from '../ui/icon.tsx'
import { place } from './router.ts'

type Search = ComponentType<{ readonly onClose: () => void }>

const open = signal(false)
const loaded = signal<Search | null>(null)

async function show(): Promise<void> {
  open.value = true
  loaded.value ??= (await import('../pages/search/search-dialog.tsx')).SearchDialog
}

function close(): void {
  open.value = false
}

/** Opens the search. It looks like the field that it opens. */
export function SearchBox() {
  return (
    <button type="button" class="search-box" aria-keyshortcuts="/" onClick={() => show().catch(close)}>
      <Icon name="search" />
      <span>{texts.search.title}</span>
      <span class="key" aria-hidden="true">
        /
      </span>
    </button>
  )
}

/** The search of every page, which the key / opens. */
export function SearchKeys() {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      const { target } = event
      const isWriting =
        target instanceof HTMLElement &&
        (target.isContentEditable || target.closest('input, select, textarea, dialog') !== null)
      if (isWriting || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      show().catch(close)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  useEffect(close, [place.value])
  const Dialog = loaded.value
  return open.value && Dialog !== null ? <Dialog onClose={close} /> : null
}
