import { signal } from '@preact/signals'

const told = signal<readonly { readonly id: number; readonly text: string }[]>([])
let last = 0

/** Tells that something was done. It goes away by itself. */
export function tell(text: string): void {
  last += 1
  const id = last
  told.value = [...told.value, { id, text }]
  setTimeout(() => {
    told.value = told.value.filter((toast) => toast.id !== id)
  }, 6_000)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {told.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  )
}
