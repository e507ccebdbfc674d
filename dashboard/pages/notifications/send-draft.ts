import type { ApiError } from '../../app/api.ts'
import { session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { kindOf } from '../templates/template.ts'
import { type Placeholder, type Typed, variablesOf } from '../templates/variables.ts'

/** Whom a message goes to: an address, or a person of the application. */
export const TARGETS = ['address', 'person'] as const
export const KINDS = ['text', 'template'] as const

/** What the form that sends a message holds. */
export interface SendDraft {
  readonly target: (typeof TARGETS)[number]
  readonly channel: string
  readonly to: string
  readonly recipient: string
  readonly channels: readonly string[]
  readonly kind: (typeof KINDS)[number]
  readonly subject: string
  readonly body: string
  /** By channel. */
  readonly templates: Readonly<Record<string, ChosenTemplate>>
  /** For the placeholders of all templates. */
  readonly typed: Typed
}

/** A template, and what is known of its placeholders. */
export interface ChosenTemplate {
  readonly name: string
  readonly placeholders: readonly Placeholder[]
  readonly error: ApiError | null
}

export const NO_TEMPLATE: ChosenTemplate = { name: '', placeholders: [], error: null }

/** The channels on which a provider sends. */
export function configuredChannels(): readonly string[] {
  return session.value.kinds.filter(({ configured }) => configured).map(({ name }) => name)
}

export function emptySendDraft(): SendDraft {
  const channels = configuredChannels()
  const channel = channels.find((name) => name === 'email') ?? channels[0] ?? ''
  return {
    target: 'address',
    channel,
    to: '',
    recipient: '',
    channels: [channel],
    kind: 'text',
    subject: texts.sending.subjectStart,
    body: texts.sending.bodyStart,
    templates: {},
    typed: {},
  }
}

/** The channels that a message names. */
export function channelsOf({ target, channel, channels }: SendDraft): readonly string[] {
  return target === 'person' ? channels : [channel]
}

/** The placeholders of all templates, each name once. */
export function placeholdersOf(draft: SendDraft): readonly Placeholder[] {
  const all = channelsOf(draft).flatMap((channel) => draft.templates[channel]?.placeholders ?? [])
  return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at)
}

/** The body of a send. */
export function messageOf(draft: SendDraft): object {
  const { target, channel, to, recipient, channels } = draft
  const whom = target === 'person' ? { recipient: recipient.trim(), channels } : { channel, to: to.trim() }
  return { ...whom, ...contentOf(draft) }
}

function contentOf(draft: SendDraft): object {
  const { target, channel, channels, kind, subject, body, templates, typed } = draft
  if (kind === 'text') {
    const withSubject = subject !== '' && channelsOf(draft).some((name) => kindOf(name).subject)
    return { ...(withSubject ? { subject } : {}), body }
  }
  const nameOf = (name: string): string => templates[name]?.name ?? ''
  const template =
    target === 'person' ? Object.fromEntries(channels.map((name) => [name, nameOf(name)])) : nameOf(channel)
  return { template, variables: variablesOf(placeholdersOf(draft), typed) }
}
