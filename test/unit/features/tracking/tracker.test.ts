import { describe, expect, it } from 'vitest'
import { createLinkSigner } from '../../../../src/core/links/link-signer.ts'
import { createLinks } from '../../../../src/core/links/links.ts'
import { finish } from '../../../../src/core/loop/steps.ts'
import { createTracker } from '../../../../src/features/tracking/tracker.ts'
import { HASHES } from '../../../support/person-hashes.ts'

const BASE = 'https://n.example/api'
const signer = createLinkSigner(['a secret of at least 32 characters'])
const links = createLinks(BASE, () => signer, HASHES)
const services = { secrets: { signer: () => signer }, links, bounds: { trackedLinks: 2 } }
const settings = { opens: true, clicks: true }
const { track } = createTracker(BASE, async () => settings, services)

const tokenIn = (html: string, page: string) => new RegExp(`/${page}\\?t=([\\w.-]+)"`).exec(html)?.[1] ?? ''
const linkTo = (href: string) => `<a href="${href}">x</a>`

describe('the tracker', () => {
  it('signs the notification, and the target of a link', () => {
    const { html, complete } = finish(track('ntf_1', linkTo('https://shop.example/'), settings))
    expect(signer.verify('open', tokenIn(html, 'open'))).toBe('ntf_1')
    expect(signer.verify('click', tokenIn(html, 'click'))).toBe('ntf_1\nhttps://shop.example/')
    expect(complete).toBe(true)
  })

  it('adds only what the organization turned on', () => {
    const html = linkTo('https://shop.example/')
    expect(finish(track('ntf_1', html, { opens: false, clicks: false })).html).toBe(html)
    expect(finish(track('ntf_1', html, { opens: true, clicks: false })).html).toContain(html)
    expect(finish(track('ntf_1', html, { opens: false, clicks: true })).html).not.toContain('<img')
  })

  it.each(['unsubscribe', 'preferences', 'open', 'click'])('leaves links to the page /%s alone', (page) => {
    const html = linkTo(`${BASE}/${page}?t=token`)
    expect(finish(track('ntf_1', html, { opens: false, clicks: true })).html).toBe(html)
  })

  it('tracks other links of the same site', () => {
    const { html } = finish(track('ntf_1', linkTo(`${BASE}/unsubscribed`), settings))
    expect(signer.verify('click', tokenIn(html, 'click'))).toBe(`ntf_1\n${BASE}/unsubscribed`)
  })

  it('says that a mail has more links than it tracks', () => {
    const many = [1, 2, 3].map((at) => linkTo(`https://shop.example/${at}`)).join('')
    expect(finish(track('ntf_1', many, settings)).complete).toBe(false)
  })
})
