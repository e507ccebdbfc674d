import type { Markup } from '../../src/core/ports/markup.ts'
import { peerFault } from '../peer/peer-fault.ts'
import { invalidMjml } from './invalid-mjml.ts'

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
