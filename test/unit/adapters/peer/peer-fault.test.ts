import { expect, it } from 'vitest'
import { peerFault } from '../../../../adapters/peer/peer-fault.ts'

const missing = {
  code: 'missing_peer',
  message: 'The package "no-such-peer" is not installed. Run: npm install no-such-peer',
  details: { package: 'no-such-peer', command: 'npm install no-such-peer' },
}

it('says how to install a package that is absent', async () => {
  const cause: unknown = await import('no-such-peer' as string).catch((error: unknown) => error)
  expect(peerFault('no-such-peer', cause)).toMatchObject({ ...missing, cause })
})

it.each(['no-such-peer', 'no-such-peer/lib/part.js'])(
  'recognizes the error of a bundle without %s',
  (specifier) => {
    const cause = Object.assign(new Error(`Cannot find module '${specifier}'`), { code: 'MODULE_NOT_FOUND' })
    expect(peerFault('no-such-peer', cause)).toMatchObject(missing)
  },
)

it.each([
  "Cannot find package 'other' imported from nodemailer",
  "Cannot find module '/app/nodemailer/a.js'",
])('passes on what is wrong inside a package that is there: %s', (message) => {
  const broken = Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' })
  expect(peerFault('nodemailer', broken)).toBe(broken)
})
