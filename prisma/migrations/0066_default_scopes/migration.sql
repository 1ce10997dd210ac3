-- AlterTable
ALTER TABLE "app" ADD COLUMN     "default_scopes" TEXT[] DEFAULT ARRAY[]::TEXT[];
