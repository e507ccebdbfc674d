import { claim } from './0002-claim.ts'

const SHARE = `    v_give := ARRAY[0, 0]; -- normal, high
    FOR slot IN 1 .. v_free LOOP`

const END_OF_SHARE = `        EXIT;
      END IF;
    END LOOP;

    FOR priority IN`

/** The same claim. It splits slots one by one only if both priorities have jobs, which took a microsecond per slot. */
export const claim2: string = claim
  .replace('carillon.claim_1(', 'carillon.claim_2(')
  .replace(
    SHARE,
    `    v_give := ARRAY[v_free, 0]; -- normal, high
    IF v_high_ready = 0 AND v_free > 0 THEN
      v_turn := 0;
    ELSE
    v_give := ARRAY[0, 0];
    FOR slot IN 1 .. v_free LOOP`,
  )
  .replace(
    END_OF_SHARE,
    `        EXIT;
      END IF;
    END LOOP;
    END IF;

    FOR priority IN`,
  )
