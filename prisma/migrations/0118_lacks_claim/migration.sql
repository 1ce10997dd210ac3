-- AlterTable
ALTER TABLE "upstream_link" ADD COLUMN     "lacks_claim" BOOLEAN NOT NULL DEFAULT false;
