import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorNote, Loading } from '../ui/states.tsx'
import { ApiError } from './api.ts'

export type PageComponent = ComponentType<{ readonly params: Readonly<Record<string, string>> }>

/** A page whose scripts are loaded when it is first shown. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | null = null
  return function LazyPage(props) {
    const failed = useSignal(false)
    const shown = useSignal(loaded)
    async function open(): Promise<void> {
      failed.value = false
      try {
        loaded = await load()
        shown.value = loaded
      } catch {
        failed.value = true
      }
    }
    useEffect(() => {
      if (shown.peek() === null) void open()
    }, [])
    const { value: Page } = shown
    if (Page !== null) return <Page {...props} />
    return failed.value ? <ErrorNote error={new ApiError(0, null)} retry={open} /> : <Loading />
  }
}
