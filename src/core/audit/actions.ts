/** Every action of the audit log. The word before the dot is the kind of its target. */
export const AUDIT_ACTIONS = [
  'api_key.created',
  'api_key.rotated',
  'api_key.deleted',
  'operator_key.created',
  'operator_key.rotated',
  'operator_key.deleted',
  'organization.created',
  'organization.updated',
  'organization.deleted',
  'template.created',
  'template.updated',
  'template.restored',
  'template.draft_saved',
  'template.draft_discarded',
  'template.published',
  'template.deleted',
  'layout.created',
  'layout.updated',
  'layout.restored',
  'layout.deleted',
  'partial.created',
  'partial.updated',
  'partial.restored',
  'partial.deleted',
  'messages.updated',
  'messages.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.secret_rotated',
  'webhook.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'suppression.added',
  'suppression.removed',
  'preferences.updated',
  'notification.content_read',
  'person.erased',
  'person.exported',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

type KindOf<Action> = Action extends `${infer Kind}.${string}` ? Kind : never

/** What an action changed. */
export type AuditTargetKind = KindOf<AuditAction>

export function targetKindOf(action: AuditAction): AuditTargetKind {
  return action.slice(0, action.indexOf('.')) as AuditTargetKind
}
