import { randomBytes } from 'node:crypto'
import { secretKind } from '../access/secrets.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { RecordStores } from '../records/record-stores.ts'
import { checkKind, checkOf, PEPPER_ID, pepperWrites } from './pepper-records.ts'

/**
 * The pepper of a storage: 256 random bits, created at the first start and the same for all processes. It never changes:
 * with another one no suppression and no opt-out would be found.
 */
export function createPepper(stores: RecordStores): () => Promise<string> {
  const secrets = stores.of(secretKind)
  const checks = stores.of(checkKind)

  async function create(): Promise<string | null> {
    const secret = randomBytes(32).toString('base64url')
    const [pepper, check] = pepperWrites(secret)
    return (await secrets.insert(pepper, [check])) === 'taken' ? null : secret
  }

  return async function pepper() {
    // First the check: both are stored in one commit, so that where it is, the pepper is.
    let check = await checks.find({ id: PEPPER_ID })
    if (check === null) {
      const created = await create()
      if (created !== null) return created
      check = await checks.find({ id: PEPPER_ID })
    }
    const stored = await secrets.find({ id: PEPPER_ID })
    if (stored !== null && check?.value.check === checkOf(stored.value.secret)) return stored.value.secret
    throw new NotifierError('invalid_configuration', { message: WRONG })
  }
}

const WRONG =
  'The pepper of this storage was changed or removed, so that no suppression and no opt-out would be found. Restore the ' +
  'record "pepper" of the kind "secrets", and that of the kind "pepper_checks", from a backup.'
