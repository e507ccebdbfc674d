export { createClient } from './client.ts'
export { CarillonError } from './error.ts'
export type { CallOptions, ClientOptions } from './request.ts'
export type { Client, KeyedCallOptions, OrganizationClient, Pages, Remote } from './types.ts'
