import { expect, it } from 'vitest'
import * as z from 'zod'
import {
  OF_ALL,
  OF_ONE,
  OF_SERVICE,
  type Operation,
  type Operations,
} from '../../../src/client/operations.ts'
import type { Route } from '../../../src/core/rest/route.ts'
import { deleted } from '../../../src/core/rest/schemas.ts'
import { ROUTES } from '../../../src/routes.ts'

/** Pages for people and their mail clients, and what providers call. */
const served = ROUTES.filter(({ permission, tag }) => permission !== 'public' || tag.name === 'Service')

function all(operations: Operations, prefix = ''): [name: string, operation: Operation][] {
  return Object.entries(operations).flatMap(([name, each]): [string, Operation][] =>
    typeof each === 'string' ? [[prefix + name, each]] : all(each, `${prefix}${name}.`),
  )
}

const here = [...all(OF_ONE), ...all(OF_SERVICE)]

function routeOf([, operation]: [string, Operation]): Route | undefined {
  const [method, path] = operation.split(' ')
  return served.find((route) => route.method === method && route.paths[0] === path)
}

it('every operation of the REST API has one method; a send has a second that only validates', () => {
  const called = here.map((each) => routeOf(each)?.operation ?? each[0]).sort()
  expect(called).toEqual([...served.map(({ operation }) => operation), 'sendNotification'].sort())
})

it.each(here)('%s takes and gives what its route does', (name, operation) => {
  const [method, , ...words] = operation.split(' ')
  const route = routeOf([name, operation])
  const isList = route?.response instanceof z.ZodObject && 'nextCursor' in route.response.shape
  const takesFilter = isList && route.query !== undefined
  const isTest = words.includes('test')
  const expected = [
    ...(takesFilter ? ['list'] : []),
    ...(!takesFilter && route?.query !== undefined ? ['query'] : []),
    ...(route?.body === undefined ? [] : ['body']),
    ...(route?.raw === true ? ['bytes'] : []),
    ...(route?.requestHeaders?.includes('Idempotency-Key') && !isTest ? ['key'] : []),
    ...(method === 'POST' &&
    (isTest || route?.operation === 'explainMessage' || route?.permission === 'Read Only')
      ? ['safe']
      : []),
    ...(route?.mediaType === 'application/x-ndjson' ? ['lines'] : []),
    ...(isTest ? ['test'] : []),
    ...(route?.response === deleted ? ['void'] : []),
  ]
  expect([...words].sort()).toEqual(expected.sort())
  if (isTest) expect(route?.requestHeaders).toContain('X-Test-Mode')
})

it('operations of all organizations are those that take them', () => {
  const taken = served.filter(({ allOrganizations }) => allOrganizations === true)
  expect(
    all(OF_ALL)
      .map((each) => routeOf(each)?.operation)
      .sort(),
  ).toEqual(taken.map(({ operation }) => operation).sort())
  expect(all(OF_ALL).filter(([name, each]) => here.find(([other]) => other === name)?.[1] !== each)).toEqual(
    [],
  )
})
