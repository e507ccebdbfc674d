import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { carillon, spawnCarillon, writeConfig } from '../../support/command-line.ts'
import { dnsServer } from '../../support/dns-server.ts'
import { describeWith } from '../../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { httpReceiver } from '../../support/receivers.ts'
import { serve } from '../../support/serve.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folder = (): string => temporaryDirectory(onTestFinished)

test('doctor finds a sound service', async () => {
  const cwd = folder()
  const check = 'check: async () => {}'
  const channels = `{ email: { name: 'own', maxConcurrent: 1, send, ${check} }, sms: { name: 'plain', maxConcurrent: 1, send } }`
  writeConfig(cwd, { channels })
  const { code, out, err } = await spawnCarillon(['doctor', '--json'], { cwd }).outcome
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const found = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(found.map(({ part, result }) => [part, result])).toEqual([
    ['Node.js', 'ok'],
    ['configuration', 'ok'],
    ['schema', 'ok'],
    ['clock', 'ok'],
    ['storage sqlite', 'ok'],
    ['provider email/own', 'ok'],
    ['provider sms/plain', 'ok'],
  ])
})

test('doctor says what to do about each fault', async () => {
  const cwd = folder()
  const refuses = "check: async () => { throw new Error('wrong password') }"
  writeConfig(cwd, {
    name: 'carillon.config.mjs',
    channels: `{ email: { name: 'own', maxConcurrent: 1, send, ${refuses} } }`,
  })
  const { code, out } = await carillon(['doctor'], { cwd })
  expect(code).toBe(1)
  expect(out).toMatch(/^failed {3}provider email\/own: wrong password\n {9}Correct the options of "own"/m)
})

test.for([
  ["throw new Error('no database')", 'configuration: .*no database'],
  [
    "import { createNotifier } from 'SOURCES/src/index.ts'\nimport { sqlite } from 'SOURCES/adapters/storage/sqlite/index.ts'\n" +
      "export default createNotifier({ storage: sqlite({ file: '/missing/folder/n.db' }), channels: {} })",
    'start: .*',
  ],
] as const)('doctor stops at what nothing works without: %s', async ([source, says]) => {
  const cwd = folder()
  const sources = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
  writeFileSync(join(cwd, 'carillon.config.mjs'), source.replaceAll('SOURCES', sources))
  const { code, out } = await carillon(['doctor'], { cwd })
  expect(code).toBe(1)
  expect(out).toMatch(new RegExp(`^failed {3}${says}\n {9}\\S`, 'm'))
})

/** The findings of a process. */
async function examine(cwd: string, ...argv: readonly string[]) {
  const { code, out, err } = await spawnCarillon(['doctor', '--json', ...argv], { cwd }).outcome
  const found = out
    .trim()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { part: string; result: string; message: string; remedy: string | null },
    )
  const of = (part: string) => found.filter((finding) => finding.part === part)
  return { code, err, found, of }
}

test('doctor asks DNS about the domains of senders', async () => {
  const dns = await dnsServer({
    'good.example.test': ['v=spf1 include:mail.example.test ~all', 'other text'],
    's1._domainkey.good.example.test': [`v=DKIM1; k=rsa; p=${'A'.repeat(300)}`],
    '_domainkey.good.example.test': [],
    '_dmarc.example.test': ['v=DMARC1; p=none'],
    'open.other.test': ['v=spf1 +all'],
    's1._domainkey.open.other.test': ['v=DKIM1; p='],
    '_dmarc.open.other.test': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
    'twice.other.test': ['v=spf1 ~all', 'v=spf1 -all'],
    'silent.test': null,
    '_domainkey.silent.test': null,
    '_dmarc.silent.test': null,
  })
  onTestFinished(dns.close)
  const cwd = folder()
  const of = (senders: readonly string[]) =>
    writeConfig(cwd, {
      name: 'carillon.config.mjs',
      channels: `{ email: { name: 'own', maxConcurrent: 1, send, senders: ${JSON.stringify(senders)} } }`,
    })
  of([
    'news@good.example.test',
    'good.example.test',
    'open.other.test',
    'twice.other.test',
    'none.example.com',
  ])
  const ask = ['--dns', dns.address]
  const { code, of: findings } = await examine(cwd, ...ask, '--dkim', 's1')
  expect(code).toBe(1)
  const result = (part: string) => findings(part).map(({ result, remedy }) => [result, remedy !== null])
  expect(result('SPF of good.example.test')).toEqual([['ok', false]])
  expect(result('DKIM of good.example.test')).toEqual([['ok', false]])
  expect(findings('DMARC of good.example.test')).toMatchObject([
    { result: 'ok', message: 'v=DMARC1; p=none' },
  ])
  expect(result('SPF of open.other.test')).toEqual([['failed', true]])
  expect(findings('DKIM of open.other.test')).toMatchObject([{ message: expect.stringContaining('revoked') }])
  expect(result('DMARC of open.other.test')).toEqual([['failed', true]])
  expect(findings('SPF of twice.other.test')).toMatchObject([
    { message: expect.stringContaining('2 records') },
  ])
  expect(result('SPF of none.example.com')).toEqual([['warning', true]])
  expect(result('DKIM of none.example.com')).toEqual([['failed', true]])
  expect(result('DMARC of none.example.com')).toEqual([['warning', true]])

  of(['good.example.test', 'none.example.com', 'silent.test'])
  const unnamed = await examine(cwd, ...ask)
  expect(unnamed.code).toBe(0)
  expect(unnamed.of('DKIM of good.example.test')).toMatchObject([{ result: 'ok' }])
  expect(unnamed.of('DKIM of none.example.com')).toMatchObject([{ result: 'warning' }])
  for (const record of ['SPF', 'DKIM', 'DMARC'])
    expect(unnamed.of(`${record} of silent.test`)).toMatchObject([
      { result: 'warning', message: 'DNS does not answer (ETIMEOUT)' },
    ])
  expect(await carillon(['doctor', '--dns', 'nonsense'], { cwd })).toMatchObject({ code: 2 })
})

test('doctor compares clocks with the storage and with servers of providers', async () => {
  const port = await serve((_, res) => {
    res.setHeader('date', new Date(Date.now() - 30_000).toUTCString())
    res.end()
  })
  const cwd = folder()
  const check = `check: () => new Promise((done) => http.get('http://127.0.0.1:${port}/', (res) => res.resume().on('end', done)))`
  const file = writeConfig(cwd, {
    name: 'carillon.config.mjs',
    channels: `{ email: { name: 'own', maxConcurrent: 1, send, ${check} } }`,
    more: 'storage: sqlite({ file, clock: { now: () => Date.now() + 120_000 } }),',
  })
  appendFileSync(file, "\nimport http from 'node:http'\n")
  const { code, of } = await examine(cwd)
  expect(code).toBe(1)
  expect(of('clock')).toMatchObject([
    {
      result: 'failed',
      message: 'is 120 s behind the storage',
      remedy: expect.stringContaining('Synchronize'),
    },
    {
      result: 'warning',
      message: expect.stringMatching(/^is (?:29|30) s ahead of the servers of providers$/),
    },
  ])
})

test('doctor asks whether webhook endpoints answer, and shows no secret of their URLs', async () => {
  const receiver = await httpReceiver((response) => {
    response.statusCode = 405
    response.end()
  })
  onTestFinished(receiver.close)
  const cwd = folder()
  writeConfig(cwd, {
    name: 'carillon.config.mjs',
    more: "webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },",
  })
  const create = (url: string) =>
    carillon(['call', 'createWebhook', '--body-url', url, '--events', 'notification.sent'], { cwd })
  const good = JSON.parse((await create(`http://127.0.0.1:${receiver.port}/hook?token=hunter2`)).out)
  const bad = JSON.parse((await create('http://127.0.0.1:1025/hunter2')).out)
  const { code, found, of } = await examine(cwd)
  expect(code).toBe(0)
  expect(of(`webhook ${good.id} to 127.0.0.1:${receiver.port}`)).toMatchObject([{ result: 'ok' }])
  expect(of(`webhook ${bad.id} to 127.0.0.1:1025`)).toMatchObject([
    {
      result: 'warning',
      remedy: expect.stringContaining(`deleteWebhook ${bad.id} --organization org_default`),
    },
  ])
  expect(JSON.stringify(found)).not.toContain('hunter2')
})

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  test('doctor names the missing rights, and their grants mend them', async () => {
    const url = await sharedPostgres()
    const schema = uniqueSchema()
    const role = `${schema}_role`
    const admin = (sql: string) => onPostgres(url, (client) => client.query(sql))
    await admin(`CREATE ROLE "${role}" LOGIN PASSWORD 'hunter2'`)
    onTestFinished(async () => {
      await admin(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
      await admin(`DROP OWNED BY "${role}"`)
      await admin(`DROP ROLE "${role}"`)
    })
    const own = new URL(url)
    own.username = role
    own.password = 'hunter2'
    const cwd = folder()
    const configure = (connectionString: string) =>
      writeConfig(cwd, {
        name: 'carillon.config.mjs',
        more: `storage: postgres({ connectionString: ${JSON.stringify(connectionString)}, schema: '${schema}' }),`,
      })
    configure(own.href)
    const unborn = await examine(cwd)
    expect(unborn.code).toBe(1)
    expect(unborn.of('rights')).toMatchObject([
      { remedy: expect.stringContaining('GRANT CREATE ON DATABASE') },
    ])

    configure(url)
    expect((await spawnCarillon(['migrate'], { cwd }).outcome).code).toBe(0)
    configure(own.href)
    const foreign = await examine(cwd)
    expect(foreign.code).toBe(1)
    const remedies = foreign
      .of('rights')
      .map(({ remedy }) => String(remedy).replace('Run as the owner: ', ''))
    expect(remedies).toEqual([
      `GRANT USAGE ON SCHEMA "${schema}" TO "${role}";`,
      `GRANT CREATE ON SCHEMA "${schema}" TO "${role}";`,
      expect.stringMatching(/^GRANT "\w+" TO "/),
    ])
    for (const remedy of remedies) await admin(remedy)
    const mended = await examine(cwd)
    expect(mended.of('rights')).toEqual([])
    expect(mended).toMatchObject({ code: 0, err: '' })

    await admin(`REVOKE INSERT ON "${schema}".notifications FROM CURRENT_USER`)
    const revoked = await examine(cwd)
    expect(revoked.of('rights')).toMatchObject([
      { remedy: expect.stringContaining('GRANT INSERT ON ALL TABLES') },
    ])
    expect(JSON.stringify([unborn, foreign, mended])).not.toContain('hunter2')
  })
})
