import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorNote, Loading } from '../ui/states.tsx'
import { ApiError } from './api.ts'

/** A page or dialog whose scripts are loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  return function Lazy(props) {
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
    const { value: Shown } = shown
    if (Shown !== null) return <Shown {...props} />
    return failed.value ? <ErrorNote error={new ApiError(0, null)} retry={open} /> : <Loading />
  }
}
