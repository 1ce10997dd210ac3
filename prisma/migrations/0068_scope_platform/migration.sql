-- AlterTable
ALTER TABLE "app" ADD COLUMN     "scope_platform" TEXT;

-- Written by hand.
ALTER TABLE "app" ADD CONSTRAINT "app_scope_platform_check"
  CHECK ("scope_platform" ~ '^[a-z0-9][a-z0-9-]{0,31}$') NOT VALID;
ALTER TABLE "app" VALIDATE CONSTRAINT "app_scope_platform_check";
