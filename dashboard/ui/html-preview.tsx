import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { hrefOf } from '../app/router.ts'
import { organization } from '../app/session.ts'
import { theme } from '../app/theme.ts'
import { texts } from '../texts/index.ts'
import { Segments } from './segments.tsx'

const WIDTHS = { phone: '322px', tablet: '768px', full: '100%' } as const
type Width = keyof typeof WIDTHS
const SCHEMES = ['light', 'dark'] as const
const PAUSE_MS = 300

/**
 * Shows HTML of a message as its recipient sees it. The server answers with the page in a sandbox: a `srcdoc` would inherit
 * this page's policy and lose the styles of the message.
 */
export function HtmlPreview({
  field = 'html',
  value,
  title,
}: {
  /** `message`: the value is the id of a message in the mailbox, whose HTML the server has. */
  readonly field?: 'html' | 'message'
  readonly value: string
  readonly title: string
}) {
  const width = useSignal<Width>('full')
  const scheme = useSignal<'light' | 'dark'>(startScheme())
  const shown = useSettled(value)
  return (
    <div class="preview">
      <div class="preview-bar">
        <Segments
          label={texts.preview.width}
          value={width.value}
          choices={(Object.keys(WIDTHS) as Width[]).map((value) => ({
            value,
            label: texts.preview.widths[value],
          }))}
          onValue={(value) => {
            width.value = value
          }}
        />
        <Segments
          label={texts.preview.scheme}
          value={scheme.value}
          choices={SCHEMES.map((value) => ({ value, label: texts.preview.schemes[value] }))}
          onValue={(value) => {
            scheme.value = value
          }}
        />
      </div>
      <div class="preview-ground">
        {/* A frame is used once: a second page in it would be one more step for the back button. */}
        <Sheet
          key={`${scheme.value} ${shown}`}
          field={field}
          value={shown}
          title={title}
          scheme={scheme.value}
          width={WIDTHS[width.value]}
        />
      </div>
    </div>
  )
}

function Sheet({
  field,
  value,
  title,
  scheme,
  width,
}: {
  readonly field: string
  readonly value: string
  readonly title: string
  readonly scheme: 'light' | 'dark'
  readonly width: string
}) {
  const name = useId()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.submit(), [])
  return (
    <>
      <form
        ref={form}
        hidden
        method="post"
        action={hrefOf('/preview', { orgId: organization.value ?? undefined })}
        target={name}
      >
        <input type="hidden" name={field} value={value} />
        <input type="hidden" name="scheme" value={scheme} />
      </form>
      <iframe name={name} title={title} sandbox="" style={{ width, colorScheme: scheme }} />
    </>
  )
}

function startScheme(): 'light' | 'dark' {
  if (theme.peek() !== 'auto') return theme.peek() === 'dark' ? 'dark' : 'light'
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** The value as soon as it has stopped to change: not each letter that is typed is a page. */
function useSettled(value: string): string {
  const settled = useSignal(value)
  useEffect(() => {
    if (value === settled.peek()) return
    const timer = setTimeout(() => {
      settled.value = value
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled.value
}
