-- Written by hand. Lists of people are read in the order of an index, whole and in pages: by the people of a school, or by all people.
ALTER TABLE "affiliation" ADD COLUMN "sort_key" TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE "affiliation" a SET "sort_key" = p."sort_key" FROM "person" p WHERE p."id" = a."person_id";
DROP INDEX "affiliation_school_id_person_id_idx";
CREATE INDEX "affiliation_school_id_sort_key_person_id_idx" ON "affiliation" ("school_id", "sort_key", "person_id");
CREATE INDEX "person_sort_key_id_idx" ON "person" ("sort_key", "id");

-- The sort key of an affiliation is its person's. FOR SHARE: the person's does not change between the reading and the writing.
CREATE FUNCTION "set_affiliation_sort_key"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  SELECT p.sort_key INTO NEW.sort_key FROM person p WHERE p.id = NEW.person_id FOR SHARE;
  -- Without such a person the foreign key refuses the row.
  NEW.sort_key := coalesce(NEW.sort_key, '');
  RETURN NEW;
END $$;
CREATE TRIGGER "affiliation_sort_key" BEFORE INSERT ON "affiliation" FOR EACH ROW EXECUTE FUNCTION "set_affiliation_sort_key"();

CREATE FUNCTION "update_affiliation_sort_keys"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE affiliation SET sort_key = NEW.sort_key WHERE person_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER "person_sort_key" AFTER UPDATE ON "person" FOR EACH ROW
  WHEN (OLD."sort_key" IS DISTINCT FROM NEW."sort_key") EXECUTE FUNCTION "update_affiliation_sort_keys"();

-- The version of a subject is the sum over its rows. A transaction adds one to it and replaces the rows that no other transaction
-- holds, so that none ever waits for another.
CREATE TABLE "view_version" (
  "subject" TEXT NOT NULL,
  "change" TEXT NOT NULL,
  "version" BIGINT NOT NULL,

  CONSTRAINT "view_version_pkey" PRIMARY KEY ("subject", "change")
);

-- Once in a transaction for each subject.
CREATE FUNCTION "bump_view_versions"(subjects text[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  -- The time tells it from a transaction of the same number before the database was restored elsewhere.
  this_change text := pg_current_xact_id() || ' ' || extract(epoch FROM now());
  unbumped text[];
BEGIN
  SELECT array_agg(DISTINCT s) INTO unbumped FROM unnest(subjects) AS s
  WHERE NOT EXISTS (SELECT FROM view_version v WHERE v.subject = s AND v.change = this_change);
  IF unbumped IS NULL THEN RETURN; END IF;
  WITH held AS MATERIALIZED (
    SELECT v.subject, v.change FROM view_version v WHERE v.subject = ANY (unbumped) FOR UPDATE SKIP LOCKED),
  replaced AS (
    DELETE FROM view_version v USING held WHERE v.subject = held.subject AND v.change = held.change RETURNING v.subject, v.version)
  INSERT INTO view_version (subject, change, version)
  SELECT parts.subject, this_change, sum(parts.version)
  FROM (SELECT s AS subject, 1 AS version FROM unnest(unbumped) AS s UNION ALL SELECT r.subject, r.version FROM replaced r) AS parts
  GROUP BY parts.subject;
END $$;

-- What shows a person or a membership: the versions of all schools of the person.
CREATE FUNCTION "bump_views_of_people"() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM bump_view_versions(array_agg(DISTINCT 'school:' || a.school_id))
  FROM changed_rows r CROSS JOIN LATERAL (SELECT a.school_id FROM affiliation a WHERE a.person_id = r.id OFFSET 0) AS a;
  RETURN NULL;
END $$;
CREATE FUNCTION "bump_views_of_members"() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM bump_view_versions(array_agg(DISTINCT 'school:' || a.school_id))
  FROM changed_rows r CROSS JOIN LATERAL (
    SELECT r.school_id UNION ALL (SELECT a.school_id FROM affiliation a WHERE a.person_id = r.person_id OFFSET 0)) AS a (school_id);
  RETURN NULL;
END $$;

-- A group: of its school and of all schools of its members.
CREATE FUNCTION "bump_views_of_groups"() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM bump_view_versions(array_agg(DISTINCT 'school:' || a.school_id))
  FROM changed_rows r CROSS JOIN LATERAL (
    SELECT r.school_id UNION ALL (
      SELECT a.school_id FROM (SELECT m.person_id FROM membership m WHERE m.group_id = r.id OFFSET 0) AS m
      CROSS JOIN LATERAL (SELECT a.school_id FROM affiliation a WHERE a.person_id = m.person_id OFFSET 0) AS a)) AS a (school_id);
  RETURN NULL;
END $$;

-- A grant, or a group in one: of the app.
CREATE FUNCTION "bump_views_of_grants"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_view_versions(array_agg(DISTINCT 'app:' || r.client_id)) FROM changed_rows r;
  RETURN NULL;
END $$;

-- A school: of the apps that it gave anything.
CREATE FUNCTION "bump_views_of_schools"() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  PERFORM bump_view_versions(array_agg(DISTINCT 'app:' || given.client_id))
  FROM changed_rows r CROSS JOIN LATERAL (SELECT g.client_id FROM "grant" g WHERE g.school_id = r.id OFFSET 0) AS given;
  RETURN NULL;
END $$;

-- A person or school that comes or goes does so with affiliations or grants.
CREATE TRIGGER "person_updated" AFTER UPDATE ON "person" REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "bump_views_of_people"();
CREATE TRIGGER "school_updated" AFTER UPDATE ON "school" REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "bump_views_of_schools"();

DO $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT * FROM (VALUES
    ('affiliation', 'bump_views_of_members'), ('membership', 'bump_views_of_members'), ('group', 'bump_views_of_groups'),
    ('grant', 'bump_views_of_grants'), ('synced_group', 'bump_views_of_grants'), ('grant_sign_on_group', 'bump_views_of_grants')) AS p (of, bump)
  LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()', part.of || '_inserted', part.of, part.bump);
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()', part.of || '_updated', part.of, part.bump);
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()', part.of || '_updated_from', part.of, part.bump);
    EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()', part.of || '_deleted', part.of, part.bump);
  END LOOP;
END $$;
