import { useEffect, useRef } from 'preact/hooks'
import { state } from './session.ts'

const SLOWEST_MS = 60_000

/**
 * Calls again and again, never twice at a time. Pauses while the page is hidden, and slows down while calls fail.
 *
 * @param paused true: only the first call is made
 * @param key what is polled: a change begins anew, and `signal` ends what was under way
 */
export function usePoll(
  call: (signal: AbortSignal) => Promise<void>,
  key: string,
  everyMs = 5_000,
  paused = false,
): void {
  const latest = useRef({ call, paused })
  latest.current = { call, paused }
  const resume = useRef(() => {})
  useEffect(() => {
    const control = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let running = false
    let begun = false
    let delay = everyMs

    async function run(): Promise<void> {
      if (running || document.hidden || (begun && latest.current.paused)) return
      running = true
      clearTimeout(timer)
      try {
        await latest.current.call(control.signal)
        begun = true
        delay = everyMs
      } catch {
        delay = Math.min(SLOWEST_MS, delay * 2)
      } finally {
        running = false
        if (!control.signal.aborted) timer = setTimeout(run, delay)
      }
    }
    const shown = (): void => {
      if (!document.hidden) void run()
    }
    document.addEventListener('visibilitychange', shown)
    resume.current = shown
    void run()
    let kind = state.peek().kind
    // What failed because the session had ended is read as soon as there is a new one.
    const forget = state.subscribe((now) => {
      if (now.kind === 'open' && kind === 'ended') shown()
      kind = now.kind
    })
    return () => {
      forget()
      control.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [key, everyMs])
  useEffect(() => {
    if (!paused) resume.current()
  }, [paused])
}
