import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { OpenApiDocument } from '../core/rest/openapi.ts'
import { GENERAL, SERVICE } from './command.ts'
import { type Connection, connect } from './connect.ts'
import { didYouMean } from './did-you-mean.ts'
import { Exit, type ExitCode, exitOf, messageOf, seePage, usage } from './exit.ts'
import { type Flags, type Given, type Parsed, parse } from './flags.ts'
import { helpOf, rows } from './help.ts'
import {
  BYTES_FLAGS,
  CALL_FLAGS,
  type CallableOperation,
  type Field,
  flagsOf,
  operationsOf,
  parseJson,
  type Shape,
  shapeAt,
  typedValue,
} from './operations.ts'
import { interruptible, note, plain, print, styled, type Terminal } from './terminal.ts'

type Operations = readonly CallableOperation[]

/** `carillon call [operation]`. */
export async function call(terminal: Terminal, argv: readonly string[]): Promise<ExitCode | undefined> {
  const [id = ''] = argv
  const { OPERATIONS: known } = await import('./built-in.ts')
  if (id === '' || id.startsWith('-')) return list(terminal, argv, known)
  const wanted = prepared(id, argv.slice(1), known)
  if (!(wanted instanceof Exit)) {
    if (wanted.flags.on('help')) return showHelp(terminal, wanted.operation)
    return within(await connect(terminal, wanted.flags), (connection) =>
      perform(terminal, connection, wanted),
    )
  }
  // Plug-ins and channels of the service add operations and fields.
  const flags = connectionFlags(argv.slice(1))
  const connection = await connect(terminal, flags).catch(() => Promise.reject(wanted))
  return within(connection, async () => {
    const more = prepared(id, argv.slice(1), operationsOf(await documentOf(connection)))
    if (more instanceof Exit) throw more
    return more.flags.on('help') ? showHelp(terminal, more.operation) : perform(terminal, connection, more)
  })
}

async function within<Result>(
  connection: Connection,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

async function documentOf(connection: Connection): Promise<OpenApiDocument> {
  const response = await answered(connection, '/openapi.json', {})
  return (await response.json()) as OpenApiDocument
}

/** A connection's flags among others that are not known yet. */
function connectionFlags(argv: readonly string[]): Parsed {
  const given = argv.flatMap((arg, at) => {
    const [, name = '', inline] = /^--(config|url|organization)(?:=(.*))?$/s.exec(arg) ?? []
    return name === '' ? [] : [`--${name}=${inline ?? argv[at + 1] ?? ''}`]
  })
  return parse(given, SERVICE, [])
}

interface Wanted {
  readonly operation: CallableOperation
  readonly flags: Parsed
}

/** An operation with its flags, or the fault in them. */
function prepared(id: string, argv: readonly string[], known: Operations): Wanted | Exit {
  const operation = known.find((each) => each.id === id)
  if (operation === undefined)
    return usage(
      `There is no operation "${id}".${didYouMean(
        id,
        known.map((each) => each.id),
      )} "carillon call" lists them.`,
    )
  const inPath = operation.fields.filter(({ place }) => place === 'path')
  try {
    const flags = parse(argv, allFlags(operation), inPath)
    return { operation, flags }
  } catch (error) {
    if (error instanceof Exit) return error
    throw error
  }
}

function allFlags(operation: CallableOperation): Flags {
  return { ...flagsOf(operation), ...bodyFlags(operation), ...SERVICE, ...GENERAL }
}

function bodyFlags({ body }: CallableOperation): Flags {
  if (body === null) return {}
  return body === 'bytes' ? BYTES_FLAGS : CALL_FLAGS
}

async function list(terminal: Terminal, argv: readonly string[], known: Operations): Promise<undefined> {
  const flags = parse(argv, { ...SERVICE, ...GENERAL }, [])
  const isOfService = flags.text('url') !== undefined || flags.text('config') !== undefined
  const all = isOfService
    ? await within(await connect(terminal, flags), async (connection) =>
        operationsOf(await documentOf(connection)),
      )
    : known
  // The others are further paths of the same operations.
  const own = all.filter(({ path, id }) => !path.startsWith('/admin/') && !/Via[A-Z]/.test(id))
  if (flags.on('json')) {
    for (const { id, tag, method, path, summary } of own)
      await print(terminal, JSON.stringify({ operation: id, tag, method, path, summary }))
    return
  }
  const tags = new Set(own.map(({ tag }) => tag))
  for (const tag of tags) {
    await print(terminal, styled('bold', tag, terminal.stdout))
    const ofTag = own.filter((each) => each.tag === tag)
    for (const line of rows(ofTag.map(({ id, summary }) => [id, plain(summary)]))) await print(terminal, line)
  }
  note(terminal, '\n"carillon call <operation> --help" shows the arguments of one.')
}

async function showHelp(terminal: Terminal, operation: CallableOperation): Promise<undefined> {
  const { id, summary, description, method, path, fields, example } = operation
  const flags = flagsOf(operation)
  const of = (...places: readonly Field['place'][]): Flags =>
    Object.fromEntries(
      fields
        .filter(({ place }) => places.includes(place))
        .map(({ flag }) => [flag, flags[flag] as Flags[string]]),
    )
  const text = helpOf(
    {
      name: `call ${id}`,
      about: `${summary}: ${method} ${path}`,
      arguments: fields.filter(({ place }) => place === 'path').map(({ name, about }) => ({ name, about })),
      groups: [
        ['Parameters', of('query', 'header')],
        ['Body', { ...of('body'), ...bodyFlags(operation) }],
        ['Service', SERVICE],
        ['General', GENERAL],
      ],
      more: [description],
      examples: example === undefined ? [] : [`carillon call ${id} --data '${JSON.stringify(example)}'`],
    },
    terminal.stdout,
  )
  await print(terminal, text)
  return
}

async function perform(
  terminal: Terminal,
  connection: Connection,
  { operation, flags }: Wanted,
): Promise<ExitCode> {
  const path = pathOf(operation, flags, connection.organization)
  const headers = new Headers(
    fieldsIn(operation, flags, 'header').map(([{ name }, value]): [string, string] => [name, String(value)]),
  )
  const body = await bodyOf(terminal, operation, flags, headers)
  const init = { method: operation.method, headers, body }
  const response = await answered(connection, path, init)
  await show(terminal, response, flags.on('json'))
  return exitOf(response.status)
}

/** A request with the caller's key. @throws Exit `tryAgain`, `configuration` */
async function answered(
  { url, apiKey, fetch, organization }: Connection,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${apiKey}`)
  if (organization !== undefined) headers.set('x-organization-id', organization)
  const method = init.method ?? 'GET'
  const what = `${method} ${url}${path.replace(/\?.*/s, '')}`
  let response: Response
  try {
    response = await fetch(url + path, { ...init, headers })
  } catch (cause) {
    const { cause: inner } = cause as {
      readonly cause?: { readonly message?: string; readonly code?: string }
    }
    const why = inner?.message || inner?.code || messageOf(cause)
    throw new Exit('tryAgain', `${what} got no answer: ${why}.`, cause)
  }
  if (response.headers.get('x-request-id')?.startsWith('req_') !== true) {
    const message = `${what} answered ${response.status}, not as Carillon does. "--url" must be where its REST API is mounted.`
    throw new Exit('configuration', message)
  }
  return response
}

/** Data goes to stdout; an error to stderr. */
async function show(terminal: Terminal, response: Response, json: boolean): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status >= 400) return note(terminal, await errorText(await response.text(), response, json))
  const location = response.headers.get('location')
  if (location !== null) note(terminal, `Leads to ${location}`)
  if (type.startsWith('application/json')) {
    const text = await response.text()
    return print(terminal, json ? text : JSON.stringify(JSON.parse(text), null, 2))
  }
  for await (const chunk of response.body ?? []) {
    if (terminal.signal.aborted) return
    await print(terminal, chunk)
  }
}

async function errorText(text: string, { headers, status }: Response, json: boolean): Promise<string> {
  if (json) return text.trimEnd()
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return `The answer has the status ${status}.`
  }
  const { error, code: flat } = answer as { readonly error?: unknown; readonly code?: unknown }
  const nested = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const { code = flat, message = error, details } = nested
  const more = details === undefined ? '' : `\n${JSON.stringify(details)}`
  const wait = headers.get('retry-after')
  const again = wait === null ? '' : `\nTry again in ${wait} s.`
  const see = await seePage(String(code).toLowerCase())
  return `${plain(code)}: ${plain(message)}${more}${again}\nRequest ${headers.get('x-request-id')}${see}`
}

/** Values of the fields of one place: by flag, or by position in the path. */
function fieldsIn(
  operation: CallableOperation,
  flags: Parsed,
  place: Field['place'],
): (readonly [Field, unknown])[] {
  return operation.fields
    .filter((field) => field.place === place)
    .flatMap((field) => {
      const given = flags.given.filter(({ name }) => name === field.flag)
      return given.length === 0 ? [] : [[field, fieldValue(field, given)] as const]
    })
}

function fieldValue(field: Field, given: readonly Given[]): unknown {
  const whole = given
    .filter(({ path }) => path.length === 0)
    .map(({ value }) => one(field, value, field.flag))
  const parts = given.filter(({ path }) => path.length > 0)
  if (parts.length > 0) {
    const base = whole[0] ?? {}
    if (typeof base !== 'object') throw usage(`--${field.flag} has both a text and properties.`)
    return parts.reduce(
      (object, { path, value }) => withProperty(object, path, one(shapeAt(field, path), value, field.flag)),
      structuredClone(base) as Record<string, unknown>,
    )
  }
  const [first] = whole
  const isOne =
    whole.length === 1 &&
    (Array.isArray(first) || !field.types.includes('array') || field.types.includes('string'))
  return isOne ? first : whole
}

function one(shape: Shape, value: string | boolean, flag: string): unknown {
  return typeof value === 'boolean' ? value : typedValue(value, shape, flag)
}

function withProperty(
  object: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const inner =
    rest.length === 0 ? value : withProperty((object[name] ?? {}) as Record<string, unknown>, rest, value)
  return Object.fromEntries([...Object.entries(object).filter(([key]) => key !== name), [name, inner]])
}

function pathOf(operation: CallableOperation, flags: Parsed, organization: string | undefined): string {
  const byFlag = new Map(fieldsIn(operation, flags, 'path').map(([{ name }, value]) => [name, String(value)]))
  const positionals = [...flags.positionals]
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = byFlag.get(name) ?? positionals.shift()
    if (value === undefined || value === '')
      throw usage(`<${name}> is missing: carillon call ${operation.id} <${name}>.`)
    return encodeURIComponent(value)
  })
  if (positionals.length > 0) throw usage(`"${positionals[0]}" is one argument too many.`)
  const query = new URLSearchParams()
  const given = fieldsIn(operation, flags, 'query')
  assertRequired(operation, 'query', new Set(given.map(([{ name }]) => name)))
  for (const [{ name }, value] of given) {
    if (Array.isArray(value)) query.set(name, value.join(','))
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) query.set(`${name}[${key}]`, String(each))
    else query.set(name, String(value))
  }
  if (path.startsWith('/admin/') && organization !== undefined) query.set('orgId', organization)
  return query.size === 0 ? path : `${path}?${query}`
}

function assertRequired(
  { fields, id }: CallableOperation,
  place: Field['place'],
  given: ReadonlySet<string>,
): void {
  const missing = fields.find((each) => each.place === place && each.required && !given.has(each.name))
  if (missing !== undefined)
    throw usage(`--${missing.flag} is missing. "carillon call ${id} --help" shows what it takes.`)
}

async function bodyOf(
  terminal: Terminal,
  operation: CallableOperation,
  flags: Parsed,
  headers: Headers,
): Promise<string | Uint8Array<ArrayBuffer> | null> {
  const { body } = operation
  if (body === null) return null
  const given = flags.text('data')
  if (body === 'bytes') {
    headers.set('content-type', flags.text('content-type') ?? 'application/octet-stream')
    if (given === undefined) throw usage('--data is missing: a text, "@file", or "-" for stdin.')
    return new Uint8Array(await dataOf(terminal, given))
  }
  const base =
    given === undefined ? {} : parseJson((await dataOf(terminal, given)).toString('utf8'), '--data')
  if (typeof base !== 'object' || base === null || Array.isArray(base))
    throw usage('--data must be a JSON object.')
  const fields = Object.fromEntries(
    fieldsIn(operation, flags, 'body').map(([{ name }, value]) => [name, value]),
  )
  const whole: Record<string, unknown> = { ...base, ...fields }
  assertRequired(operation, 'body', new Set(Object.keys(whole)))
  if (body === 'json') {
    headers.set('content-type', 'application/json')
    return JSON.stringify(whole)
  }
  headers.set('content-type', 'application/x-www-form-urlencoded')
  const pairs = Object.entries(whole).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  )
  return new URLSearchParams(pairs).toString()
}

async function dataOf(terminal: Terminal, given: string): Promise<Buffer> {
  const { cwd, stdin } = terminal
  if (given === '-') return interruptible(buffer(stdin), terminal)
  if (!given.startsWith('@')) return Buffer.from(given)
  try {
    return await readFile(resolve(cwd, given.slice(1)))
  } catch (error) {
    throw usage(`--data cannot be read: ${messageOf(error)}`)
  }
}
