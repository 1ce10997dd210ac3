-- AlterTable
ALTER TABLE "school_sign_in" ADD COLUMN     "pupil_session_hours" INTEGER,
ADD COLUMN     "staff_session_hours" INTEGER,
ADD COLUMN     "stay_signed_in_days" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "stay_signed_in_from_grade" INTEGER;

-- Written by hand.
ALTER TABLE "school_sign_in"
  ADD CONSTRAINT "school_sign_in_pupil_hours_check" CHECK ("pupil_session_hours" BETWEEN 1 AND 12),
  ADD CONSTRAINT "school_sign_in_staff_hours_check" CHECK ("staff_session_hours" BETWEEN 1 AND 24),
  ADD CONSTRAINT "school_sign_in_stay_days_check" CHECK ("stay_signed_in_days" BETWEEN 0 AND 30),
  ADD CONSTRAINT "school_sign_in_stay_grade_check" CHECK ("stay_signed_in_from_grade" BETWEEN 1 AND 13);
-- The sign-in page of a browser without a school asks whether any school lets people stay.
CREATE INDEX "school_sign_in_stays_idx" ON "school_sign_in" ("school_id") WHERE "stay_signed_in_days" > 0;
