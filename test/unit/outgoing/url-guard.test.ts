import { describe, expect, it } from 'vitest'
import { guardedHttp } from '../../../src/outgoing/guarded-http.ts'

const strict = guardedHttp()
const local = guardedHttp({ allow: ['127.0.0.0/8', '::1/128'], allowHttp: true })

describe('refuses', () => {
  it.each([
    'https://example.com/',
    'https://example.com:443/hook?token=1',
    'https://example.com:1024/',
    'https://example.com:8443/',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://[::ffff:8.8.8.8]/',
    'https://localhost.example.com/',
    'https://notlocalhost/',
  ])('lets %s pass', (url) => {
    expect(strict.refuses(url)).toBeNull()
  })

  it.each([
    'https://127.0.0.1/',
    'https://127.0.0.1./',
    'https://127.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://127。0。0。1/',
    'https://0/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://168.63.129.16/',
    'https://10.0.0.1/',
    'https://192.168.0.1:8443/',
    'https://localhost/',
    'https://localhost./',
    'https://LOCALHOST:8443/',
    'https://app.localhost/',
    'https://app.localhost./',
  ])('refuses the private address of %s', (url) => {
    expect(strict.refuses(url)).toMatch(/^The address is not public\. .*"allow"/)
  })

  it.each([
    ['http://example.com/', /https/],
    ['ftp://example.com/', /https/],
    ['file:///etc/passwd', /https/],
    ['gopher://example.com/', /https/],
    ['javascript:alert(1)', /https/],
    ['https://user@example.com/', /credentials/],
    ['https://user:pw@example.com/', /credentials/],
    ['https://:pw@example.com/', /credentials/],
    ['https://host.test@127.0.0.1/', /credentials/],
    ['https://example.com:80/', /port/],
    ['https://example.com:22/', /port/],
    ['https://example.com:25/', /port/],
    ['https://example.com:0/', /port/],
    ['https://example.com:1023/', /port/],
    ['https://example.com:65536/', /parsed/],
    ['https://[fe80::1%25eth0]/', /parsed/],
    ['https://', /parsed/],
    ['/events', /parsed.*whole, such as https:/],
    ['', /parsed/],
    ['example.com', /parsed/],
  ])('refuses %s', (url, why) => {
    expect(strict.refuses(url)).toMatch(why)
  })

  it('opens what development needs, and no more', () => {
    for (const url of [
      'http://127.0.0.1:8080/',
      'http://localhost:8080/',
      'http://localhost/',
      'http://[::1]:3000/',
      'https://example.com/',
    ]) {
      expect(local.refuses(url), url).toBeNull()
    }
    expect(local.refuses('http://10.0.0.1:8080/')).toMatch(/public/)
    expect(local.refuses('http://127.0.0.1:22/')).toMatch(/port/)
    expect(local.refuses('http://user@127.0.0.1:8080/')).toMatch(/credentials/)
    expect(local.refuses('ftp://127.0.0.1/')).toMatch(/https/)
  })
})

it('names the options that open private addresses and http', () => {
  const named = guardedHttp({ options: 'webhooks.' })
  expect(named.refuses('https://localhost:3000/')).toContain('"webhooks.allow", such as 127.0.0.0/8')
  expect(named.refuses('http://example.com/')).toContain('"webhooks.allowHttp"')
})
