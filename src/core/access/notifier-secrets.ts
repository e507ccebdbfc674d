import { NotifierError } from '../errors/notifier-error.ts'
import { createLinkSigner, type LinkSigner } from '../links/link-signer.ts'
import type { RecordStores } from '../records/record-stores.ts'
import { createSecretBox, createStoredSecret, type SecretBox } from './secrets.ts'

/** What a notifier's secrets seal and sign, once a start has opened them. */
export interface Secrets {
  /** Without configured secrets it reads the stored one. */
  open(): Promise<void>
  /** @throws NotifierError `not_started` */
  box(): SecretBox
  /** @throws NotifierError `not_started` */
  signer(): LinkSigner
}

/** @param configured empty: one is created and stored */
export function createSecrets(configured: readonly string[], stores: RecordStores): Secrets {
  const storedSecret = createStoredSecret(stores)
  let opened: { readonly box: SecretBox; readonly signer: LinkSigner } | null = null

  function whenOpen() {
    if (opened === null) throw new NotifierError('not_started')
    return opened
  }

  return {
    async open() {
      const secrets = configured.length > 0 ? configured : [await storedSecret()]
      opened = { box: createSecretBox(secrets), signer: createLinkSigner(secrets) }
    },
    box: () => whenOpen().box,
    signer: () => whenOpen().signer,
  }
}
