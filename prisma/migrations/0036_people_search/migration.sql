-- Written by hand: staff find a person of all schools by a part of a name, user name or source system identifier. Without
-- pg_trgm, which some servers do not have on their disk, the same statements find the same people, slowly.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX IF NOT EXISTS "person_search_idx" ON "person" USING gin (lower(
      coalesce("first_full", '') || ' ' || coalesce("first_call", '') || ' ' || coalesce("last", '') || ' '
      || coalesce("source_system_identifier", '')) gin_trgm_ops);
    CREATE INDEX IF NOT EXISTS "credential_search_idx" ON "credential" USING gin (lower("username") gin_trgm_ops);
  END IF;
END $$;
