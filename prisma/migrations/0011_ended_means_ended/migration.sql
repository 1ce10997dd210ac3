-- AlterTable
ALTER TABLE "app" ADD COLUMN     "old_secret_ends_at" TIMESTAMPTZ(3),
ADD COLUMN     "old_secret_hash" BYTEA;

-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "generation" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "oidc_artifact" ADD COLUMN     "generation" INTEGER DEFAULT 0;

-- AlterTable
ALTER TABLE "person" ADD COLUMN     "blocked_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "retired_client_id" (
    "client_id" TEXT NOT NULL,
    "retired_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_client_id_pkey" PRIMARY KEY ("client_id")
);

ALTER TABLE "app"
  ADD CONSTRAINT "app_old_secret_check" CHECK (num_nulls("old_secret_hash", "old_secret_ends_at") IN (0, 2)),
  ADD CONSTRAINT "app_old_secret_hash_check" CHECK (
    "old_secret_hash" IS NULL OR "type" = 'CONFIDENTIAL' AND octet_length("old_secret_hash") = 32);

ALTER TABLE "credential" ADD CONSTRAINT "credential_generation_check" CHECK ("generation" >= 0);

-- Deleting an app finds by it what "oidc_artifact_client_token_idx" does not hold.
CREATE INDEX "oidc_artifact_client_id_idx" ON "oidc_artifact" ("client_id") WHERE "client_id" IS NOT NULL AND "kind" <> 'ClientCredentials';

-- Ids of apps that were deleted before: their tokens and events must not come back to life either.
INSERT INTO "retired_client_id" ("client_id", "retired_at")
SELECT "client_id", max("at") FROM "audit"
WHERE "action" = 'app_deleted' AND "client_id" IS NOT NULL AND "client_id" NOT IN (SELECT "client_id" FROM "app")
GROUP BY "client_id";
