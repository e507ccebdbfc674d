export { type MatchSuppression, matchSuppressions } from './match.ts'
export { optingIn, suppressing, suppressionId } from './records.ts'
