import { builtInKinds } from '../../src/channels/built-in.ts'
import type { ChannelKind } from '../../src/domain/channel-kind.ts'
import { previewInputsOf } from '../../src/domain/input/preview.ts'
import { sendInputOf } from '../../src/domain/input/send.ts'
import type { DocumentedService } from '../../src/http/openapi/schemas.ts'
import { createKinds, type Kinds } from '../../src/services/channels/kinds.ts'

/** The kinds of this package, with the options left out. */
export const KINDS: Kinds = createKinds(builtInKinds())

export const CHANNELS: readonly string[] = [...KINDS.known.keys()]

export const kindOf = (channel: string): ChannelKind => KINDS.of(channel)

/** What describes the REST API of a notifier without kinds of its own. */
export const SERVICE: DocumentedService = {
  sendInput: sendInputOf(KINDS.known.values()),
  previewInputs: previewInputsOf(KINDS.known.values()),
  channels: CHANNELS,
}
