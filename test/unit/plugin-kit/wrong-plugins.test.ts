import { definePlugin, onDue, type Plugin, route } from 'carillon/plugin-kit'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { type Heard, notes, noting } from './world.ts'

const ending = onDue(notes, () => ({ next: null }))
const heard: Heard = { due: [], fails: false }

function creating(...plugins: readonly unknown[]) {
  return () =>
    createNotifier({ channels: { email: recordingProvider() }, plugins: plugins as readonly Plugin[] })
}

/** A plug-in whose parts are these. */
const parts = (given: object, more: object = {}) =>
  definePlugin({ name: 'notes', ...more, setup: () => ({ api: {}, ...given }) } as never)
const added = (...given: readonly object[]) =>
  parts({
    routes: given.map((each) =>
      route({
        operation: 'addNote',
        summary: 'Add',
        method: 'POST',
        path: '/v1/notes',
        permission: 'Write',
        response: z.object({}),
        handler: () => ({}),
        ...each,
      } as never),
    ),
  })

it.each<[fault: string, make: () => unknown, words: string]>([
  [
    'no list',
    () => createNotifier({ channels: { email: recordingProvider() }, plugins: {} as never }),
    'a list of plug-ins',
  ],
  ['another value', creating({ name: 'notes' }), 'definePlugin() from carillon/plugin-kit'],
  ['two of one name', creating(noting(heard), noting(heard)), 'two are named "notes"'],
  [
    'the name of a group',
    creating(definePlugin({ name: 'templates', setup: () => ({ api: {} }) })),
    'another name',
  ],
  [
    'the name of a method',
    creating(definePlugin({ name: 'send', setup: () => ({ api: {} }) })),
    'another name',
  ],
  [
    'the name of a member of the notifier',
    creating(definePlugin({ name: 'stop', setup: () => ({ api: {} }) })),
    'another name',
  ],
  [
    'a name with capitals',
    () => definePlugin({ name: 'Notes', setup: () => ({ api: {} }) }),
    'lower-case letters',
  ],
  [
    'a name with a digit',
    () => definePlugin({ name: 'notes2', setup: () => ({ api: {} }) }),
    'lower-case letters',
  ],
  ['no definition', () => (definePlugin as () => unknown)(), 'needs a definition'],
  [
    'a plain object',
    creating({ name: 'notes', setup: () => ({ api: {} }) }),
    'definePlugin() from carillon/plugin-kit',
  ],
  ['records that are no list', () => parts({}, { records: {} }), 'in "records"'],
  [
    'records with capitals',
    () => parts({}, { records: [{ ...notes, name: 'notes_All' }] }),
    '40 characters at most',
  ],
  ['records of version 0', () => parts({}, { records: [{ ...notes, version: 0 }] }), 'a whole number from 1'],
  [
    'records of version 2 without an upgrade',
    () => parts({}, { records: [{ ...notes, version: 2 }] }),
    'upgrade(value, from)',
  ],
  ['two kinds of one name', () => parts({}, { records: [notes, notes] }), 'two kinds of records'],
  ['records that fall due without a handler', creating(parts({}, { records: [notes] })), 'add onDue()'],
  [
    'two handlers of one kind',
    creating(parts({ due: [ending, ending] }, { records: [notes] })),
    'two handlers',
  ],
  ['a judge that is no function', creating(parts({ judge: [] })), '"judge"'],
  ['routes that are no list', creating(parts({ routes: {} })), 'lists as "due" and "routes"'],
  [
    'a setup that throws',
    creating(
      definePlugin({
        name: 'notes',
        setup: () => {
          throw new Error('no')
        },
      }),
    ),
    'failed in setup()',
  ],
  ['a path with a colon', creating(added({ path: '/v1/notes/:id' })), 'or is a parameter'],
  ['a path with an empty segment', creating(added({ path: '/v1/notes/' })), 'or is a parameter'],
  ['a short operation', creating(added({ operation: 'b' })), '3 to 60 characters'],
  ['a status of no answer', creating(added({ status: 204 })), 'neither 200 nor 201'],
  ['a GET with a body', creating(added({ method: 'GET', body: z.object({}) })), 'GET with a body'],
  ['a body that is a list', creating(added({ body: z.array(z.string()) })), 'no Zod schema of an object'],
  ['a body that is no schema', creating(added({ body: { text: 'string' } })), 'no Zod schema of an object'],
  ['an unknown member', () => parts({}, { judge: () => [] }), 'unknown member "judge"'],
  ['no setup', () => definePlugin({ name: 'notes' } as never), 'setup()'],
  [
    'records of another name',
    () => parts({}, { records: [{ ...notes, name: 'other' }] }),
    'Name them "notes"',
  ],
  [
    'records that say nothing of people',
    () => parts({}, { records: [{ name: 'notes', version: 1 }] }),
    'concerns(value)',
  ],
  [
    'an error without a remedy',
    () => parts({}, { errors: { closed: [423, 'Closed.'] } }),
    'the fault and the remedy',
  ],
  [
    'an error of the service',
    () => parts({}, { errors: { closed: [503, 'Closed.', 'Wait.'] } }),
    '400 to 499',
  ],
  [
    'a setup that waits',
    creating(definePlugin({ name: 'notes', setup: (async () => ({ api: {} })) as never })),
    'at once',
  ],
  ['an unknown part', creating(parts({ judges: [] })), 'unknown part "judges"'],
  ['no methods', creating(parts({ api: undefined })), '"api"'],
  ['a method that is none', creating(parts({ api: { list: 5 } })), '"list"'],
  [
    'a handler of other records',
    creating(parts({ due: [onDue(notes, () => ({ next: null }))] })),
    'no kind of its "records"',
  ],
  ['a path of another feature', creating(added({ path: '/v1/templates' })), 'must begin with "/v1/notes"'],
  [
    'a path that only looks like its own',
    creating(added({ path: '/v1/notesx' })),
    'must begin with "/v1/notes"',
  ],
  ['an unknown permission', creating(added({ permission: 'All' })), 'Read Only, Write, Full Access'],
  ['an unknown method', creating(added({ method: 'GIT' })), 'GET, POST'],
  ['no summary', creating(added({ summary: '' })), 'without a summary'],
  ['no response', creating(added({ response: undefined })), 'schema of its response'],
  [
    'two routes of one operation',
    creating(added({}, { path: '/v1/notes/all' })),
    'the operation "addNote" twice',
  ],
  ['two routes at one address', creating(added({}, { operation: 'putNote' })), 'POST /v1/notes twice'],
  ['an unknown error of a route', creating(added({ errors: ['nonsense'] })), '"nonsense"'],
])('%s is refused', (_fault, make, words) => {
  expect(make).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining(words) }),
  )
})
