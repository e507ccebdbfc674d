import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain'

/** A short state. Its colour says nothing that its text does not. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone
  readonly children: ComponentChildren
}) {
  return <span class={`badge ${tone}`}>{children}</span>
}
