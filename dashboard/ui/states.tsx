import type { ComponentChildren } from 'preact'
import type { ApiError } from '../app/api.ts'
import { state } from '../app/session.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** What went wrong and what to do; the server's errors say both. */
export function ErrorNote({ error, retry }: { readonly error: ApiError; readonly retry?: () => unknown }) {
  // The page stays below the dialog that asks to sign in again.
  if (error.code === 'session_required' && state.value.kind !== 'none') return null
  const text = error.status === 0 ? texts.errors.unreachable : error.message || texts.errors.unknown
  return (
    <div class="note bad" role="alert">
      <Icon name="failures" />
      <div>
        <p>{text}</p>
        {error.requestId === null ? null : (
          <p class="hint">{texts.errors.request(error.code, error.requestId)}</p>
        )}
      </div>
      {retry === undefined ? null : (
        <Button icon="refresh" onClick={retry}>
          {texts.actions.reload}
        </Button>
      )}
    </div>
  )
}

/** Stands where a list or page has nothing to show, and says what to do next. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export function Loading() {
  return (
    <p class="loading" role="status">
      {texts.app.loading}
    </p>
  )
}
