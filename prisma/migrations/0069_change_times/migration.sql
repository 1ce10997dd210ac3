-- Written by hand. When the view of a subject last changed, and when the source of its schools was last read.
ALTER TABLE "view_version" ADD COLUMN "changed_at" TIMESTAMPTZ(3), ADD COLUMN "source_read_at" TIMESTAMPTZ(3);
UPDATE "view_version" SET "changed_at" = to_timestamp(split_part("change", ' ', 2)::float8);

INSERT INTO "view_version" ("subject", "change", "version", "changed_at")
SELECT 'app:' || a.client_id, '0 0', 0, a.updated_at FROM "app" a;
INSERT INTO "view_version" ("subject", "change", "version", "source_read_at")
SELECT 'school:' || i.school_id, '0 0 source', 0, max(i.applied_at)
FROM "import_school" i WHERE i.applied_at IS NOT NULL GROUP BY i.school_id;
INSERT INTO "view_version" ("subject", "change", "version", "source_read_at")
SELECT 'app:' || g.client_id, '0 0 source', 0, max(i.applied_at)
FROM "grant" g JOIN "import_school" i ON i.school_id = g.school_id
WHERE g.sync AND i.applied_at IS NOT NULL GROUP BY g.client_id;

-- Replaces the rows that no other transaction holds by one of this transaction, later than each of them if it counts. A reading of the
-- source leaves the row of a change in its transaction, so that this is dated at the commit.
CREATE FUNCTION "add_to_view_versions"(subjects text[], this_change text, added integer, read_at timestamptz) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  WITH held AS MATERIALIZED (
    SELECT v.subject, v.change FROM view_version v
    WHERE v.subject = ANY (subjects) AND v.change || ' source' <> this_change FOR UPDATE SKIP LOCKED),
  replaced AS (
    DELETE FROM view_version v USING held WHERE v.subject = held.subject AND v.change = held.change
    RETURNING v.subject, v.version, v.changed_at, v.source_read_at)
  INSERT INTO view_version (subject, change, version, changed_at, source_read_at)
  SELECT parts.subject, this_change, sum(parts.version), max(parts.changed_at), max(parts.source_read_at)
  FROM (
    SELECT s AS subject, added AS version, CASE WHEN added > 0 THEN clock_timestamp() END AS changed_at, read_at AS source_read_at
    FROM unnest(subjects) AS s
    UNION ALL SELECT r.subject, r.version, r.changed_at + added * interval '1 ms', r.source_read_at FROM replaced r) AS parts
  GROUP BY parts.subject;
END $$;

-- Once in a transaction for each subject.
CREATE OR REPLACE FUNCTION "bump_view_versions"(subjects text[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  -- The time tells it from a transaction of the same number before the database was restored elsewhere.
  this_change text := pg_current_xact_id() || ' ' || extract(epoch FROM now());
  unbumped text[];
BEGIN
  SELECT array_agg(DISTINCT s) INTO unbumped FROM unnest(subjects) AS s
  WHERE NOT EXISTS (SELECT FROM view_version v WHERE v.subject = s AND v.change = this_change);
  IF unbumped IS NOT NULL THEN PERFORM add_to_view_versions(unbumped, this_change, 1, NULL); END IF;
END $$;

-- Dates a change at its commit: during a long transaction others may read and commit.
CREATE FUNCTION "date_view_version"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE view_version v SET changed_at = greatest(v.changed_at, clock_timestamp())
  WHERE v.subject = NEW.subject AND v.change = NEW.change;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "view_version_committed" AFTER INSERT ON "view_version" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW."change" NOT LIKE '% source') EXECUTE FUNCTION "date_view_version"();

-- The registration of an app, as far as it shows in what the app reads.
CREATE FUNCTION "bump_view_of_app"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_view_versions(ARRAY['app:' || NEW.client_id]);
  RETURN NULL;
END $$;
CREATE TRIGGER "app_inserted" AFTER INSERT ON "app" FOR EACH ROW EXECUTE FUNCTION "bump_view_of_app"();
CREATE TRIGGER "app_updated" AFTER UPDATE ON "app" FOR EACH ROW
  WHEN ((OLD."schulconnex_spelling", OLD."scopes", OLD."attributes", OLD."updated_at")
    IS DISTINCT FROM (NEW."schulconnex_spelling", NEW."scopes", NEW."attributes", NEW."updated_at"))
  EXECUTE FUNCTION "bump_view_of_app"();

-- An applied import: of the school, and of the apps that it syncs to. The versions stay.
CREATE FUNCTION "note_source_read"() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM add_to_view_versions(
    ARRAY['school:' || NEW.school_id] || ARRAY(SELECT 'app:' || g.client_id FROM "grant" g WHERE g.school_id = NEW.school_id AND g.sync),
    pg_current_xact_id() || ' ' || extract(epoch FROM now()) || ' source', 0, NEW.applied_at);
  RETURN NULL;
END $$;
CREATE TRIGGER "import_school_applied" AFTER INSERT OR UPDATE OF "applied_at" ON "import_school" FOR EACH ROW
  WHEN (NEW."applied_at" IS NOT NULL) EXECUTE FUNCTION "note_source_read"();
