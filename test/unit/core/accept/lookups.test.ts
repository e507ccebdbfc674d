import { expect, it } from 'vitest'
import { createLookups } from '../../../../src/core/accept/lookups.ts'
import { createGate } from '../../../../src/core/gate/gate.ts'
import type { RecordKind } from '../../../../src/core/records/record-kind.ts'
import { createTextReader } from '../../../../src/core/text/text-store.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'

interface Note {
  readonly text: string
}

const notes: RecordKind<Note> = { name: 'notes', version: 1 }
const drafts: RecordKind<Note> = { name: 'drafts', version: 1 }

it('reads of one turn are joined by their kind, whichever it is', async () => {
  const storage = inMemory()
  await storage.start({ kinds: [notes, drafts] })
  const insert = (kind: RecordKind<Note>, id: string) =>
    ({ kind, do: 'insert', id, organizationId: null, value: { text: `${kind.name} ${id}` } }) as const
  await storage.records.write([[insert(notes, 'a'), insert(notes, 'b'), insert(drafts, 'a')]])
  const { records } = createLookups(storage, createTextReader(storage.records), createGate([]))
  const readNotes = watchReads(storage, notes)
  const readDrafts = watchReads(storage, drafts)
  const found = await Promise.all([
    records.get(notes, [{ id: 'a' }, { id: 'none' }]),
    records.get(drafts, [{ id: 'a' }]),
    records.get(notes, [{ id: 'b' }]),
  ])
  const texts = found.map((each) => each.map((record) => record?.value.text ?? null))
  expect(texts).toEqual([['notes a', null], ['drafts a'], ['notes b']])
  expect(readNotes).toEqual([[{ id: 'a' }, { id: 'none' }, { id: 'b' }]])
  expect(readDrafts).toEqual([[{ id: 'a' }]])
})
