import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { postgres } from '../../../adapters/storage/postgres/index.ts'

it.each([
  'postgres://db-1.internal,db-2.internal/app',
  'postgres://carillon:secret@db-1.internal:5432,db-2.internal:5432/app?target_session_attrs=read-write',
  'postgresql://db-1.internal,db-2.internal',
])('a list of hosts, which pg does not know, is refused: %s', (connectionString) => {
  expect(() => postgres({ connectionString })).toThrow(
    expect.objectContaining({
      code: 'invalid_configuration',
      message: expect.stringMatching(/^postgres: "connectionString" must name one host/),
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
  expect(postgres({ connectionString }).name).toBe('postgres')
})

it.each([
  'postgres://app:p#w@db.internal/app',
  'postgres://app:p/w@db.internal/app',
  'postgres://app:p?w@db.internal/app',
  'postgres://db.internal:port/app',
])('what is no URL is refused, and not shown: %s', (connectionString) => {
  let error: unknown
  try {
    postgres({ connectionString })
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringContaining('encodeURIComponent'),
    details: { option: 'connectionString' },
  })
  expect(inspect(error)).not.toContain('db.internal')
})

it.each([
  'postgres://app:p%23w@db.internal/app',
  'postgres://app:pw@/app?host=/tmp',
  'postgres://%2Ftmp/app',
])('what pg takes is taken: %s', (connectionString) => {
  expect(postgres({ connectionString }).name).toBe('postgres')
})

it.each(['', "o'hara", 'a$b', 'a.b', 'pg_app', 'a"b', 'x'.repeat(64), 'a\0', 'a b', 7 as never])(
  'a schema that is no plain name is refused: %j',
  (schema) => {
    expect(() => postgres({ connectionString: 'postgres://db.internal/app', schema })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', details: { option: 'schema' } }),
    )
  },
)

it.each([
  ['connectTimeoutMs', 86_400_001],
  ['statementTimeoutMs', 0x7fffffff],
  ['statementTimeoutMs', Number.MAX_SAFE_INTEGER],
  ['statementTimeoutMs', 0],
] as const)('a time that no timer can count to, or none, is refused: %s %d', (option, value) => {
  expect(() => postgres({ connectionString: 'postgres://db.internal/app', [option]: value })).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', details: { option } }),
  )
})
