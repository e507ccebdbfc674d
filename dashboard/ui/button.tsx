import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export interface ButtonProps {
  readonly children?: ComponentChildren
  /** Without text it needs a `label`. */
  readonly icon?: IconName
  readonly label?: string
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  /** While its promise is pending, the button is busy and cannot be pressed again. */
  readonly onClick?: () => unknown
  readonly busy?: boolean
  /** Whether what it opens is open. */
  readonly expanded?: boolean
}

export function Button({
  children,
  icon,
  label,
  kind = 'plain',
  type = 'button',
  disabled,
  onClick,
  busy,
  expanded,
}: ButtonProps) {
  const pending = useSignal(false)
  const working = busy === true || pending.value
  async function press(): Promise<void> {
    if (working) return
    pending.value = true
    try {
      await onClick?.()
    } finally {
      pending.value = false
    }
  }
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? ' icon-only' : ''}`}
      disabled={disabled}
      aria-disabled={working ? 'true' : undefined}
      aria-busy={working ? 'true' : undefined}
      aria-label={label}
      aria-expanded={expanded}
      title={children === undefined ? label : undefined}
      onClick={onClick === undefined ? undefined : () => void press()}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children === undefined ? null : <span>{children}</span>}
    </button>
  )
}
