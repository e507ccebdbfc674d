import { claim3 } from './0015-claim-3.ts'

/**
 * The claim of 0015-claim-3.ts, which also reports a lease of more than two hours (`LONGEST_LEASE_MS`): the clock was
 * ahead when it was given. Each end of the lease index has its own query.
 */
export const claim4: string = claim3
  .slice(claim3.indexOf('CREATE FUNCTION'))
  .replace('carillon.claim_3(', 'carillon.claim_4(')
  .replace(
    'p_recover AND EXISTS (SELECT 1 FROM carillon.jobs WHERE state = 2 AND lease_until <= v_now)',
    `p_recover AND (EXISTS (SELECT 1 FROM carillon.jobs WHERE state = 2 AND lease_until <= v_now)
    OR EXISTS (SELECT 1 FROM carillon.jobs WHERE state = 2 AND lease_until > v_now + 7200000))`,
  )
