-- CreateEnum
CREATE TYPE "access_report_type" AS ENUM ('SCHOOL', 'GROUP', 'SINGLE_USER', 'NONE');

-- CreateTable
CREATE TABLE "access_report" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "person_id" UUID,
    "month" DATE NOT NULL,
    "reported_at" TIMESTAMPTZ(3),
    "is_newest" BOOLEAN NOT NULL,
    "type" "access_report_type" NOT NULL,
    "identifier" TEXT,
    "since" TIMESTAMPTZ(3),
    "until" TIMESTAMPTZ(3),
    "trial" BOOLEAN NOT NULL,

    CONSTRAINT "access_report_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "seat" (
    "month" DATE NOT NULL,
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "change" TEXT NOT NULL,
    "signed_in" INTEGER NOT NULL DEFAULT 0,
    "synced" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "seat_pkey" PRIMARY KEY ("month","client_id","school_id","change")
);

-- CreateIndex
CREATE INDEX "access_report_month_client_id_school_id_idx" ON "access_report"("month", "client_id", "school_id");

-- CreateIndex
CREATE INDEX "access_report_client_id_person_id_month_idx" ON "access_report"("client_id", "person_id", "month");

-- CreateIndex
CREATE INDEX "access_report_person_id_idx" ON "access_report"("person_id");

-- CreateIndex
CREATE INDEX "access_report_school_id_idx" ON "access_report"("school_id");

-- CreateIndex
CREATE INDEX "seat_client_id_idx" ON "seat"("client_id");

-- CreateIndex
CREATE INDEX "seat_school_id_idx" ON "seat"("school_id");

-- AddForeignKey
ALTER TABLE "access_report" ADD CONSTRAINT "access_report_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_report" ADD CONSTRAINT "access_report_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "seat" ADD CONSTRAINT "seat_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "seat" ADD CONSTRAINT "seat_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand. Of somebody who is deleted stays what is counted. No foreign key, which could not empty the other columns.
CREATE FUNCTION "forget_access_reports"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "access_report" WHERE "person_id" = OLD."id" AND NOT "is_newest";
  UPDATE "access_report" SET "person_id" = NULL, "reported_at" = NULL, "identifier" = NULL, "since" = NULL, "until" = NULL
    WHERE "person_id" = OLD."id";
  RETURN NULL;
END $$;

CREATE TRIGGER "person_forgets_access_reports" AFTER DELETE ON "person"
  FOR EACH ROW EXECUTE FUNCTION "forget_access_reports"();

ALTER TABLE "access_report" ADD CONSTRAINT "access_report_order_check" CHECK ("until" >= "since");

-- What a job adds up.
CREATE INDEX "seat_change_idx" ON "seat"("change") WHERE "change" <> '';
