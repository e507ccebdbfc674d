import { expect, it } from 'vitest'
import { postgresStorage } from '../../../adapters/storage/postgres/index.ts'

it.each([
  'postgres://db-1.internal,db-2.internal/app',
  'postgres://carillon:secret@db-1.internal:5432,db-2.internal:5432/app?target_session_attrs=read-write',
  'postgresql://db-1.internal,db-2.internal',
])('a list of hosts, which pg does not know, is refused: %s', (connectionString) => {
  expect(() => postgresStorage({ connectionString })).toThrow(
    expect.objectContaining({
      code: 'invalid_configuration',
      message: expect.stringMatching(/^postgresStorage: "connectionString" must name one host/),
      details: { option: 'connectionString' },
    }),
  )
})

it.each([
  'postgres://db.internal/app',
  'postgres://carillon:a,b@db.internal:5432/app?options=-c%20search_path=a,b',
  'postgresql:///app?host=/var/run/postgresql',
  'postgres://db.internal/a,b',
])('one host is taken: %s', (connectionString) => {
  expect(postgresStorage({ connectionString }).name).toBe('postgres')
})
