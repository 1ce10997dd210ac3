-- DropIndex
DROP INDEX "person_home_school_id_source_system_identifier_key";

-- CreateTable
CREATE TABLE "announced_sign_in" (
    "person_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "sight" JSONB NOT NULL,

    CONSTRAINT "announced_sign_in_pkey" PRIMARY KEY ("person_id","client_id")
);

-- CreateIndex
CREATE INDEX "announced_sign_in_at_idx" ON "announced_sign_in"("at");

-- Written by hand: with a condition, though it always holds, the columns are no key. Otherwise changing one would keep the person from
-- signing in until the end of the transaction.
CREATE UNIQUE INDEX "person_home_school_id_source_system_identifier_key" ON "person" ("home_school_id", "source_system_identifier")
  WHERE "home_school_id" IS NOT NULL;

-- An update may change something that has no name.
ALTER TABLE "app_event" DROP CONSTRAINT "app_event_updated_properties_check", ADD CONSTRAINT "app_event_updated_properties_check" CHECK (
  CASE "action"
    WHEN 'create' THEN cardinality("updated_properties") = 0
    WHEN 'delete' THEN "updated_properties" IN ('{}', '{status}')
    WHEN 'restore' THEN cardinality("updated_properties") > 0
    ELSE true
  END);
