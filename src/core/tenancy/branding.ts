import { type Branding, DEFAULT_NAME, DEFAULT_ORGANIZATION, type OrganizationValue } from './organization.ts'

/** How an organization appears. The name is null only for `org_default`, as long as it has its first name. */
export function brandingOf(
  id: string,
  { name, branding }: Pick<OrganizationValue, 'name' | 'branding'>,
): Branding {
  const isNamed = id !== DEFAULT_ORGANIZATION || name !== DEFAULT_NAME
  const { name: shown = null, logoUrl = null, color = null } = branding ?? {}
  return { name: shown ?? (isNamed ? name : null), logoUrl, color }
}

/** The name of the branding among the variables of a template. */
const ORGANIZATION = 'organization'

const FIELDS: readonly (keyof Branding)[] = ['name', 'logoUrl', 'color']

/** The fields that a text needs, by the name that it uses. */
const NEEDED: ReadonlyMap<string, readonly (keyof Branding)[]> = new Map([
  [ORGANIZATION, FIELDS],
  ...FIELDS.map((field) => [`${ORGANIZATION}.${field}`, [field]] as const),
])

/** Whether every send has a value for the name. */
export function isOrganizationName(name: string): boolean {
  return NEEDED.has(name)
}

/** The fields that a text with the name needs. */
export function brandingFieldsOf(name: string): readonly (keyof Branding)[] {
  return NEEDED.get(name) ?? []
}

/**
 * The variables with the branding, unless they have their own `organization`. A missing logo or colour is empty; a
 * missing name is absent, so that a send without it is refused.
 *
 * @param fields default: all
 */
export function withOrganization(
  variables: Readonly<Record<string, unknown>>,
  branding: Branding,
  fields: Iterable<keyof Branding> = FIELDS,
): Readonly<Record<string, unknown>> {
  if (Object.hasOwn(variables, ORGANIZATION)) return variables
  const organization: Partial<Record<keyof Branding, string>> = {}
  for (const field of fields) {
    const value = branding[field]
    if (value !== null || field !== 'name') organization[field] = value ?? ''
  }
  return { ...variables, [ORGANIZATION]: organization }
}

/** Black or white, whichever is easier to read on a colour (WCAG 2.2, relative luminance). */
export function readableOn(color: string): '#000000' | '#ffffff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  // Here both have the contrast 4.58.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.1791 ? '#000000' : '#ffffff'
}
