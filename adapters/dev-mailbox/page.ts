import type { HandlerResult } from '../../src/core/rest/route.ts'
import { previewPage } from '../../src/dashboard/preview.ts'
import type { Entry } from './store.ts'
import { filesOf } from './view.ts'

const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif)$/i
/** Most characters of the images in a page: one image may stand in it many times. */
const MOST_IMAGES = 32 * 1024 * 1024

/** The HTML of a message as the dashboard shows it, with the images that the mail brings along. */
export function pageOf(entry: Entry, scheme: 'light' | 'dark'): HandlerResult {
  const images = new Map(
    filesOf(entry).flatMap(({ cid, contentType, content }) =>
      cid === null || !IMAGE.test(contentType) ? [] : [[cid, { contentType, content }]],
    ),
  )
  let left = MOST_IMAGES
  const html = entry.caught.message.body.replace(/\bcid:([^\s"'<>)]{1,300})/gi, (whole, cid: string) => {
    const image = images.get(cid)
    if (image === undefined || image.content.byteLength * 1.4 > left) return whole
    left -= image.content.byteLength * 1.4
    return `data:${image.contentType};base64,${Buffer.from(image.content).toString('base64')}`
  })
  return previewPage(html, scheme)
}
