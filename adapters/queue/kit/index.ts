export { type DueSet, fromSet, type RefSet, toSets } from '../ref-sets.ts'
