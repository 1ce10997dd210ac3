-- AlterTable
ALTER TABLE "person" ADD COLUMN     "seen_by" JSONB;

-- Written by hand. What was seen of a person ends with the soft deletion, whichever release restores them.
CREATE FUNCTION "clear_seen_by"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.seen_by := NULL;
  RETURN NEW;
END $$;

CREATE TRIGGER "person_clears_seen_by" BEFORE UPDATE ON "person" FOR EACH ROW
  WHEN (OLD."status" IS DISTINCT FROM NEW."status" AND OLD."seen_by" IS NOT NULL) EXECUTE FUNCTION "clear_seen_by"();
