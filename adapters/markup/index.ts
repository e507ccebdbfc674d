import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { MOST_NAMES } from '../../src/core/input/listed-names.ts'
import type { Markup } from '../../src/core/ports/markup.ts'
import { peerFault } from '../peer/peer-fault.ts'

/** The members in use of `@react-email/render` 2. */
interface RenderModule {
  render(element: unknown): Promise<string>
  toPlainText(html: string): string
}

/** `mjml` 5. Earlier versions have another result. */
type Mjml = (source: string, options: object) => Promise<{ readonly html: string }>

/** React Email and MJML. Each package is loaded on first use. */
export function markup(): Markup {
  return {
    async react(element) {
      const { render, toPlainText } = await loadRender()
      const html = await render(element)
      return { html, text: toPlainText(html) }
    },
    async mjml(source) {
      const compile = await loadMjml()
      try {
        return (await compile(source, { validationLevel: 'strict', ignoreIncludes: true })).html
      } catch (error) {
        throw invalidMjml(error)
      }
    },
  }
}

/**
 * A bundle includes it, because React must be there once. webpack, which warns about every package that it does not find,
 * leaves it to run time.
 *
 * @throws NotifierError `missing_peer`
 */
async function loadRender(): Promise<RenderModule> {
  try {
    const module: unknown = await import(
      /* webpackIgnore: true */ /* turbopackIgnore: false */ /* turbopackOptional: true */ '@react-email/render'
    )
    return module as RenderModule
  } catch (cause) {
    throw peerFault('@react-email/render', cause)
  }
}

/** @throws NotifierError `missing_peer` */
async function loadMjml(): Promise<Mjml> {
  try {
    const { default: compile } = (await atRunTime('mjml')) as { readonly default: Mjml }
    return compile
  } catch (cause) {
    throw peerFault('mjml', cause)
  }
}

/** Bundlers find no name and leave the package out: mjml adds 18 MB, and fails in a bundle that is an ES module. */
function atRunTime(name: string): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ name)
}

/** A fault as MJML reports it. Its own sentence names a path of the machine. */
interface MjmlFault {
  readonly line?: number
  readonly tagName?: string
  readonly message: string
}

/** The error of a source that MJML refuses, with the lines of the first faults. */
function invalidMjml(cause: unknown): NotifierError {
  const { errors } = (cause ?? {}) as { readonly errors?: readonly MjmlFault[] }
  const faults = Array.isArray(errors) ? (errors as readonly MjmlFault[]).slice(0, MOST_NAMES) : []
  const said = faults.map(
    ({ line, tagName, message }) => `line ${line ?? '?'} (${tagName ?? '?'}): ${message}`,
  )
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new NotifierError('invalid_template', {
    message: `MJML refuses the text: ${said.length > 0 ? said.join('; ') : reason.replace(/\.$/, '')}.`,
    details: { field: 'mjml' },
    cause,
  })
}
