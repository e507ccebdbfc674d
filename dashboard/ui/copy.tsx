import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'

/** A value to take along. Without a clipboard, as over plain HTTP, it is selected for the reader to copy. */
export function Copyable({ value, label }: { readonly value: string; readonly label: string }) {
  const copied = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  async function copy(): Promise<void> {
    input.current?.focus()
    input.current?.select()
    try {
      await navigator.clipboard.writeText(value)
    } catch {
      if (!document.execCommand('copy')) return
    }
    copied.value = true
    setTimeout(() => {
      copied.value = false
    }, 2_000)
  }
  return (
    <div class="copyable">
      <input ref={input} class="mono" readOnly value={value} aria-label={label} />
      <Button icon={copied.value ? 'check' : 'copy'} onClick={copy}>
        {copied.value ? texts.actions.copied : texts.actions.copy}
      </Button>
    </div>
  )
}
