import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames } from '../input/listed-names.ts'
import { ORGANIZATION_ID } from '../tenancy/organization.ts'

/** The right calls for options that are often given to other calls. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['idempotencyKey', 'only send(), sendBatch() and notifications.resend() take it'],
  [
    'tx',
    'only send(), sendBatch(), and resend(), cancel() and reschedule() of notifications join a transaction',
  ],
])

/**
 * The error of a call with more arguments than its method takes. Null: it has none. An ignored one in JavaScript might
 * name an organization, and the call would act for the default one.
 */
export function excess(name: string, takes: number, args: readonly unknown[]): NotifierError | null {
  if (args.length <= takes) return null
  const extra = args.slice(takes).find((each) => each !== undefined)
  if (extra === undefined) return null
  return new NotifierError('invalid_parameter', {
    message: `${name}() ${reasonOf(name, extra, args)}`,
    details: { field: 'options', expected: 'left out' },
  })
}

function reasonOf(name: string, extra: unknown, args: readonly unknown[]): string {
  if (isIterated(args))
    return `was passed to map() or forEach(), which add an index and the list. Pass (each) => ${name}(each) instead.`
  if (namesOrganization(extra))
    return 'does not take an organization. Call the same method of notifier.organization(id).'
  if (typeof extra === 'function') return 'takes no callback. Await the promise that it returns.'
  const names = typeof extra === 'object' && extra !== null && !Array.isArray(extra) ? Object.keys(extra) : []
  if (names.length === 0) return 'got an argument too many. Leave it out.'
  const hints = names.flatMap((each) => (PLACES.has(each) ? ` "${each}": ${PLACES.get(each)}.` : []))
  return `got an object too many, with ${listedNames(names)}. Leave it out.${hints.join('')}`
}

/** The call of a function that was passed to `map`: an item, its index, and the list. */
function isIterated(args: readonly unknown[]): boolean {
  const [item, index, list] = args.slice(-3)
  return Array.isArray(list) && typeof index === 'number' && list[index] === item
}

function namesOrganization(extra: unknown): boolean {
  if (typeof extra === 'string') return ORGANIZATION_ID.test(extra)
  return (
    typeof extra === 'object' &&
    extra !== null &&
    Object.keys(extra).some((name) => name.toLowerCase() === 'organizationid')
  )
}
