/** Lines with so many characters together make a chunk. */
const CHUNK = 16 * 1024

/**
 * JSON lines as the body of a response. The first chunk is made before the response begins, so that an early failure is
 * answered as an error.
 *
 * @param ended called once, when the last line is read, when reading fails, or when the reader leaves
 */
export async function lineStream(
  lines: AsyncIterable<object>,
  ended: (failure?: { readonly error: unknown }) => void,
): Promise<AsyncIterable<Buffer>> {
  const iterator = lines[Symbol.asyncIterator]()
  let isOpen = true

  function end(failure?: { readonly error: unknown }): void {
    if (isOpen) ended(failure)
    isOpen = false
  }

  async function read(): Promise<Buffer | null> {
    let text = ''
    while (text.length < CHUNK) {
      const next = await iterator.next()
      if (next.done) {
        end()
        break
      }
      text += `${JSON.stringify(next.value)}\n`
    }
    return text === '' ? null : Buffer.from(text)
  }

  let first: Buffer | null | undefined = await read()
  return {
    // Not a generator: one that was never read from runs no code when it is returned.
    [Symbol.asyncIterator]: () => ({
      async next() {
        let chunk: Buffer | null
        if (first === undefined) {
          try {
            chunk = isOpen ? await read() : null
          } catch (error) {
            end({ error })
            throw error
          }
        } else {
          chunk = first
          first = undefined
        }
        return chunk === null ? { done: true, value: undefined } : { done: false, value: chunk }
      },
      async return() {
        first = null
        try {
          await iterator.return?.()
        } finally {
          end()
        }
        return { done: true, value: undefined }
      },
    }),
  }
}
