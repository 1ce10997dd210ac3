-- AlterTable
ALTER TABLE "user_name" ADD COLUMN     "released_on" DATE;

-- AlterTable
ALTER TABLE "user_name_number" ADD COLUMN     "used_on" DATE NOT NULL DEFAULT CURRENT_DATE;

-- CreateIndex
CREATE INDEX "user_name_released_on_idx" ON "user_name"("released_on");

-- CreateIndex
CREATE INDEX "user_name_number_used_on_idx" ON "user_name_number"("used_on");

-- Written by hand: a hash and its key are in one database, so that a hash of somebody who was deleted is kept for a year.
UPDATE "user_name" SET "released_on" = CURRENT_DATE WHERE "person_id" IS NULL;

CREATE FUNCTION release_user_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.released_on := CASE WHEN NEW.person_id IS NULL THEN CURRENT_DATE END;
  RETURN NEW;
END
$$;
CREATE TRIGGER "user_name_released" BEFORE INSERT OR UPDATE OF "person_id" ON "user_name"
  FOR EACH ROW EXECUTE FUNCTION release_user_name();
