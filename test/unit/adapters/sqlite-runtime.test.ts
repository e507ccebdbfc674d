import { expect, it } from 'vitest'
import { assertReadsUris } from '../../../adapters/storage/sqlite/runtime.ts'

it.each(['22.15.0', '22.20.0', '23.10.0', '24.0.0', '26.10.0'])('Node.js %s reads URIs', (version) => {
  expect(() => assertReadsUris(version)).not.toThrow()
})

it.each(['22.13.0', '22.14.9', '23.9.0'])('Node.js %s takes a URI for a name', (version) => {
  expect(() => assertReadsUris(version)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining(version) }),
  )
})
