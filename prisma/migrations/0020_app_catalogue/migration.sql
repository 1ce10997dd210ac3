-- CreateEnum
CREATE TYPE "scope_request_state" AS ENUM ('REQUESTED', 'APPROVED', 'REFUSED');

-- CreateTable
CREATE TABLE "app_profile" (
    "client_id" TEXT NOT NULL,
    "provider" TEXT,
    "description_de" TEXT,
    "description_en" TEXT,
    "purpose_de" TEXT,
    "purpose_en" TEXT,
    "privacy_url" TEXT,
    "support_address" TEXT,

    CONSTRAINT "app_profile_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "app_logo" (
    "client_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "app_logo_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "scope_request" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "reason" TEXT NOT NULL,
    "state" "scope_request_state" NOT NULL DEFAULT 'REQUESTED',
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),
    "note" TEXT,

    CONSTRAINT "scope_request_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "scope_request_client_id_requested_at_idx" ON "scope_request"("client_id", "requested_at");

-- AddForeignKey
ALTER TABLE "app_profile" ADD CONSTRAINT "app_profile_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "app_logo" ADD CONSTRAINT "app_logo_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scope_request" ADD CONSTRAINT "scope_request_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: what a logo and a request of scopes may be.
ALTER TABLE "app_logo"
  ADD CONSTRAINT "app_logo_type_check" CHECK ("type" IN ('image/png', 'image/jpeg', 'image/webp')),
  ADD CONSTRAINT "app_logo_hash_check" CHECK ("hash" ~ '^[0-9a-f]{32}$'),
  ADD CONSTRAINT "app_logo_bytes_check" CHECK (octet_length("bytes") <= 262144);
ALTER TABLE "scope_request" ALTER COLUMN "scopes" SET NOT NULL;
ALTER TABLE "scope_request" ADD CONSTRAINT "scope_request_state_check" CHECK (
  ("state" = 'REQUESTED') = ("decided_at" IS NULL) AND cardinality("scopes") > 0);
CREATE UNIQUE INDEX "scope_request_one_open_idx" ON "scope_request" ("client_id") WHERE "state" = 'REQUESTED';
