import type { AnyChannel, ChannelParts } from '../../core/accept/input.ts'
import type { TemplateDraft } from '../../core/text/preview-input.ts'
import type { LintOptions } from './input.ts'
import type { TemplateLint } from './model.ts'

export interface TemplateLinting<Channels extends ChannelParts = AnyChannel> {
  /**
   * Finds faults of a template in all its locales, with its layout and partials: what a send would refuse, and what
   * recipients would not see as intended. docs/reference/lint.md lists the rules.
   *
   * @throws NotifierError as `get`, as `draft` with `draft`, and as `send` for the parts
   *
   * @example
   * const { findings } = await notifier.templates.lint('order-shipped', { draft: true })
   * for (const { severity, field, message } of findings) console.log(severity, field, message)
   */
  lint(idOrName: string, options?: LintOptions<Channels>): Promise<TemplateLint>
  /**
   * Finds faults of an unstored template, like {@link lint}, in all its locales: `inLocale` and `recipient` have no effect.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, and as `send` for
   *   the parts
   *
   * @example
   * const { findings } = await notifier.templates.lintDraft({ channel: 'email', subject: 'Hi', html: '<p>{{name}</p>' })
   */
  lintDraft(draft: TemplateDraft<Channels>): Promise<TemplateLint>
}
