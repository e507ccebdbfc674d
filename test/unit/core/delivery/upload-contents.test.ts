import { expect, it } from 'vitest'
import { NO_UPLOADS } from '../../../../src/core/delivery/upload-contents.ts'

const given = { filename: 'a.txt', contentType: 'text/plain', content: 'YQ==' }

it('a message that names an upload where there are none fails, and never goes without its file', async () => {
  expect(NO_UPLOADS.into({ attachments: [given] })).toBeUndefined()
  expect(NO_UPLOADS.into({ replyTo: [] })).toBeUndefined()
  await expect(NO_UPLOADS.into({ attachments: [given, { id: 'att_1', size: 1 }] })).rejects.toMatchObject({
    code: 'unknown_attachment',
  })
})
