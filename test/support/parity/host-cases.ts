import type { Case } from './case.ts'

export const host: Case[] = [
  { title: "the host's route", call: { path: '/host' }, status: 200 },
  { title: "the host's parser", call: { method: 'POST', path: '/host/echo', body: { a: [1] } }, status: 200 },
  { title: "the host's error handler", call: { path: '/host/fails' }, status: 500 },
  { title: "the host's 404", call: { path: '/nowhere' }, status: 404 },
  { title: "the host's 404 for /", call: { path: '/' }, status: 404 },
  { title: "the host's 404 for a path that looks like ours", call: { path: '/v1x/templates' }, status: 404 },
  { title: "the host's 404 for our path in capitals", call: { path: '/V1/templates' }, status: 404 },
  { title: "the host's 404 for two slashes", call: { path: '//v1/templates' }, status: 404 },
].map((each) => ({ ...each, key: null, host: true }))

export const mounted: Case[] = [
  { title: "the host's 404 below the mount", call: { path: '/v2/notify' }, status: 404, host: true },
  { title: "the host's 404 for the mount itself", call: { path: '' }, status: 404, host: true },
  {
    title: "the host's 404 for a path that is encoded where ours is not",
    call: { path: '/%761/templates' },
    status: 404,
    host: true,
  },
]
