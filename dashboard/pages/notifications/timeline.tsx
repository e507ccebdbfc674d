import { texts } from '../../texts/index.ts'
import type { Tone } from '../../ui/badge.tsx'
import { Time } from '../../ui/time.tsx'
import type { Entry } from './notification.ts'

const said = texts.notifications
const TONES: Readonly<Partial<Record<Entry['event'], Tone>>> = {
  sent: 'good',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  deferred: 'warn',
  attempt_failed: 'warn',
  attempt_ambiguous: 'warn',
  unsubscribed: 'warn',
  undelivered: 'bad',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
}

/** All that is known of a notification, in order: its attempts, and what providers have reported. */
export function Timeline({ of: entries }: { readonly of: readonly Entry[] }) {
  return (
    <ol class="timeline">
      {entries.map((entry) => (
        <li key={entry.sequence} class={TONES[entry.event] ?? 'plain'}>
          <p class="timeline-head">
            <strong>{said.events[entry.event]}</strong>
            <span class="muted">
              <Time at={entry.timestamp} style="full" />
            </span>
          </p>
          <Details of={entry} />
        </li>
      ))}
    </ol>
  )
}

function Details({ of: entry }: { readonly of: Entry }) {
  const { attempt, provider, durationMs, segments, error, message, providerCode, providerMessageId } = entry
  const circumstances = [
    attempt === null ? null : said.attempt(attempt),
    provider,
    durationMs === null ? null : said.took(durationMs),
    segments === null ? null : said.segments(segments),
    entry.ambiguous ? said.ambiguous : null,
    entry.machine ? said.machine : null,
  ].filter((text) => text !== null)
  const text = message ?? error?.message ?? null
  return (
    <>
      {circumstances.length === 0 ? null : <p class="muted">{circumstances.join(' · ')}</p>}
      {text === null ? null : (
        <p class="long">
          {text} {error === null ? null : <code>{error.code}</code>}
        </p>
      )}
      {providerCode === null ? null : (
        <p class="hint">
          {said.providerCode}: <code>{providerCode}</code>
        </p>
      )}
      {providerMessageId === null ? null : (
        <p class="hint">
          {said.messageId}: <code>{providerMessageId}</code>
        </p>
      )}
    </>
  )
}
