-- AlterTable
ALTER TABLE "credential_batch" ADD COLUMN     "with_letters" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "parent_letter" (
    "school_id" UUID NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "parent_letter_pkey" PRIMARY KEY ("school_id")
);

-- AddForeignKey
ALTER TABLE "parent_letter" ADD CONSTRAINT "parent_letter_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;
