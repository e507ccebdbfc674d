import {
  definePlugin,
  onDue,
  type PluginJudge,
  type PluginRecords,
  type PluginWrites,
  route,
} from 'carillon/plugin-kit'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { createNotifier } from '../../../src/create-notifier.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'

export interface Note {
  readonly text: string
  readonly at: number | null
}

export const notes: PluginRecords<Note> = {
  name: 'notes',
  version: 1,
  due: ({ at }) => at,
  concerns: () => null,
}

/** What became due, and with which number of claims. */
export interface Heard {
  readonly due: string[]
  fails: boolean
}

/** A plug-in with records, timers and a judge that tests choose. */
export function noting(heard: Heard, judge?: PluginJudge) {
  return definePlugin({
    name: 'notes',
    records: [notes],
    errors: { closed: [423, 'The shop is closed.', 'Come back tomorrow.'] },
    setup({ records, error, sendWith, send, cancel }) {
      const store = records(notes)
      const api = {
        add: (organizationId: string, id: string, value: Note) => store.insert(organizationId, id, value),
        find: (organizationId: string, id: string) => store.find(organizationId, id),
        change: (organizationId: string, id: string, at: number | null) =>
          store.change(organizationId, id, (value) => ({ ...value, at })),
        remove: (organizationId: string, id: string) => store.remove(organizationId, id),
        list: (organizationId: string, limit: number) => store.list(organizationId, { limit }),
        async close() {
          throw error('closed', { details: { until: 'tomorrow' } })
        },
        fail() {
          throw new Error('broken')
        },
        send: (organizationId: string, to: string) => send(organizationId, mail(to)),
        stop: (organizationId: string, id: string) => cancel(organizationId, id),
        store: (organizationId: string, writes: PluginWrites) => sendWith(organizationId, writes),
        tell: (organizationId: string, id: string, to: string) =>
          sendWith(organizationId, {
            sends: [mail(to)],
            inserts: [{ kind: notes, id, value: { text: to, at: null } }],
          }),
      }
      return {
        api,
        routes: [
          route({
            operation: 'addNote',
            summary: 'Add a note',
            method: 'POST',
            path: '/v1/notes/{id}',
            permission: 'Write',
            status: 201,
            errors: ['closed'],
            idempotencyKey: true,
            body: z.object({ text: z.string().max(100) }),
            query: z.object({ closed: z.stringbool().optional() }),
            response: z.object({ id: z.string() }),
            async handler({ organizationId, params, body, query, idempotencyKey = body.text }) {
              if (query.closed === true) await api.close()
              await api.add(organizationId, params.id ?? '', { text: idempotencyKey, at: null })
              return { id: params.id }
            },
          }),
        ],
        due: [
          onDue(notes, ({ id, value, claims }) => {
            heard.due.push(`${id} ${claims}`)
            if (heard.fails) throw new Error('not now')
            if (value.text === 'again') return { next: value }
            if (value.text === 'mistyped') return { next: null, send: [mail('ada@example.com')] } as never
            return { next: null, sends: value.text.includes('@') ? [mail(value.text)] : [] }
          }),
        ],
        judge,
      }
    },
  })
}

export function mail(to: string) {
  return { channel: 'email', to, subject: 'Hi', body: 'Hello' } as const
}

export async function startNoting(judge?: PluginJudge, pollMs = 1_000) {
  const heard: Heard = { due: [], fails: false }
  const clock: FakeClock = fakeClock()
  const email = recordingProvider()
  const notifier = createNotifier({
    clock,
    channels: { email },
    plugins: [noting(heard, judge)],
    delivery: { pollMs },
  })
  const errors: Error[] = []
  notifier.on('error', (error) => errors.push(error))
  await notifier.start()
  onTestFinished(() => notifier.stop())

  /** Lets time go by until something is true. */
  async function until(isTrue: () => boolean | Promise<boolean>, stepMs = 1_000): Promise<void> {
    for (let step = 0; step < 500; step += 1) {
      if (await isTrue()) return
      await clock.advance(stepMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
    throw new Error('It did not come true.')
  }
  return { notifier, clock, email, heard, errors, until }
}
