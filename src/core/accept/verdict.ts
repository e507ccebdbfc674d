import type { SuppressionReason } from '../notification/suppression.ts'

/** The settings that can turn a message off, the strongest first. */
export const DECIDERS = [
  'recipient_category_channel',
  'recipient_category',
  'recipient_channel',
  'organization',
  'category_default',
] as const

/** The setting that turned a message off. */
export type DecidedBy = (typeof DECIDERS)[number]

export type Verdict =
  | { readonly kind: 'go' }
  /** The address is suppressed. */
  | { readonly kind: 'blocked'; readonly reason: SuppressionReason }
  | { readonly kind: 'skip'; readonly decidedBy: DecidedBy }
