-- AlterTable
ALTER TABLE "sign_in_brake" ADD COLUMN     "everywhere" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "person_id" UUID;

-- CreateIndex
CREATE INDEX "sign_in_brake_person_id_idx" ON "sign_in_brake"("person_id");
