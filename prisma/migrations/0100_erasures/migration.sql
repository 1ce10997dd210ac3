-- CreateEnum
CREATE TYPE "erasure_cause" AS ENUM ('deleted', 'no_longer_synced', 'access_withdrawn');

-- CreateEnum
CREATE TYPE "erasure_state" AS ENUM ('open', 'erased', 'kept');

-- CreateEnum
CREATE TYPE "erasure_reason" AS ENUM ('legal_obligation', 'legal_claims', 'own_contract');

-- AlterTable
ALTER TABLE "app" ADD COLUMN     "confirms_erasures" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "app_event" ADD COLUMN     "erasure_id" UUID;

-- CreateTable
CREATE TABLE "erasure" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "cause" "erasure_cause" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "state" "erasure_state" NOT NULL DEFAULT 'open',
    "reason" "erasure_reason",
    "acknowledged_at" TIMESTAMPTZ(3),

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "erasure_client_id_state_since_id_idx" ON "erasure"("client_id", "state", "since", "id");

-- CreateIndex
CREATE INDEX "erasure_school_id_client_id_state_idx" ON "erasure"("school_id", "client_id", "state");

-- CreateIndex
CREATE INDEX "erasure_state_since_idx" ON "erasure"("state", "since");

-- CreateIndex
CREATE INDEX "erasure_state_acknowledged_at_idx" ON "erasure"("state", "acknowledged_at");

-- CreateIndex
CREATE UNIQUE INDEX "erasure_client_id_subject_id_key" ON "erasure"("client_id", "subject_id");

-- AddForeignKey
ALTER TABLE "erasure" ADD CONSTRAINT "erasure_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "erasure" ADD CONSTRAINT "erasure_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "erasure" ADD CONSTRAINT "erasure_state_check" CHECK (
  ("state" = 'open') = ("acknowledged_at" IS NULL) AND ("state" = 'kept') = ("reason" IS NOT NULL));
