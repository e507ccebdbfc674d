import type { Markup } from '../../src/ports/markup.ts'
import { loadPeer } from '../peer/load-peer.ts'
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
      const load = () => import('@react-email/render')
      const { render, toPlainText } = (await loadPeer('@react-email/render', load)) as unknown as RenderModule
      const html = await render(element)
      return { html, text: toPlainText(html) }
    },
    async mjml(source) {
      // @ts-expect-error: the package has no types of its own
      const { default: compile } = await loadPeer<{ default: Mjml }>('mjml', () => import('mjml'))
      try {
        return (await compile(source, { validationLevel: 'strict', ignoreIncludes: true })).html
      } catch (error) {
        throw invalidMjml(error)
      }
    },
  }
}
