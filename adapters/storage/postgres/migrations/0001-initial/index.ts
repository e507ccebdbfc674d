import { acceptIn } from './accept-in.ts'
import { claim } from './claim.ts'
import { draw } from './draw.ts'
import { insert } from './insert.ts'
import { lookUps } from './look-ups.ts'
import { settle } from './settle.ts'
import { start } from './start.ts'
import { tables } from './tables.ts'

export const initial: string = [tables, lookUps, draw, insert, acceptIn, claim, start, settle].join('')
