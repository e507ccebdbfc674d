import * as z from 'zod'
import { GRANTS, type Grant, PERMISSIONS, type Permission } from '../core/access/permissions.ts'
import { invalidOption } from '../core/errors/invalid-option.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import type { OwnLimits } from '../core/limits/model.ts'
import type { Caller } from '../core/rest/caller.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import { type Authenticate, assertAllowedAddress } from '../http/caller.ts'
import type { ServedNotifier } from '../served-notifier.ts'
import { sessionTokens } from './cookie.ts'

/** The rights of a person that the application has signed in. */
export interface Access {
  /** Name or id of the person, for the audit log. */
  readonly actor: string
  readonly permission: Permission
  /** `content` shows the text of messages. @default [] */
  readonly grants?: readonly Grant[] | undefined
  /** Ids of the organizations that the person may see; `all`: every one, and the pages for operators. */
  readonly organizations: 'all' | readonly string[]
}

/** Decides each request of the dashboard. Null: the person may not enter. */
export type Authorize<Request> = (request: Request) => Access | null | Promise<Access | null>

const access = z.object({
  actor: z.string().min(1).max(200),
  permission: z.enum(PERMISSIONS),
  grants: z.array(z.enum(GRANTS)).default([]),
  organizations: z.union([z.literal('all'), z.array(z.string())]),
})

/**
 * Authenticates people by the application's session, or by a session that an API key began. People who see one
 * organization count against its limits, like its keys.
 */
export function authenticateSession(
  sessions: ServedNotifier['sessions'],
  authorize: Authorize<never> | undefined,
): Authenticate {
  return async (request, client) => {
    const host = authorize === undefined ? null : await hostCaller(authorize, request)
    if (host !== null) return host
    const { key } = await firstSession(sessions, sessionTokens(request, client))
    assertAllowedAddress(key, client)
    const { id, name, permission, grants } = key
    const rights = { id, name, permission, grants, session: true } as const
    if (!('organizationId' in key)) return { ...rights, organizations: 'all', counted: sessionLimits(id) }
    const { organizationId } = key
    return { ...rights, organizations: [organizationId], counted: { organizationId } }
  }
}

/** Those of all sessions of one operator key or person. Open pages refresh every few seconds. */
function sessionLimits(caller: string): OwnLimits {
  return { name: 'session', caller, perMinute: 1_200, concurrent: 10 }
}

/** A fault of the application's session store is an outage, not a refusal. */
async function asked(authorize: Authorize<never>, request: HttpRequest): Promise<unknown> {
  try {
    return await authorize(request.native as never)
  } catch (cause) {
    throw new NotifierError('service_unavailable', { retryAfterMs: 5_000, cause })
  }
}

async function hostCaller(authorize: Authorize<never>, request: HttpRequest): Promise<Caller | null> {
  const answer: unknown = await asked(authorize, request)
  if (answer === null || answer === undefined) return null
  const parsed = access.safeParse(answer)
  if (!parsed.success) {
    const message =
      'The option "authorize" of the dashboard must answer { actor, permission, organizations } or null.'
    throw invalidOption('authorize', message, parsed.error)
  }
  const { actor, ...rights } = parsed.data
  if (rights.organizations.length === 0) return null
  const [first, ...others] = rights.organizations
  // Otherwise each person of an organization would add to its limit.
  const isOfOne = rights.organizations !== 'all' && first !== undefined && others.length === 0
  return {
    id: actor,
    ...rights,
    session: true,
    counted: isOfOne ? { organizationId: first } : sessionLimits(`host.${actor}`),
  }
}

/** Mounts within mounts send several cookies. */
async function firstSession(sessions: ServedNotifier['sessions'], tokens: readonly string[]) {
  for (const token of tokens.slice(0, 4)) {
    try {
      return await sessions.find(token)
    } catch (error) {
      if (!(error instanceof NotifierError && error.code === 'session_required')) throw error
    }
  }
  throw new NotifierError('session_required')
}
