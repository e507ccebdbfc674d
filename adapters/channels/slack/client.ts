import type { PostResult } from '../../../src/domain/http-answer.ts'
import { loadPeer } from '../../peer/load-peer.ts'
import type { CapturedCall } from '../kit/http/captured-call.ts'

/** The members in use of `@slack/web-api` 7 and 8, so that the declarations do not need the package. */
export interface SlackModule {
  readonly WebClient: new (
    token: string,
    options: Readonly<Record<string, unknown>>,
  ) => { apiCall(method: string, args: Readonly<Record<string, unknown>>): Promise<unknown> }
}

/** @throws NotifierError `missing_peer` */
export async function loadSlack(): Promise<SlackModule> {
  const module: { readonly default?: unknown } = await loadPeer(
    '@slack/web-api',
    () => import('@slack/web-api'),
  )
  return ('WebClient' in module ? module : module.default) as SlackModule
}

/** The client would print. The outcome has the same information. */
const SILENT = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => 'error',
  setName() {},
}

/** Options of a client for one call: no retries, and our own HTTP. */
export function clientOptions(call: CapturedCall, slackApiUrl: string): Readonly<Record<string, unknown>> {
  return {
    slackApiUrl: `${slackApiUrl}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: SILENT,
    fetch: fetchBy(call),
    adapter: adapterBy(call),
  }
}

/** HTTP function for version 8: a part of the standard `fetch`. */
function fetchBy(call: CapturedCall) {
  return async (
    url: string | URL,
    init: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown } = {},
  ): Promise<object> => {
    const { status, headers, body } = answered(await post(call, String(url), init.headers ?? {}, init.body))
    return {
      ok: status >= 200 && status < 300,
      status,
      statusText: String(status),
      url: String(url),
      headers: new Headers({ ...headers }),
      text: async () => body,
      json: async (): Promise<unknown> => JSON.parse(body),
      arrayBuffer: async () => new TextEncoder().encode(body).buffer,
    }
  }
}

/** HTTP function for version 7: an axios adapter. */
function adapterBy(call: CapturedCall) {
  return async (config: {
    readonly url?: string
    readonly baseURL?: string
    readonly headers?: object
    readonly data?: unknown
  }): Promise<object> => {
    const url = new URL(config.url ?? '', config.baseURL).href
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries({ ...config.headers })) {
      if (typeof value === 'string') headers[name] = value
    }
    const answer = answered(await post(call, url, headers, config.data))
    const { status } = answer
    return {
      status,
      statusText: String(status),
      headers: answer.headers,
      data: answer.body,
      config,
      request: {},
    }
  }
}

function post(
  call: CapturedCall,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<PostResult> {
  return call.request({ url, headers, body: String(body ?? '') })
}

function answered(result: PostResult): Extract<PostResult, { kind: 'answered' }> {
  if (result.kind === 'failed') throw new Error(result.message)
  return result
}
