-- CreateEnum
CREATE TYPE "data_request_asker" AS ENUM ('PERSON', 'GUARDIAN', 'AUTHORITY');

-- CreateEnum
CREATE TYPE "data_request_extension" AS ENUM ('COMPLEX', 'MANY');

-- CreateEnum
CREATE TYPE "data_request_outcome" AS ENUM ('ANSWERED', 'REFUSED', 'WITHDRAWN');

-- CreateTable
CREATE TABLE "data_request" (
    "id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "person_id" UUID,
    "asked_by" "data_request_asker" NOT NULL,
    "received_on" DATE NOT NULL,
    "due_on" DATE NOT NULL,
    "extension" "data_request_extension",
    "extended_at" TIMESTAMPTZ(3),
    "exported_at" TIMESTAMPTZ(3),
    "outcome" "data_request_outcome",
    "closed_at" TIMESTAMPTZ(3),
    "closed_by_id" UUID,
    "closed_role" TEXT,

    CONSTRAINT "data_request_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "data_request_school_id_id_idx" ON "data_request"("school_id", "id");

-- CreateIndex
CREATE INDEX "data_request_person_id_id_idx" ON "data_request"("person_id", "id");

-- CreateIndex
CREATE INDEX "data_request_closed_by_id_idx" ON "data_request"("closed_by_id");

-- CreateIndex
CREATE INDEX "data_request_closed_at_idx" ON "data_request"("closed_at");

-- AddForeignKey
ALTER TABLE "data_request" ADD CONSTRAINT "data_request_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "data_request" ADD CONSTRAINT "data_request_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "data_request" ADD CONSTRAINT "data_request_closed_by_id_fkey" FOREIGN KEY ("closed_by_id") REFERENCES "person"("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE "data_request" ADD CONSTRAINT "data_request_closed_check" CHECK (("outcome" IS NULL) = ("closed_at" IS NULL));
ALTER TABLE "data_request" ADD CONSTRAINT "data_request_extended_check" CHECK (("extension" IS NULL) = ("extended_at" IS NULL));
