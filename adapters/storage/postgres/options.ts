import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { assertOptionNames, BOOLEAN } from '../../../src/core/errors/option-names.ts'
import { urlFault } from '../../peer/server-url.ts'
import type { PgPool } from './peer.ts'

/** The members in use of a `Pool` of `pg` 8. */
export interface PostgresPool {
  connect(): Promise<unknown>
}

export interface PostgresOptions {
  /** The application's `Pool` of `pg` 8, which the application closes. Default: a pool from `connectionString`. */
  readonly pool?: PostgresPool | undefined
  /** `postgres://…`, for the storage's own pool and for the connection that listens. */
  readonly connectionString?: string | undefined
  /**
   * Most connections of the storage's own pool.
   *
   * @default 10
   */
  readonly maxConnections?: number | undefined
  /**
   * Schema of all tables, created if it does not exist.
   *
   * @default 'carillon'
   */
  readonly schema?: string | undefined
  /**
   * Wake other processes with `LISTEN` and `NOTIFY`, over one more connection, not through a pooler in transaction
   * mode. Otherwise processes find each other's work by polling.
   *
   * @default true with a connection string
   */
  readonly listen?: boolean | undefined
  /**
   * Longest wait for a free connection, in milliseconds; then a call fails with `service_unavailable`.
   *
   * @default 5000
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Longest time of one statement, in milliseconds.
   *
   * @default 30000
   */
  readonly statementTimeoutMs?: number | undefined
}

/** Validated options with defaults. */
export interface ResolvedOptions {
  readonly pool: PgPool | undefined
  readonly connectionString: string | undefined
  readonly maxConnections: number
  readonly schema: string
  readonly listen: boolean
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
}

/** The hosts, behind user and password. */
const HOSTS = /^\w+:\/\/(?:[^@/?]*@)?([^/?]*)/

/** Longest identifier in PostgreSQL. */
const MAX_NAME = 63
/** Stricter than PostgreSQL, so that names are safe everywhere. */
const NAME = /^(?!pg_)[\p{L}\p{N}_][\p{L}\p{N}_-]*$/u

/** @throws NotifierError `invalid_configuration` */
export function resolveOptions(options: PostgresOptions): ResolvedOptions {
  assertOptionNames('postgres', options, {
    pool: true,
    connectionString: true,
    maxConnections: true,
    schema: true,
    listen: BOOLEAN,
    connectTimeoutMs: true,
    statementTimeoutMs: true,
  })
  const { pool, connectionString, schema = 'carillon' } = options
  if (pool === undefined && connectionString === undefined) {
    throw invalid('pool', 'requires a "pool" of pg or a "connectionString".')
  }
  if (pool !== undefined && typeof pool?.connect !== 'function') {
    throw invalid('pool', '"pool" must be a Pool of pg 8.')
  }
  if (HOSTS.exec(connectionString ?? '')?.[1]?.includes(',')) {
    throw invalid('connectionString', '"connectionString" must name one host: "pg" does not support several.')
  }
  const fault = connectionString === undefined ? null : urlFault(connectionString, ['postgres', 'postgresql'])
  if (fault !== null) throw invalid('connectionString', `"connectionString" ${fault}`)
  if (typeof schema !== 'string' || Buffer.byteLength(schema) > MAX_NAME || !NAME.test(schema)) {
    throw invalid(
      'schema',
      `"schema" must be a name of 1 to ${MAX_NAME} bytes: letters, digits, underscores and hyphens, not beginning with pg_.`,
    )
  }
  const listen = options.listen ?? connectionString !== undefined
  if (listen && connectionString === undefined) {
    throw invalid('listen', '"listen" requires a "connectionString", because it opens its own connection.')
  }
  return {
    pool: pool as PgPool | undefined,
    connectionString,
    schema,
    listen,
    maxConnections: positive(options, 'maxConnections', 10),
    connectTimeoutMs: positive(options, 'connectTimeoutMs', 5_000),
    statementTimeoutMs: positive(options, 'statementTimeoutMs', 30_000),
  }
}

/** Longer timers overflow and fire at once. */
const MOST = 86_400_000

function positive(
  options: PostgresOptions,
  name: 'maxConnections' | 'connectTimeoutMs' | 'statementTimeoutMs',
  otherwise: number,
): number {
  const value = options[name] ?? otherwise
  if (Number.isInteger(value) && value >= 1 && value <= MOST) return value
  throw invalid(name, `"${name}" must be a whole number from 1 to ${MOST}.`)
}

function invalid(option: string, message: string): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `postgres: ${message}`,
    details: { option },
  })
}
