-- AlterTable
ALTER TABLE "event_feed" ADD COLUMN     "history_began_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateTable
CREATE TABLE "disclosure_period" (
    "person_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "is_user" BOOLEAN NOT NULL,
    "is_person" BOOLEAN NOT NULL,
    "sees_school" BOOLEAN NOT NULL,
    "school_ids" UUID[],
    "last_read_at" TIMESTAMPTZ(3),

    CONSTRAINT "disclosure_period_pkey" PRIMARY KEY ("person_id","client_id","since")
);

-- CreateTable
CREATE TABLE "registration_period" (
    "client_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "name" TEXT NOT NULL,
    "provider" TEXT,
    "type" "app_type" NOT NULL,
    "scopes" TEXT[],
    "attributes" "app_attribute"[],

    CONSTRAINT "registration_period_pkey" PRIMARY KEY ("client_id","since")
);

-- CreateIndex
CREATE INDEX "disclosure_period_client_id_until_idx" ON "disclosure_period"("client_id", "until");

-- CreateIndex
CREATE INDEX "registration_period_until_idx" ON "registration_period"("until");

ALTER TABLE "disclosure_period" ADD CONSTRAINT "disclosure_period_order_check" CHECK ("until" >= "since");
ALTER TABLE "registration_period" ADD CONSTRAINT "registration_period_order_check" CHECK ("until" >= "since");

INSERT INTO "registration_period" ("client_id", "since", "name", "provider", "type", "scopes", "attributes")
SELECT "app"."client_id", "event_feed"."history_began_at", "app"."name", "app_profile"."provider", "app"."type", "app"."scopes", "app"."attributes"
FROM "app" CROSS JOIN "event_feed" LEFT JOIN "app_profile" ON "app_profile"."client_id" = "app"."client_id";

-- No foreign key: it would lock and mark the row of every person for whom a change of a school writes a period.
CREATE FUNCTION "forget_disclosures"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "disclosure_period" WHERE "person_id" = OLD."id";
  RETURN NULL;
END $$;

CREATE TRIGGER "person_forgets_disclosures" AFTER DELETE ON "person"
  FOR EACH ROW EXECUTE FUNCTION "forget_disclosures"();
