import { createHash } from 'node:crypto'
import { invalidOption } from '../../core/errors/invalid-option.ts'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import { assertSharedBounds, type Bounds } from '../../core/input/bounds.ts'
import { assertObject, wrong } from '../../core/input/option-checks.ts'
import type { KeepingInsert } from '../../core/ports/storage/records.ts'
import { parseSubject } from '../../core/tenancy/scope.ts'
import { assertSlots, createAssembly } from '../../core/text/assemble.ts'
import { assertTemplateText } from '../../core/text/assert-text.ts'
import { type PinnedText, SHARED_NAME, type SharedRole } from '../../core/text/shared-text.ts'
import { usesIn } from '../../core/text/uses.ts'
import { layoutInput, partialInput, type SharedSourceInput } from './input.ts'
import { type StoredSharedVersion, sharedVersionKind } from './records.ts'

/** Layouts or partials of the application, by name. */
export type SharedTextsOption = Readonly<Record<string, SharedSourceInput>>

/** The layouts and partials in the options. Organizations without one of that name use them. */
export interface ApplicationTexts {
  find(role: SharedRole, name: string): PinnedText | null
  /** Stores all versions, so that messages accepted with them stay the same after another deployment. */
  readonly versions: readonly KeepingInsert<StoredSharedVersion>[]
}

/** Maximum number of layouts, and of partials. */
const MAX_TEXTS = 500

/** @throws NotifierError `invalid_configuration` */
export function resolveApplicationTexts(
  given: {
    readonly layouts?: SharedTextsOption | undefined
    readonly partials?: SharedTextsOption | undefined
  },
  bounds: Bounds,
): ApplicationTexts {
  const texts = {
    layout: resolve('layout', 'layouts', given.layouts, bounds),
    partial: resolve('partial', 'partials', given.partials, bounds),
  }
  for (const role of ['layout', 'partial'] as const)
    for (const text of texts[role].values()) assertWhole(`${role}s.${text.name}`, text, texts.partial, bounds)
  return {
    find: (role, name) => texts[role].get(name) ?? null,
    versions: (['layout', 'partial'] as const).flatMap((role) =>
      [...texts[role].values()].map((text) => toVersion(role, text)),
    ),
  }
}

function resolve(
  role: SharedRole,
  option: string,
  given: SharedTextsOption = {},
  bounds: Bounds,
): ReadonlyMap<string, PinnedText> {
  assertObject(option, given)
  const entries = Object.entries(given)
  if (entries.length > MAX_TEXTS) throw wrong(option, `an object of at most ${MAX_TEXTS}`)
  return new Map(
    entries.map(([name, source]) => [name, resolveOne(role, `${option}.${name}`, name, source, bounds)]),
  )
}

function resolveOne(
  role: SharedRole,
  option: string,
  name: string,
  source: SharedSourceInput,
  bounds: Bounds,
): PinnedText {
  if (!SHARED_NAME.test(name) || name.length > 100)
    throw wrong(option, 'named by lower-case words joined by hyphens')
  assertObject(option, source)
  try {
    const { html = null, text = null } = parseSubject(role === 'layout' ? layoutInput : partialInput, {
      ...source,
      name,
    })
    assertSharedBounds({ html, text }, bounds)
    assertTemplateText({ html, text }, bounds, role)
    if (role === 'layout') assertSlots({ html, text })
    const { partials: uses, localized } = usesIn([html, text])
    return { name, html, text, uses, localized, pin: pinOf([role, name, html, text]) }
  } catch (error) {
    if (!isNotifierError(error)) throw error
    throw wrong(option, `valid: ${error.message}`)
  }
}

/** Assembles a text with its partials, which are also the application's: the result holds for all organizations. */
function assertWhole(
  option: string,
  text: PinnedText,
  partials: ReadonlyMap<string, PinnedText>,
  bounds: Bounds,
): void {
  if (text.uses.length === 0) return
  for (const flavour of ['html', 'text'] as const) {
    const source = text[flavour]
    if (source === null) continue
    try {
      createAssembly({ layout: null, partials }, bounds).expand(source, flavour, flavour)
    } catch (error) {
      if (!isNotifierError(error)) throw error
      const place = `${option}.${flavour}`
      throw invalidOption(place, `The option "${place}": ${error.message}`, error)
    }
  }
}

/** The same text has the same id in all processes. */
function pinOf(parts: readonly unknown[]): string {
  return `app_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

function toVersion(role: SharedRole, { pin, ...text }: PinnedText): KeepingInsert<StoredSharedVersion> {
  const value = { ...text, role, description: null, version: 1, updatedAt: null, of: pin }
  return { kind: sharedVersionKind, do: 'insert', id: pin, organizationId: null, value, ifTaken: 'keep' }
}
