import type { ApiKeyRecord, OperatorKeyRecord } from '../../core/access/verify-key.ts'
import type { List, ListQuery } from '../../core/records/list.ts'
import type { ApiKeyInput } from './input.ts'
import type { CreatedApiKey, CreatedOperatorKey, KeyRotation } from './model.ts'

/** The API keys of one organization. */
export interface ApiKeys {
  /**
   * Creates a key. The result holds the secret, which is never shown again. At most 1,000 per organization.
   *
   * @throws NotifierError `not_found`, `invalid_parameter`, `key_limit_reached`
   *
   * @example
   * const { id, secret } = await notifier.apiKeys.create({ name: 'Production', permission: 'Write' })
   */
  create(key: ApiKeyInput): Promise<CreatedApiKey>
  /**
   * A key without its secret.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * const { permission, expiresAt } = await notifier.apiKeys.get('key_3fJ0kT9sLrZy')
   */
  get(id: string): Promise<ApiKeyRecord>
  /**
   * Newest first, without their secrets.
   *
   * @example
   * const { items } = await notifier.apiKeys.list()
   */
  list(query?: ListQuery): Promise<List<ApiKeyRecord>>
  /**
   * Makes a key with the name, rights and expiry of an old one. The result holds the secret, which is never shown
   * again. The old key keeps working for `overlapMs`, or until its expiry if that is sooner.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter` (also if the key has expired),
   *   `key_limit_reached`, `key_already_rotated` while the key that replaces it exists
   *
   * @example
   * const { secret } = await notifier.apiKeys.rotate('key_3fJ0kT9sLrZy', { overlapMs: 24 * 60 * 60 * 1000 })
   */
  rotate(id: string, options?: KeyRotation): Promise<CreatedApiKey>
  /**
   * The key stops working at once, on every machine.
   *
   * @throws NotifierError `not_found`, `organization_mismatch`
   *
   * @example
   * await notifier.apiKeys.delete('key_3fJ0kT9sLrZy')
   */
  delete(id: string): Promise<void>
}

export interface KeyVerification {
  /**
   * Finds the key of a secret. Reads the storage each time, together with other lookups of the same turn.
   *
   * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, or an operator key), `expired_api_key`
   *
   * @example
   * const { organizationId, permission } = await notifier.apiKeys.verify(secret)
   */
  verify(secret: string): Promise<ApiKeyRecord>
}

/**
 * Keys without an organization: over HTTP, each request with one names its organization. `/v1/organizations` requires
 * one. They can be created in code only.
 */
export interface OperatorKeys {
  /**
   * Creates a key. The result holds the secret, which is never shown again. @throws NotifierError `invalid_parameter`
   *
   * @example
   * const { secret } = await notifier.operatorKeys.create({ name: 'Back office', permission: 'Full Access' })
   */
  create(key: ApiKeyInput): Promise<CreatedOperatorKey>
  /**
   * Newest first.
   *
   * @example
   * const { items } = await notifier.operatorKeys.list()
   */
  list(query?: ListQuery): Promise<List<OperatorKeyRecord>>
  /**
   * Makes a key with the name, rights and expiry of an old one, as `apiKeys.rotate` does.
   *
   * @throws NotifierError `not_found`, `invalid_parameter` (also if the key has expired),
   *   `key_already_rotated`
   *
   * @example
   * const { secret } = await notifier.operatorKeys.rotate('key_3fJ0kT9sLrZy', { overlapMs: 0 })
   */
  rotate(id: string, options?: KeyRotation): Promise<CreatedOperatorKey>
  /**
   * The key stops working at once, on every machine.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * await notifier.operatorKeys.delete('key_3fJ0kT9sLrZy')
   */
  delete(id: string): Promise<void>
  /**
   * Finds the operator key of a secret, as `apiKeys.verify` does for keys of organizations.
   *
   * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, or an organization's key),
   *   `expired_api_key`
   *
   * @example
   * const { id, permission } = await notifier.operatorKeys.verify(secret)
   */
  verify(secret: string): Promise<OperatorKeyRecord>
}
