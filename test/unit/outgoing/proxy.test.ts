import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ProxyOptions, proxyFrom } from '../../../src/outgoing/proxy.ts'

const url = 'http://proxy.example.net:3128'
const through = (text: string, option?: string | ProxyOptions): string | undefined =>
  proxyFrom(option)(new URL(text))?.href

function environment(variables: Readonly<Record<string, string>>): void {
  onTestFinished(() => void vi.unstubAllEnvs())
  const all = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'NODE_USE_ENV_PROXY', 'NODE_OPTIONS']
  for (const name of all) {
    vi.stubEnv(name, variables[name])
    vi.stubEnv(name.toLowerCase(), variables[name.toLowerCase()])
  }
}

describe('the proxy of the option', () => {
  it.each<[string, boolean]>([
    ['*', true],
    ['api.example.com', true],
    ['API.EXAMPLE.COM', true],
    ['example.com', false],
    ['.example.com', true],
    ['*.example.com', true],
    ['.ample.com', false],
    ['*.api.example.com', false],
    ['.api.example.com', true],
    ['api.example.com:443', true],
    ['api.example.com:8443', false],
    ['.example.com:443', true],
    ['other.example.com', false],
    ['', false],
  ])('is not for the exception %s', (entry, direct) => {
    expect(through('https://api.example.com/', { url, noProxy: [entry] })).toBe(
      direct ? undefined : `${url}/`,
    )
  })

  it.each<[string, string, boolean]>([
    ['127.0.0.1', 'https://127.0.0.1/', true],
    ['127.0.0.1', 'https://127.0.0.11/', false],
    ['10.0.0.0/8', 'https://10.1.2.3/', true],
    ['10.0.0.0/8', 'https://11.1.2.3/', false],
    ['10.0.0.0/8', 'https://api.example.com/', false],
    ['10.0.0.1-10.0.0.9', 'https://10.0.0.5/', true],
    ['10.0.0.1-10.0.0.9', 'https://10.0.0.10/', false],
    ['10.0.0.9-10.0.0.1', 'https://10.0.0.5/', false],
    ['::1', 'https://[::1]/', true],
    ['[::1]:8443', 'https://[::1]:8443/', true],
    ['[::1]:8443', 'https://[::1]/', false],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/', true],
  ])('is not for the exception %s: %s', (entry, to, direct) => {
    expect(through(to, { url, noProxy: [entry] })).toBe(direct ? undefined : `${url}/`)
  })

  it('wins over the environment', () => {
    environment({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://other.example.net:1', NO_PROXY: '*' })
    expect(through('https://api.example.com/', url)).toBe(`${url}/`)
  })

  it.each(['socks5://u:hunter2@proxy', 'proxy:hunter2', 'http://u:hunter2%zz@proxy', '', 7 as never])(
    'must be a URL of an HTTP proxy, which no error shows: %s',
    (option) => {
      expect(() => proxyFrom(option)).toThrow(
        expect.objectContaining({ code: 'invalid_configuration', details: { option: 'proxy' } }),
      )
      expect(() => proxyFrom(option)).not.toThrow(/hunter2/)
    },
  )
})

describe('the proxy of the environment', () => {
  const https = 'https://api.example.com/'

  it('is used if Node.js is to use it', () => {
    environment({ HTTPS_PROXY: url })
    expect(through(https)).toBeUndefined()
    environment({ HTTPS_PROXY: url, NODE_USE_ENV_PROXY: '1' })
    expect(through(https)).toBe(`${url}/`)
    environment({ HTTPS_PROXY: url, NODE_OPTIONS: '--enable-source-maps --use-env-proxy' })
    expect(through(https)).toBe(`${url}/`)
  })

  it('differs by scheme, and names in small letters come first', () => {
    environment({
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: 'http://large.example.net:1',
      https_proxy: url,
      HTTP_PROXY: 'http://plain.example.net:1',
    })
    expect(through(https)).toBe(`${url}/`)
    expect(through('http://127.0.0.1:8080/')).toBe('http://plain.example.net:1/')
  })

  it('is not for the hosts in NO_PROXY', () => {
    environment({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: url, NO_PROXY: 'localhost, .example.com' })
    expect(through(https)).toBeUndefined()
    expect(through('https://api.example.org/')).toBe(`${url}/`)
  })

  it('must be a URL', () => {
    environment({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'proxy.example.net:3128' })
    expect(() => through(https)).toThrow(/"HTTPS_PROXY" must be the URL of an HTTP proxy/)
  })
})
