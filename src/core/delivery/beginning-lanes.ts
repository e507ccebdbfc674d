/**
 * The lanes of a claim that may begin their attempts.
 *
 * @example
 * const begins = beginningLanes(request)
 * const begun = jobs.filter(({ lane }) => begins.has(lane))
 */
export function beginningLanes(
  request: object & {
    readonly lanes?: readonly { readonly lane: string; readonly begin?: boolean | undefined }[]
  },
): ReadonlySet<string> {
  const begun = (request.lanes ?? []).filter(({ begin }) => begin === true)
  return new Set(begun.map(({ lane }) => lane))
}
