import { batchInputOf, type SendSchema, sendInputOf } from '../../src/core/accept/input.ts'
import { builtInKinds } from '../../src/core/channels/built-in.ts'
import type { ChannelKind } from '../../src/core/channels/channel-kind.ts'
import { createKinds, type Kinds } from '../../src/core/channels/kinds.ts'
import { previewInputsOf } from '../../src/core/text/preview-input.ts'
import { lintInputOf } from '../../src/features/lint/input.ts'
import type { DocumentedNotifier } from '../../src/http/openapi/schemas.ts'

/** The kinds of this package, with the options left out. */
export const KINDS: Kinds = createKinds(builtInKinds())

export const CHANNELS: readonly string[] = [...KINDS.known.keys()]

export const kindOf = (channel: string): ChannelKind => KINDS.of(channel)

/** The schema of a send of a notifier without kinds of its own. */
export const SEND_INPUT: SendSchema = sendInputOf(KINDS.known.values())

const previews = previewInputsOf(KINDS.known.values())

/** What describes the REST API of that notifier. */
export const SERVICE: DocumentedNotifier = {
  channels: CHANNELS,
  inputs: {
    SendRequest: SEND_INPUT,
    BatchRequest: batchInputOf(SEND_INPUT),
    PreviewRequest: previews.body,
    LintRequest: lintInputOf(KINDS.known.values()),
    TemplateDraft: previews.draft,
  },
}
