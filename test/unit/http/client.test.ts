import { describe, expect, it } from 'vitest'
import { acceptsScheme, type HttpsMode, httpsRequired, resolveClient } from '../../../src/http/client.ts'
import { canonicalAddress, compileNetworks } from '../../../src/http/proxies.ts'
import { request } from './support.ts'

interface Row {
  title: string
  trusted: string[]
  peer: string | undefined
  for?: string
  proto?: string
  encrypted?: boolean
  address: string | null
  secure: boolean
}

const rows: Row[] = [
  {
    title: 'nothing trusted',
    trusted: [],
    peer: '127.0.0.1',
    for: '6.6.6.6',
    proto: 'https',
    address: '127.0.0.1',
    secure: false,
  },
  {
    title: 'TLS without proxies',
    trusted: [],
    peer: '203.0.113.5',
    encrypted: true,
    address: '203.0.113.5',
    secure: true,
  },
  {
    title: 'an untrusted peer may write what it likes',
    trusted: ['10.0.0.0/8'],
    peer: '203.0.113.5',
    for: '6.6.6.6',
    proto: 'https',
    address: '203.0.113.5',
    secure: false,
  },
  {
    title: 'one hop',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    for: '203.0.113.9',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'the left of X-Forwarded-For is the client’s own claim',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    for: '6.6.6.6, 203.0.113.9',
    proto: 'https, http',
    address: '203.0.113.9',
    secure: false,
  },
  {
    title: 'the scheme at the depth of the client',
    trusted: ['loopback', '203.0.113.0/24'],
    peer: '127.0.0.1',
    for: '6.6.6.6, 203.0.113.9',
    proto: 'https, http',
    address: '6.6.6.6',
    secure: true,
  },
  {
    title: 'one scheme for two hops',
    trusted: ['loopback', '203.0.113.0/24'],
    peer: '127.0.0.1',
    for: '6.6.6.6, 203.0.113.9',
    proto: 'https',
    address: '6.6.6.6',
    secure: true,
  },
  {
    title: 'all trusted: the leftmost',
    trusted: ['0.0.0.0/0'],
    peer: '127.0.0.1',
    for: '6.6.6.6, 203.0.113.9',
    proto: 'http',
    address: '6.6.6.6',
    secure: false,
  },
  {
    title: 'a trusted peer without headers',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    address: '127.0.0.1',
    secure: false,
  },
  {
    title: 'a trusted peer over TLS without a scheme',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    for: '203.0.113.9',
    encrypted: true,
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'only a scheme',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    proto: 'HTTPS',
    address: '127.0.0.1',
    secure: true,
  },
  {
    title: 'the last of several schemes without addresses',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    proto: 'https, http',
    address: '127.0.0.1',
    secure: false,
  },
  {
    title: 'garbage stops the walk',
    trusted: ['loopback', '10.0.0.0/8'],
    peer: '127.0.0.1',
    for: '6.6.6.6, unknown, 10.0.0.1',
    address: null,
    secure: false,
  },
  {
    title: 'an empty entry stops the walk',
    trusted: ['loopback'],
    peer: '127.0.0.1',
    for: '6.6.6.6,',
    address: null,
    secure: false,
  },
  {
    title: 'mapped peer',
    trusted: ['127.0.0.0/8'],
    peer: '::ffff:127.0.0.1',
    for: '203.0.113.9',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'mapped entry',
    trusted: ['loopback'],
    peer: '::1',
    for: '::ffff:203.0.113.9',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'port and brackets',
    trusted: ['loopback', '2001:db8::/32'],
    peer: '127.0.0.1',
    for: '203.0.113.9:4711, [2001:db8::1]:443',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'zone of a link-local peer',
    trusted: ['linklocal'],
    peer: 'fe80::1%eth0',
    for: '203.0.113.9',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'private proxies',
    trusted: ['uniquelocal'],
    peer: '10.1.2.3',
    for: '203.0.113.9, 192.168.0.1, 172.16.0.1',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'a single address',
    trusted: ['192.0.2.1'],
    peer: '192.0.2.1',
    for: '203.0.113.9',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'its neighbour',
    trusted: ['192.0.2.1'],
    peer: '192.0.2.2',
    for: '203.0.113.9',
    proto: 'https',
    address: '192.0.2.2',
    secure: false,
  },
  {
    title: 'a Unix socket that nobody named',
    trusted: ['loopback'],
    peer: 'unix',
    for: '203.0.113.9',
    proto: 'https',
    address: null,
    secure: false,
  },
  {
    title: 'a Unix socket',
    trusted: ['unix'],
    peer: 'unix',
    for: '6.6.6.6, 203.0.113.9',
    proto: 'https',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'a Unix socket, and a proxy before that one',
    trusted: ['10.0.0.0/8', 'unix'],
    peer: 'unix',
    for: '203.0.113.9, 10.1.2.3',
    proto: 'https, http',
    address: '203.0.113.9',
    secure: true,
  },
  {
    title: 'a Unix socket that says only how, not for whom',
    trusted: ['unix'],
    peer: 'unix',
    proto: 'https',
    address: null,
    secure: true,
  },
  {
    title: 'a Unix socket without headers',
    trusted: ['unix'],
    peer: 'unix',
    address: null,
    secure: false,
  },
  {
    title: 'nobody is a Unix socket by their own word',
    trusted: ['loopback', 'unix'],
    peer: '127.0.0.1',
    for: '6.6.6.6, unix',
    address: null,
    secure: false,
  },
  {
    title: 'a peer beside the Unix socket',
    trusted: ['unix'],
    peer: '203.0.113.5',
    for: '6.6.6.6',
    proto: 'https',
    address: '203.0.113.5',
    secure: false,
  },
  {
    title: 'a connection of which nothing is known is no Unix socket',
    trusted: ['unix'],
    peer: undefined,
    for: '6.6.6.6',
    proto: 'https',
    address: null,
    secure: false,
  },
  {
    title: 'no address at all',
    trusted: ['loopback'],
    peer: undefined,
    for: '203.0.113.9',
    proto: 'https',
    address: null,
    secure: false,
  },
]

describe('the client behind proxies', () => {
  it.each(rows)('$title', ({ trusted, peer, for: forwarded, proto, encrypted, address, secure }) => {
    const headers = {
      ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
      ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }),
    }
    const matcher = trusted.length === 0 ? null : compileNetworks(trusted)
    const client = resolveClient(
      request({ remoteAddress: peer, encrypted: encrypted ?? false, headers }),
      matcher,
    )
    expect(client).toEqual({ address, secure })
  })
})

describe('schemes that are accepted', () => {
  const cases: [HttpsMode, string, string | undefined, Record<string, string>, boolean, boolean][] = [
    ['require', 'plain from afar', '203.0.113.5', {}, false, false],
    ['require', 'plain from loopback', '127.0.0.1', {}, false, false],
    ['require', 'secure', '203.0.113.5', {}, true, true],
    ['allow-loopback', 'plain from loopback', '127.0.0.1', {}, false, true],
    ['allow-loopback', 'plain from mapped loopback', '::ffff:127.0.0.1', {}, false, true],
    ['allow-loopback', 'plain from IPv6 loopback', '::1', {}, false, true],
    ['allow-loopback', 'plain from afar', '203.0.113.5', {}, false, false],
    ['allow-loopback', 'plain from an unknown peer', undefined, {}, false, false],
    ['allow-loopback', 'plain from a Unix socket', 'unix', {}, false, false],
    ['allow-loopback', 'a local proxy', '127.0.0.1', { 'x-forwarded-for': '203.0.113.5' }, false, false],
    [
      'allow-loopback',
      'a local proxy, spoofing',
      '127.0.0.1',
      { 'x-forwarded-proto': 'https' },
      false,
      false,
    ],
    ['allow-loopback', 'a local proxy by RFC 7239', '127.0.0.1', { forwarded: 'proto=https' }, false, false],
    ['allow-loopback', 'a local proxy that says Via', '127.0.0.1', { via: '1.1 proxy' }, false, false],
    ['allow-loopback', 'secure from afar', '203.0.113.5', {}, true, true],
    ['off', 'plain from afar', '203.0.113.5', {}, false, true],
  ]
  it.each(cases)('%s: %s', (mode, _title, remoteAddress, headers, secure, accepted) => {
    const incoming = request({ remoteAddress, headers, encrypted: secure })
    expect(acceptsScheme(mode, { address: null, secure }, incoming)).toBe(accepted)
  })
})

describe('addresses', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:80', '1.2.3.4'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['fe80::1%en0', 'fe80::1'],
    ['1.2.3', null],
    ['', null],
    ['unknown', null],
    ['1.2.3.4:80:80', null],
    ['[1.2.3.4', null],
  ])('%s becomes %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical)
  })

  it.each([
    ['300.0.0.1'],
    ['10.0.0.0/33'],
    ['::/129'],
    ['example.com'],
    ['fe80::1%eth0'],
    ['10.0.0.0/'],
    [''],
  ])('refuses "%s" as a network', (entry) => {
    expect(compileNetworks([entry])).toBeNull()
  })
})

describe('the refusal of plain HTTP', () => {
  const refusal = (remoteAddress: string, headers: Record<string, string> = {}, trusted: string[] = []) =>
    httpsRequired(request({ encrypted: false, remoteAddress, headers }), compileNetworks(trusted))

  it('names the option on this machine, and nothing elsewhere', () => {
    expect(refusal('127.0.0.1').message).toContain("https: 'allow-loopback'")
    expect(refusal('203.0.113.5').message).not.toContain('allow-loopback')
  })
  it('names the forwarding header that was the cause', () => {
    const forwarded = refusal('::1', { via: '1.1 proxy' })
    expect(forwarded.details).toEqual({ header: 'via' })
    expect(forwarded.message).toMatch(/"via".*https: 'off'/)
    const proto = refusal('10.0.0.1', { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https' })
    expect(proto.details).toEqual({ header: 'x-forwarded-proto' })
    expect(proto.message).toContain('"trustedProxies"')
  })
})
