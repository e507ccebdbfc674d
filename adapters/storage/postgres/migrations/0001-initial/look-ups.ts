/**
 * Lookups of nearly every request, as functions that are planned once per connection. Each reads one table by one
 * array, without a join, so that the only possible plan walks the column's index, even if the table was empty at
 * planning time.
 */
export const lookUps = `
CREATE FUNCTION carillon.find_api_keys_1(p_now bigint, p_hashes text[])
RETURNS TABLE (o_seq bigint, o_id text, o_organization text, o_hash text, o_name text, o_permission text, o_prefix text,
  o_last4 text, o_expires_at bigint, o_allowed_ips text, o_created_at bigint, o_expired boolean, o_grants text,
  o_last_used_at bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $look$
BEGIN
  RETURN QUERY
  SELECT seq, id, organization, encode(hash, 'hex'), name, permission, prefix, last4, expires_at, allowed_ips, created_at,
    expires_at <= coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), grants,
    last_used_at
  FROM carillon.api_keys WHERE hash = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest(p_hashes) AS wanted));
END
$look$;

CREATE FUNCTION carillon.match_suppressions_1(p_hashes text[]) RETURNS TABLE (o_hash text, o_reason text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $look$
BEGIN
  RETURN QUERY
  SELECT encode(hash, 'hex'), reason FROM carillon.suppressions
  WHERE hash = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest(p_hashes) AS wanted));
END
$look$;
`
