import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { CodeEditor } from './code-editor.ts'
import { type Described, Field } from './field.tsx'

interface CodeFieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | null
  readonly value: string
  readonly language: 'html' | 'text'
  readonly readOnly?: boolean
  readonly onValue: (value: string) => void
}

/** A field for source text. Until its editor has come, and where it does not come, it is a plain one. */
export function CodeField({ label, hint, error, ...source }: CodeFieldProps) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      control={(described) => <Code label={label} {...source} described={described} />}
    />
  )
}

function Code({
  label,
  value,
  language,
  readOnly = false,
  onValue,
  described,
}: Omit<CodeFieldProps, 'hint' | 'error'> & {
  readonly described: Described
}) {
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const editor = useRef<CodeEditor | null>(null)
  const ready = useSignal(false)
  const attributes = { 'aria-label': label, 'aria-multiline': 'true', ...described }
  const latest = useRef({ value, onValue, attributes, readOnly })
  latest.current = { value, onValue, attributes, readOnly }

  useEffect(() => {
    let gone = false
    async function open(): Promise<void> {
      const { openCodeEditor } = await import('./code-editor.ts')
      if (gone || host.current === null) return
      const cursor = document.activeElement === plain.current ? plain.current?.selectionStart : undefined
      editor.current = openCodeEditor(host.current, {
        ...latest.current,
        language,
        onValue: (next) => latest.current.onValue(next),
      })
      ready.value = true
      if (cursor !== undefined) editor.current.focus(cursor)
    }
    open().catch(() => {})
    return () => {
      gone = true
      editor.current?.close()
    }
  }, [language])
  // At once: later, it would take back what was typed in between.
  useLayoutEffect(() => editor.current?.set(value), [value])
  useLayoutEffect(
    () => editor.current?.describe(attributes, readOnly),
    [JSON.stringify(attributes), readOnly, ready.value],
  )
  return (
    <div class={`code ${language}`} ref={host}>
      {ready.value ? null : (
        <textarea
          ref={plain}
          {...described}
          class="mono"
          rows={8}
          value={value}
          readOnly={readOnly}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </div>
  )
}
