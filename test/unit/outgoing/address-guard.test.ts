import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import { addressGuard } from '../../../src/outgoing/address-guard.ts'

const guard = addressGuard()

/** First and last address of every block of the list, and what lies in between for the famous ones. */
const BLOCKED_IPV4 = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.1.2.3', '10.255.255.255'],
  ...['100.64.0.0', '100.100.100.200', '100.127.255.255', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ...['169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255'],
  ...['172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.255', '192.0.2.0', '192.0.2.255'],
  ...['192.31.196.0', '192.31.196.255', '192.52.193.0', '192.52.193.255', '192.88.99.0', '192.88.99.255'],
  ...['192.168.0.0', '192.168.255.255', '192.175.48.0', '192.175.48.255', '198.18.0.0', '198.19.255.255'],
  ...['198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255'],
  ...['240.0.0.0', '255.255.255.255', '168.63.129.16'],
]

/** The neighbours of the blocks. */
const OPEN_IPV4 = [
  ...[
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0'],
  ...['192.0.3.0', '192.31.195.255', '192.31.197.0', '192.52.192.255', '192.52.194.0', '192.88.98.255'],
  ...['192.88.100.0', '192.167.255.255', '192.169.0.0', '192.175.47.255', '192.175.49.0', '198.17.255.255'],
  ...['198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ...['8.8.8.8', '168.63.129.15', '168.63.129.17'],
]

const BLOCKED_IPV6 = [
  ...['::', '::1', '0:0:0:0:0:0:0:1', '::7f00:1', '::127.0.0.1', '::8.8.8.8', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '64:ff9b:1:ffff::1', '100::1', '100:0:0:1::'],
  ...['2001::', '2001::1', '2001:2::1', '2001:10::1', '2001:1f::1', '2001:20::1', '2001:1ff:ffff::1'],
  ...['2001:db8::1', '2001:db8:ffff::1', '2002::1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:ffff::1'],
  ...['2620:4f:8000::1', '2620:4f:8000:ffff::1', '3fff::1', '3fff:fff:ffff::1', '5f00::1', '5f00:ffff::1'],
  ...[
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    'febf::1',
    'fec0::1',
    'feff::1',
  ],
  ...['ff00::', 'ff02::1', 'ffff::1', '4000::1', '1fff::1', 'e000::1'],
]

const OPEN_IPV6 = [
  ...['2000::1', '2001:200::1', '2001:4860:4860::8888', '2001:db7:ffff::1', '2001:db9::1', '2003::1'],
  ...['2606:4700::1111', '2620:4f:7fff::1', '2620:4f:8001::1', '2a00:1450::1', '3ffe::1', '3fff:1000::1'],
]

describe('addressGuard', () => {
  it.each(BLOCKED_IPV4)('blocks %s, also mapped into IPv6 in any spelling', (address) => {
    expect(guard.blocks(address)).toBe(true)
    for (const mapped of mappings(address)) expect(guard.blocks(mapped), mapped).toBe(true)
  })

  it.each(OPEN_IPV4)('opens %s, also mapped into IPv6 in any spelling', (address) => {
    expect(guard.blocks(address)).toBe(false)
    for (const mapped of mappings(address)) expect(guard.blocks(mapped), mapped).toBe(false)
  })

  it.each(BLOCKED_IPV6)('blocks %s', (address) => {
    expect(guard.blocks(address)).toBe(true)
  })

  it.each(OPEN_IPV6)('opens %s', (address) => {
    expect(guard.blocks(address)).toBe(false)
  })

  it.each([
    '',
    'garbage',
    'localhost',
    'example.com',
    '127.1',
    '0x7f.0.0.1',
    '8.8.8.8 ',
    '8.8.8.8:80',
    '[::1]',
  ])('blocks %j, which is no address', (text) => {
    expect(guard.blocks(text)).toBe(true)
  })

  it('blocks any IPv4 address inside IPv6 that is not a mapping', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [high, low] = groups(address)
        for (const embedded of [
          `::${address}`,
          `64:ff9b::${address}`,
          `2002:${high}:${low}::1`,
          `2001:0:${high}:${low}::1`,
          `::ffff:0:${address}`,
        ]) {
          expect(guard.blocks(embedded), embedded).toBe(true)
        }
      }),
    )
  })

  it('opens the blocks that are allowed, and nothing else', () => {
    const open = addressGuard(['127.0.0.0/8', '::1/128', '10.1.0.0/16', '192.168.1.7'])
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::1', '10.1.255.255', '192.168.1.7']) {
      expect(open.blocks(address), address).toBe(false)
    }
    for (const address of ['10.2.0.0', '192.168.1.8', '::2', '::7f00:1', '169.254.169.254', 'fe80::1%lo']) {
      expect(open.blocks(address), address).toBe(true)
    }
  })

  it.each([
    '',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0/8',
    'localhost',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/',
    'fe80::1%lo/64',
  ])('refuses %j as a block and names the option', (block) => {
    const error = thrownBy(() => addressGuard([block]))
    expect(error).toSatisfy(isNotifierError)
    expect(error).toMatchObject({ code: 'invalid_configuration', details: { option: 'allow' } })
  })
})

function groups(address: string): [string, string] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
}

function mappings(address: string): string[] {
  const [high, low] = groups(address)
  return [`::ffff:${address}`, `::FFFF:${high}:${low}`, `0:0:0:0:0:ffff:${high}:${low}`]
}

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return null
}
