-- AlterTable
ALTER TABLE "upstream_connection" ADD COLUMN     "school_claim" TEXT,
ADD COLUMN     "school_value" TEXT;

ALTER TABLE "upstream_connection"
  ADD CONSTRAINT "upstream_connection_school_check" CHECK (("school_claim" IS NULL) = ("school_value" IS NULL));
