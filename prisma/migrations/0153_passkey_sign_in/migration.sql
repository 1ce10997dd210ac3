-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "passkey_declined_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "school_sign_in" ADD COLUMN     "passkeys" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "passkeys_from_grade" INTEGER;

-- AlterTable
ALTER TABLE "second_factor" ADD COLUMN     "is_asked" BOOLEAN NOT NULL DEFAULT true;

-- Written by hand.
ALTER TABLE "school_sign_in"
  ADD CONSTRAINT "school_sign_in_passkeys_grade_check" CHECK ("passkeys_from_grade" BETWEEN 1 AND 13);
