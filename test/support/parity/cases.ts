import { access, everyRoute } from './access-cases.ts'
import { administration, operators, sending, templates } from './api-cases.ts'
import { bodies } from './body-cases.ts'
import type { Case } from './case.ts'
import { host, mounted } from './host-cases.ts'
import { pages, receipts } from './page-cases.ts'
import { methods, paths, queries } from './url-cases.ts'

const all = [
  ...sending,
  ...templates,
  ...administration,
  ...operators,
  ...access,
  ...bodies,
  ...methods,
  ...paths,
  ...queries,
  ...everyRoute,
  ...receipts,
  ...pages,
  ...host,
  ...mounted,
]

/** Below the mount; those of the host are as they are written. Last what a framework may see in its own way. */
export const CASES: readonly Case[] = [
  ...all.filter(({ unless }) => unless === undefined),
  ...all.filter(({ unless }) => unless !== undefined),
]
