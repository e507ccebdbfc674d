import { Resolver } from 'node:dns/promises'
import { type Finding, failed, ok, warning } from './finding.ts'

/** The texts at a name. Null: neither the name nor one below it exists. Rejects if DNS does not answer. */
export type Texts = (name: string) => Promise<readonly string[] | null>

/** Asks DNS. @param servers default: those of the system @throws of `node:dns` for a wrong server */
export function textsOf(servers: readonly string[]): Texts {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      const { code } = error as { readonly code?: string }
      if (code === 'ENODATA') return []
      if (code === 'ENOTFOUND') return null
      throw error
    }
  }
}

/** Whether receivers can tell that mail of a domain is its own. @param selectors of DKIM; empty: unknown */
export async function senderFindings(
  domain: string,
  texts: Texts,
  selectors: readonly string[],
): Promise<readonly Finding[]> {
  const checks = [
    ['SPF', spf(domain, texts)],
    ...(selectors.length === 0
      ? [['DKIM', anyDkim(domain, texts)] as const]
      : selectors.map((selector) => ['DKIM', dkim(domain, selector, texts)] as const)),
    ['DMARC', dmarc(domain, texts)],
  ] as const
  return Promise.all(
    checks.map(([name, check]) =>
      check.catch((error: { readonly code?: string }) =>
        warning(
          `${name} of ${domain}`,
          `DNS does not answer (${error.code ?? 'no code'})`,
          'Run this again where DNS works, or name a server: "--dns 1.1.1.1".',
        ),
      ),
    ),
  )
}

async function spf(domain: string, texts: Texts): Promise<Finding> {
  const part = `SPF of ${domain}`
  const records = ((await texts(domain)) ?? []).filter((text) => /^v=spf1(?: |$)/i.test(text))
  const [record] = records
  if (record === undefined) {
    const remedy = `Publish a TXT record at ${domain} that names the servers of your mail provider: "v=spf1 include:… ~all".`
    return warning(part, 'there is no record', remedy)
  }
  if (records.length > 1)
    return failed(part, `there are ${records.length} records, and receivers then trust none`, 'Merge them.')
  if (/ \+?all(?: |$)/i.test(record))
    return failed(part, 'it lets every server send', 'End the record with "~all" or "-all".')
  return ok(part, record)
}

async function dkim(domain: string, selector: string, texts: Texts): Promise<Finding> {
  const name = `${selector}._domainkey.${domain}`
  const part = `DKIM of ${domain}`
  const remedy = `Publish at ${name} what your mail provider shows for it.`
  const key = ((await texts(name)) ?? []).find((text) => /(?:^|;)\s*p=/i.test(text))
  if (key === undefined) return failed(part, `there is no key at ${name}`, remedy)
  if (/(?:^|;)\s*p=\s*(?:;|$)/i.test(key)) return failed(part, `the key at ${name} is revoked`, remedy)
  return ok(part, `there is a key at ${name}`)
}

/** Selectors cannot be listed, but a name below which nothing is does not exist (RFC 8020). */
async function anyDkim(domain: string, texts: Texts): Promise<Finding> {
  const part = `DKIM of ${domain}`
  if ((await texts(`_domainkey.${domain}`)) !== null)
    return ok(part, 'there are keys; "--dkim <selector>" checks one')
  return warning(part, 'there is no key', `Publish the records that your mail provider shows for ${domain}.`)
}

/** The policy of a domain, or else of one above it. */
async function dmarc(domain: string, texts: Texts): Promise<Finding> {
  const part = `DMARC of ${domain}`
  const labels = domain.split('.')
  for (let at = 0; at === 0 || at < labels.length - 1; at += 1) {
    const name = `_dmarc.${labels.slice(at).join('.')}`
    const records = ((await texts(name)) ?? []).filter((text) => /^v=DMARC1\s*(?:;|$)/i.test(text))
    if (records.length > 1)
      return failed(
        part,
        `there are ${records.length} records at ${name}, and receivers then use none`,
        'Keep one.',
      )
    if (records[0] !== undefined) return ok(part, records[0])
  }
  const remedy = `Publish a TXT record at _dmarc.${domain}: "v=DMARC1; p=none; rua=mailto:…". Large receivers require one.`
  return warning(part, 'there is no record', remedy)
}
