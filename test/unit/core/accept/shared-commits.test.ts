import { describe, expect, it } from 'vitest'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

/** Notifications per commit of sends made at once. */
async function commitsOf(count: number, message: object): Promise<readonly number[]> {
  const commits: number[] = []
  const { notifier } = await deliveryWorld([recordingProvider()], {
    wrap: (storage) => ({
      accept(requests) {
        commits.push(requests.length)
        return storage.accept(requests)
      },
    }),
  })
  await Promise.all(Array.from({ length: count }, () => notifier.send({ ...mail, ...message })))
  return commits
}

describe('sends made at once', () => {
  it('share a commit', async () => {
    expect(await commitsOf(40, {})).toEqual([40])
  })

  it.each([
    ['texts', { body: undefined, html: 'a'.repeat(250 * 1024), text: 'a'.repeat(250 * 1024) }],
    [
      'files',
      {
        email: {
          attachments: [
            {
              filename: 'a.bin',
              contentType: 'application/octet-stream',
              content: Buffer.alloc(375 * 1024).toString('base64'),
            },
          ],
        },
      },
    ],
  ])('share one up to 8 MiB of %s', async (_what, message) => {
    const commits = await commitsOf(40, message)
    expect(commits.reduce((sum, some) => sum + some, 0)).toBe(40)
    expect(Math.max(...commits)).toBe(15)
  })
})
