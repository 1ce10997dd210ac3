-- AlterTable
ALTER TABLE "upstream_connection" ADD COLUMN     "confirmed_for_staff" BOOLEAN NOT NULL DEFAULT true;
