import { expect, test } from 'vitest'
import { createSlots } from '../../../../src/core/delivery/slots.ts'
import { createTally } from '../../../../src/core/delivery/tally.ts'

/** A promise that a test resolves. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

type Gate = ReturnType<typeof gate>

const settle = ({ opened }: Gate): Promise<void> => opened

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a slot is free while the outcome of its message is recorded, and that is told', async () => {
  let freed = 0
  const slots = createSlots(
    2,
    () => {
      freed += 1
    },
    createTally(),
  )
  const provider = gate()
  const storage = gate()
  const ended = slots.run(
    'org_a',
    async () => {
      await provider.opened
      return storage
    },
    settle,
  )
  expect([slots.busy(), slots.free(), freed]).toEqual([1, 1, 0])
  provider.open()
  await soon()
  expect([slots.busy(), slots.free(), freed]).toEqual([0, 2, 1])
  storage.open()
  await ended
  expect([slots.free(), freed]).toEqual([2, 1])
})

test('twice as many outcomes as slots may wait for the storage, then nothing more is claimed and all slots are empty', async () => {
  const slots = createSlots(3, () => {}, createTally())
  const storage = gate()
  const three = (): Promise<void>[] => [1, 2, 3].map(() => slots.run('org_a', async () => storage, settle))
  const all = three()
  await soon()
  expect([slots.busy(), slots.free()]).toEqual([0, 3])
  all.push(...three())
  await soon()
  expect([slots.busy(), slots.free(), slots.empty()]).toEqual([0, 0, 3])
  storage.open()
  await Promise.all(all)
  expect(slots.free()).toBe(3)
})

test('more tasks than slots wait for one', async () => {
  const slots = createSlots(1, () => {}, createTally())
  const provider = gate()
  let begun = 0
  const task = async (): Promise<null> => {
    begun += 1
    await provider.opened
    return null
  }
  const both = [slots.run('org_a', task, settle), slots.run('org_a', task, settle)]
  await soon()
  expect([begun, slots.busy(), slots.free()]).toEqual([1, 2, 0])
  provider.open()
  await Promise.all(both)
  expect([begun, slots.free()]).toEqual([2, 1])
})

test('a task that throws, and an outcome that cannot be recorded, give their slots back', async () => {
  const slots = createSlots(1, () => {}, createTally())
  await expect(slots.run('org_a', () => Promise.reject(new Error('task')), settle)).rejects.toThrow('task')
  const failing = (): Promise<void> => Promise.reject(new Error('settle'))
  await expect(slots.run('org_a', async () => 'ending', failing)).rejects.toThrow('settle')
  expect([slots.busy(), slots.free()]).toEqual([0, 1])
})
