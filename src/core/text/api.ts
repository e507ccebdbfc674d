import type { AnyChannel, ChannelParts } from '../accept/input.ts'
import type { JsonFields } from '../input/json-fields.ts'
import type { List, ListQuery } from '../records/list.ts'
import type { DraftChange, PublishOptions } from './draft-input.ts'
import type { TemplateChange, TemplateInput } from './input.ts'
import type {
  ListedTemplate,
  TemplateComparison,
  TemplateDraftRecord,
  TemplatePreview,
  TemplateRecord,
  TemplateVersionRecord,
} from './model.ts'
import type { PreviewOptions, TemplateDraft } from './preview-input.ts'

/** The stored templates of one organization. */
export interface StoredTemplates<Channels extends ChannelParts = AnyChannel> {
  /**
   * Stores a template. Its name is unique in the organization.
   *
   * @throws NotifierError `template_already_exists`, `missing_required_field`, `invalid_parameter`, `invalid_template` if
   *   it cannot be put together with its layout and partials
   *
   * @example
   * await notifier.templates.create({
   *   name: 'order-shipped',
   *   channel: 'email',
   *   subject: 'Order {{order}} has shipped',
   *   html: '<p>Hi {{name}}, your order is on its way.</p>',
   * })
   */
  create(template: TemplateInput): Promise<TemplateRecord>
  /**
   * By id or name.
   *
   * @throws NotifierError `template_not_found` (404), `organization_mismatch`
   *
   * @example
   * const { version, subject } = await notifier.templates.get('order-shipped')
   */
  get(idOrName: string): Promise<TemplateRecord>
  /**
   * Newest first. A page has at most 256 KiB of text, or a single template: `hasMore` is true then.
   *
   * @example
   * const { items, nextCursor } = await notifier.templates.list({ limit: 50 })
   */
  list(query?: ListQuery): Promise<List<ListedTemplate>>
  /**
   * Changes the given fields. A change of subject, text or layout makes a new version; queued notifications keep
   * theirs.
   *
   * @throws NotifierError as `get` and `create`, and `version_conflict` if `version` is not the current one
   *
   * @example
   * const { version } = await notifier.templates.get('order-shipped')
   * await notifier.templates.update('order-shipped', { subject: 'Your order {{order}} has shipped', version })
   */
  update(idOrName: string, change: TemplateChange): Promise<TemplateRecord>
  /**
   * The versions of a template, newest first; pages as in `list`.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * const { items } = await notifier.templates.versions('order-shipped')
   */
  versions(idOrName: string, query?: ListQuery): Promise<List<TemplateVersionRecord>>
  /**
   * One version of a template.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * const { subject, html } = await notifier.templates.version('order-shipped', 2)
   */
  version(idOrName: string, version: number): Promise<TemplateVersionRecord>
  /**
   * Makes a new version with the subject and text of an earlier one. If the current version has the same, it stays.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * await notifier.templates.restore('order-shipped', 2)
   */
  restore(idOrName: string, version: number): Promise<TemplateRecord>
  /**
   * The lines that differ between two versions, field by field: at most 2,000.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * const comparison = await notifier.templates.compare('order-shipped', 2, 3)
   */
  compare(idOrName: string, from: number, to: number): Promise<TemplateComparison>
  /**
   * The draft of a template.
   *
   * @throws NotifierError as `get`, also if it has none
   *
   * @example
   * const { edit, subject } = await notifier.templates.draft('order-shipped')
   */
  draft(idOrName: string): Promise<TemplateDraftRecord>
  /**
   * Changes the given fields of the draft, which begins with the current version. Sends go on with that version.
   *
   * @throws NotifierError as `update`, and `version_conflict` if `edit` is not the current one
   *
   * @example
   * await notifier.templates.saveDraft('order-shipped', { subject: 'Good news about {{order}}' })
   */
  saveDraft(idOrName: string, change: DraftChange): Promise<TemplateDraftRecord>
  /**
   * Makes the draft the newest version. If it equals the current one, that stays. The draft is removed.
   *
   * @throws NotifierError as `draft`, `invalid_template`, and `version_conflict` if the template has a newer version than
   *   the draft began with, unless `version` names it
   *
   * @example
   * const { edit } = await notifier.templates.draft('order-shipped')
   * const { version } = await notifier.templates.publish('order-shipped', { edit })
   */
  publish(idOrName: string, options?: PublishOptions): Promise<TemplateRecord>
  /**
   * Removes the draft.
   *
   * @throws NotifierError as `draft`
   *
   * @example
   * await notifier.templates.discardDraft('order-shipped')
   */
  discardDraft(idOrName: string): Promise<void>
  /**
   * Renders a template with example values as a send would, with the given parts of its channel.
   *
   * @throws NotifierError as `get`, `invalid_template_variable` with the `placeholders` in its details,
   *   `message_too_large`, and as `send` for the recipient and the parts
   *
   * @example
   * const { subject, body } = await notifier.templates.preview('order-shipped', { order: 'ord_123', name: 'Ada' })
   */
  preview(
    idOrName: string,
    variables?: JsonFields,
    options?: PreviewOptions<Channels>,
  ): Promise<TemplatePreview>
  /**
   * Renders an unstored template, like {@link preview}.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, and as `preview`
   *
   * @example
   * const { body } = await notifier.templates.previewDraft({
   *   channel: 'sms',
   *   body: 'Your code is {{code}}',
   *   variables: { code: '123456' },
   * })
   */
  previewDraft(draft: TemplateDraft<Channels>): Promise<TemplatePreview>
  /**
   * Deletes a template. Queued notifications keep their version.
   *
   * @throws NotifierError as `get`
   *
   * @example
   * await notifier.templates.delete('order-shipped')
   */
  delete(idOrName: string): Promise<void>
}
