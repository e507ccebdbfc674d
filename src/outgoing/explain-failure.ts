import { authorityOf, type Origin } from './origin.ts'
import { ignoredProxyVariable } from './proxy.ts'

const UNKNOWN_AUTHORITY = /^(UNABLE_TO_(GET_ISSUER|VERIFY)|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED)/
const NO_ROUTE = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)$/

/** Why a provider cannot be reached, with the remedy if the code shows one. */
export function explainConnection(origin: Origin, code: string, throughProxy: boolean): string {
  const ignored = throughProxy || !NO_ROUTE.test(code) ? null : ignoredProxyVariable()
  return [
    `No connection could be made to ${authorityOf(origin)} (${code}).`,
    ...(UNKNOWN_AUTHORITY.test(code)
      ? ['If you trust the authority of its certificate, name its file in NODE_EXTRA_CA_CERTS.']
      : []),
    ...(ignored === null
      ? []
      : [`${ignored} has no effect: set NODE_USE_ENV_PROXY=1, or use the option "proxy".`]),
  ].join(' ')
}

/** Why a proxy cannot be used. Its URL's user name and password are not shown. */
export function explainProxy(proxy: Origin, code: string): string {
  const mixedUp = proxy.secure ? /^(EPROTO|ERR_SSL_|ECONNRESET$)/ : /^(HPE_|ECONNRESET$)/
  const [spoken, other] = proxy.secure ? ['no TLS', 'http'] : ['TLS', 'https']
  const hint = mixedUp.test(code) ? ` If it speaks ${spoken}, its URL begins with ${other}://.` : ''
  return `The proxy ${authorityOf(proxy)} cannot be used (${code}).${hint}`
}
