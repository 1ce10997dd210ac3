-- AlterTable
ALTER TABLE "audit" ADD COLUMN     "act_id" UUID;

-- CreateTable
CREATE TABLE "credential_batch" (
    "id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "caller" TEXT NOT NULL,
    "group_ids" UUID[],
    "roles" "person_role"[],
    "new_passwords" BOOLEAN NOT NULL,
    "with_qr" BOOLEAN NOT NULL,
    "only_missing" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ready_at" TIMESTAMPTZ(3),
    "handed_out_at" TIMESTAMPTZ(3),
    "handed_out_key" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "encrypted" BYTEA,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "credential_batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credential_batch_person" (
    "batch_id" UUID NOT NULL,
    "person_id" UUID NOT NULL,
    "encrypted" BYTEA,

    CONSTRAINT "credential_batch_person_pkey" PRIMARY KEY ("batch_id","person_id")
);

-- CreateIndex
CREATE INDEX "credential_batch_expires_at_idx" ON "credential_batch"("expires_at");

-- CreateIndex
CREATE INDEX "credential_batch_ready_at_lease_until_idx" ON "credential_batch"("ready_at", "lease_until");

-- CreateIndex
CREATE INDEX "credential_batch_handed_out_at_idx" ON "credential_batch"("handed_out_at");

-- CreateIndex
CREATE INDEX "credential_batch_school_id_idx" ON "credential_batch"("school_id");

-- CreateIndex
CREATE INDEX "credential_batch_person_person_id_idx" ON "credential_batch_person"("person_id");

-- AddForeignKey
ALTER TABLE "credential_batch" ADD CONSTRAINT "credential_batch_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credential_batch_person" ADD CONSTRAINT "credential_batch_person_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "credential_batch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credential_batch_person" ADD CONSTRAINT "credential_batch_person_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
