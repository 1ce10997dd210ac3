-- Written by hand. A page of the schools that an app sees is read in the order of an index, as the people of a school are. What
-- is there already follows in 0044, so that nobody waits for the lock of this one meanwhile.
ALTER TABLE "grant" ADD COLUMN "school_sort_key" TEXT COLLATE "C" NOT NULL DEFAULT '';

-- The sort key of a grant is its school's. FOR SHARE: the school's does not change between the reading and the writing.
CREATE FUNCTION "set_grant_sort_key"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  SELECT s.sort_key INTO NEW.school_sort_key FROM school s WHERE s.id = NEW.school_id FOR SHARE;
  -- Without such a school the foreign key refuses the row.
  NEW.school_sort_key := coalesce(NEW.school_sort_key, '');
  RETURN NEW;
END $$;
CREATE TRIGGER "grant_sort_key" BEFORE INSERT ON "grant" FOR EACH ROW EXECUTE FUNCTION "set_grant_sort_key"();

CREATE FUNCTION "update_grant_sort_keys"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE "grant" SET school_sort_key = NEW.sort_key WHERE school_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER "school_sort_key" AFTER UPDATE ON "school" FOR EACH ROW
  WHEN (OLD."sort_key" IS DISTINCT FROM NEW."sort_key") EXECUTE FUNCTION "update_grant_sort_keys"();
