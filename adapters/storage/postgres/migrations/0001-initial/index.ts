import { acceptIn } from './accept-in.ts'
import { addresses } from './addresses.ts'
import { changeIn } from './change-in.ts'
import { claim } from './claim.ts'
import { draw } from './draw.ts'
import { insert } from './insert.ts'
import { settle } from './settle.ts'
import { start } from './start.ts'
import { stored } from './stored.ts'
import { tables } from './tables.ts'

export const initial: string = [
  tables,
  stored,
  draw,
  insert,
  acceptIn,
  changeIn,
  claim,
  start,
  settle,
  addresses,
].join('')
