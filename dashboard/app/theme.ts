import { effect, signal } from '@preact/signals'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORED = 'carillon-theme'

/** Storage is refused in some private windows. */
function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? 'auto'
  } catch {
    return 'auto'
  }
}

export const theme = signal<Theme>(stored())

/** Applies the choice, and remembers it. */
export function followTheme(): void {
  effect(apply)
}

function apply(): void {
  document.documentElement.dataset.theme = theme.value
  try {
    localStorage.setItem(STORED, theme.value)
  } catch {
    // The choice holds for this page.
  }
}
