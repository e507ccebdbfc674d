import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { place, setQuery } from '../app/router.ts'
import { session } from '../app/session.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { type Choice, Select, TextField } from './field.tsx'
import { localInput } from './time.tsx'

const PAUSE_MS = 400

/** The filters of a list. They live in the query of the address, so that links and the back button keep them. */
export function Filters({
  names,
  children,
  more,
}: {
  /** Names in the query. */
  readonly names: readonly string[]
  readonly children: ComponentChildren
  /** Hidden until the reader opens them or one is set. */
  readonly more?: { readonly names: readonly string[]; readonly children: ComponentChildren }
}) {
  const open = useSignal(false)
  const { query } = place.value
  const set = more?.names.some((name) => query[name]) === true
  return (
    <search class="filters">
      {children}
      {open.value || set ? more?.children : null}
      {more === undefined || set ? null : (
        <Button
          kind="quiet"
          icon="plus"
          expanded={open.value}
          onClick={() => {
            open.value = !open.value
          }}
        >
          {texts.actions.moreFilters}
        </Button>
      )}
      {names.some((name) => query[name]) ? (
        <Button
          kind="quiet"
          icon="close"
          onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, ''])))}
        >
          {texts.actions.clearFilters}
        </Button>
      ) : null}
    </search>
  )
}

/** Those of the filters that are set. */
export function filtersOf<Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> {
  const { query } = place.value
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : []))) as Partial<
    Record<Name, string>
  >
}

interface FilterProps {
  readonly name: string
  readonly label: string
}

export function SelectFilter({
  name,
  label,
  choices,
}: FilterProps & { readonly choices: readonly Choice<string>[] }) {
  const value = place.value.query[name] ?? ''
  const known = value === '' || choices.some((choice) => choice.value === value)
  return (
    <Select
      label={label}
      value={value}
      choices={[
        { value: '', label: texts.list.all },
        ...choices,
        // An address may name what this service does not know.
        ...(known ? [] : [{ value, label: value }]),
      ]}
      onValue={(chosen) => setQuery({ [name]: chosen })}
    />
  )
}

/** @param names default: the channels of this service */
export function ChannelFilter({ names = session.value.channels }: { readonly names?: readonly string[] }) {
  return (
    <SelectFilter
      name="channel"
      label={texts.notifications.channel}
      choices={names.map((value) => ({ value, label: value }))}
    />
  )
}

/** A text that filters as soon as its writer pauses. */
export function TextFilter({
  name,
  label,
  placeholder = '',
}: FilterProps & { readonly placeholder?: string }) {
  const applied = place.value.query[name] ?? ''
  const typed = useSignal(applied)
  useEffect(() => {
    typed.value = applied
  }, [applied])
  useEffect(() => {
    if (typed.value.trim() === applied) return
    const timer = setTimeout(() => setQuery({ [name]: typed.peek().trim() }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  return (
    <TextField
      label={label}
      type="search"
      placeholder={placeholder}
      value={typed.value}
      spellcheck={false}
      autoComplete="off"
      onValue={(value) => {
        typed.value = value
      }}
    />
  )
}

/** A time in the reader's zone; in the address it stands in UTC. */
export function TimeFilter({ name, label }: FilterProps) {
  const at = Date.parse(place.value.query[name] ?? '')
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={Number.isNaN(at) ? '' : localInput(at)}
      onValue={(value) => setQuery({ [name]: value === '' ? '' : new Date(value).toISOString() })}
    />
  )
}
